package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Names of compute quotas. https://learn.microsoft.com/azure/virtual-machines/quotas
const (
	quotaCores    = "cores"
	quotaLowPrio  = "lowPriorityCores"
	quotaMachines = "virtualMachines"
)

// networkQuotas are the names of the network's quotas by resource type in lower case.
// https://learn.microsoft.com/rest/api/virtualnetwork/usages/list
var networkQuotas = map[string]string{
	"microsoft.network/virtualnetworks": "VirtualNetworks", "microsoft.network/publicipaddresses": "PublicIPAddresses",
	"microsoft.network/networksecuritygroups": "NetworkSecurityGroups", "microsoft.network/loadbalancers": "LoadBalancers",
	"microsoft.network/networkinterfaces": "NetworkInterfaces", "microsoft.network/routetables": "RouteTables",
	"microsoft.network/natgateways": "NatGateways",
}

// usage is a quota and its use.
type usage struct {
	Name struct {
		Value          string `json:"value"`
		LocalizedValue string `json:"localizedValue"`
	} `json:"name"`
	CurrentValue int64 `json:"currentValue"`
	Limit        int64 `json:"limit"`
}

// checkQuota compares the free quota of each region with the need.
func (a *asker) checkQuota(ctx context.Context) (out []Check) {
	for _, location := range slices.Sorted(maps.Keys(a.needs.resources)) {
		compute, err := a.computeNeeds(ctx, location)
		if err != nil {
			out = append(out, a.unknown(CheckQuota, err))
			continue
		}
		out = append(out, a.compareQuota(ctx, "Microsoft.Compute", computeAPIVersion, location, compute)...)
		network := map[string]int64{}
		for typ, count := range a.needs.resources[location] {
			if name := networkQuotas[typ]; name != "" {
				network[name] += int64(count)
			}
		}
		out = append(out, a.compareQuota(ctx, "Microsoft.Network", networkAPIVersion, location, network)...)
	}
	return out
}

// computeNeeds returns the cores and machines that the plan adds in a region, by the names of quotas. Sizes that Azure does not have
// need none: checkSizes reports them.
func (a *asker) computeNeeds(ctx context.Context, location string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, m := range a.needs.machines {
		if m.location != location || m.count == 0 {
			continue
		}
		size, _, err := a.findSize(ctx, m.size, location)
		if err != nil {
			return nil, err
		}
		if size == nil {
			continue
		}
		cores := int64(size.VCPUs) * int64(m.count)
		out[quotaMachines] += int64(m.count)
		if m.spot {
			out[quotaLowPrio] += cores
			continue
		}
		out[quotaCores] += cores
		if size.Family != "" {
			out[size.Family] += cores
		}
	}
	return out, nil
}

// compareQuota returns one line for all quotas of a provider in a region that suffice, and one for each that does not.
func (a *asker) compareQuota(ctx context.Context, namespace, apiVersion, location string, needs map[string]int64) (out []Check) {
	if len(needs) == 0 {
		return nil
	}
	scope := fmt.Sprintf("%s/providers/%s/locations/%s", a.scope(), namespace, location)
	items, err := a.list(ctx, scope+"/usages", apiVersion, nil)
	if err != nil {
		return []Check{a.unknown(CheckQuota, err)}
	}
	var enough []string
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		found, known := findUsage(items, name)
		if !known {
			continue
		}
		free := found.Limit - found.CurrentValue
		if need := needs[name]; need > free {
			out = append(out, Check{Check: CheckQuota, Status: Failed, Subject: name + " in " + location,
				Message: fmt.Sprintf("The manifests need %d of %s, and %d of %d are free. Raise the limit to at least %d, or delete what you no longer need.",
					need, found.Name.LocalizedValue, max(free, 0), found.Limit, found.CurrentValue+need),
				Fix: fmt.Sprintf("az quota update --resource-name %s --scope %s --limit-object value=%d --resource-type %s", arm.ShellQuote(found.Name.Value),
					arm.ShellQuote(scope), found.CurrentValue+need, quotaType(namespace, name))})
			continue
		}
		enough = append(enough, fmt.Sprintf("%s %d of %d", name, needs[name], free))
	}
	if len(enough) > 0 {
		out = append(out, Check{Check: CheckQuota, Status: Passed, Subject: namespace + " in " + location,
			Message: "The free quota is enough: " + strings.Join(enough, ", ") + "."})
	}
	return out
}

// quotaType returns the type of a quota in the requests of az.
// https://learn.microsoft.com/rest/api/quota/quota/update
func quotaType(namespace, name string) string {
	switch {
	case namespace == "Microsoft.Network":
		return name
	case name == quotaLowPrio:
		return "lowPriority"
	}
	return "dedicated"
}

func findUsage(items []json.RawMessage, name string) (usage, bool) {
	for _, item := range items {
		var found usage
		if json.Unmarshal(item, &found) == nil && strings.EqualFold(found.Name.Value, name) {
			return found, true
		}
	}
	return usage{}, false
}
