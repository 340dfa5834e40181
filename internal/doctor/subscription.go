package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	aksversion "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// checkProviders checks that the resource providers of the plan are registered in the subscription.
func (a *asker) checkProviders(ctx context.Context) (out []Check) {
	items, err := a.list(ctx, a.scope()+"/providers", providersAPIVersion, nil)
	if err != nil {
		return []Check{a.unknown(CheckProviders, err)}
	}
	states := map[string]string{}
	for _, item := range items {
		var body struct{ Namespace, RegistrationState string }
		if json.Unmarshal(item, &body) == nil {
			states[strings.ToLower(body.Namespace)] = body.RegistrationState
		}
	}
	for _, namespace := range a.needs.providers {
		check := Check{Check: CheckProviders, Status: Passed, Subject: namespace, Message: "The resource provider is registered."}
		if state := states[strings.ToLower(namespace)]; !strings.EqualFold(state, "Registered") {
			check.Status = Failed
			check.Message = fmt.Sprintf("The resource provider is %s in %s.", describeState(state), a.scope())
			check.Fix = fmt.Sprintf("az provider register --wait --namespace %s --subscription %s", arm.ShellQuote(namespace),
				arm.ShellQuote(a.account.SubscriptionID))
		}
		out = append(out, check)
	}
	return out
}

func describeState(state string) string {
	switch state {
	case "", "NotRegistered":
		return "not registered"
	case "Registering":
		return "being registered, which takes some minutes,"
	case "Unregistering":
		return "being unregistered"
	}
	return "in the state " + state
}

// checkSizes checks that each VM size is offered to the subscription in the region and the zones of its machines.
func (a *asker) checkSizes(ctx context.Context) (out []Check) {
	type place struct{ size, location string }
	zones, subjects := map[place][]string{}, map[place]string{}
	var order []place
	for _, m := range a.needs.machines {
		at := place{m.size, m.location}
		if _, has := zones[at]; !has {
			order = append(order, at)
			subjects[at] = m.subject
		}
		zones[at] = append(zones[at], m.zones...)
	}
	for _, at := range order {
		check := Check{Check: CheckSizes, Status: Passed, Subject: at.size + " in " + at.location}
		size, near, err := a.findSize(ctx, at.size, at.location)
		switch {
		case err != nil:
			out = append(out, a.unknown(CheckSizes, err))
			continue
		case size == nil:
			check.Message = fmt.Sprintf("%s needs a size that the region does not have.%s Change the size in the manifest.", subjects[at],
				describeNear(near))
		case size.RestrictionReason != "":
			check.Message = fmt.Sprintf("%s needs a size that the subscription cannot use in the region: %s. Request access, or change the size in the manifest.",
				subjects[at], size.RestrictionReason)
		default:
			wanted := slices.Compact(slices.Sorted(slices.Values(zones[at])))
			missing := slices.DeleteFunc(slices.Clone(wanted), func(zone string) bool { return slices.Contains(size.Zones, zone) })
			if len(missing) > 0 {
				check.Message = fmt.Sprintf("%s needs zone %s, in which the subscription cannot create this size. It can in %s. Change the zone or the size in the manifest.",
					subjects[at], strings.Join(missing, " and zone "), describeZones(size.Zones))
				break
			}
			check.Message = "The size is available" + describeWanted(wanted) + "."
		}
		if !strings.HasPrefix(check.Message, "The size is available") {
			check.Status = Failed
			check.Fix = fmt.Sprintf("az vm list-skus --resource-type virtualMachines --location %s --size %s --all --output table",
				arm.ShellQuote(at.location), arm.ShellQuote(sizeSeries(at.size)))
		}
		out = append(out, check)
	}
	return out
}

func (a *asker) findSize(ctx context.Context, name, location string) (*plan.VMSize, []string, error) {
	size, near, err := a.facts.FindRegionSize(ctx, facts.Caller{Client: a.client}, a.account.SubscriptionID, location, name)
	if isForbidden(err) {
		user, userErr := a.userClient()
		if userErr != nil {
			return nil, nil, err
		}
		return a.facts.FindRegionSize(ctx, facts.Caller{Client: user}, a.account.SubscriptionID, location, name)
	}
	return size, near, err
}

// sizeSeries returns the beginning of a size's name, by which az finds similar ones: Standard_D for Standard_D2s_v3.
func sizeSeries(size string) string {
	if end := strings.IndexAny(size, "0123456789"); end > 0 {
		return size[:end]
	}
	return size
}

func describeNear(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return " Similar ones are " + strings.Join(near, ", ") + "."
}

func describeZones(zones []string) string {
	if len(zones) == 0 {
		return "none"
	}
	return "zones " + strings.Join(zones, ", ")
}

func describeWanted(zones []string) string {
	if len(zones) == 0 {
		return ""
	}
	return " in zones " + strings.Join(zones, ", ")
}

// checkVersions checks that AKS offers the versions of Kubernetes in their regions.
// https://learn.microsoft.com/rest/api/aks/managed-clusters/list-kubernetes-versions
func (a *asker) checkVersions(ctx context.Context) (out []Check) {
	for _, v := range a.needs.versions {
		if v.version == "" || v.location == "" {
			continue // AKS chooses.
		}
		raw, err := a.get(ctx, a.scope()+"/providers/Microsoft.ContainerService/locations/"+v.location+"/kubernetesVersions", aksAPIVersion)
		if err != nil {
			out = append(out, a.unknown(CheckVersions, err))
			continue
		}
		offered, err := aksversion.ParseOffered(raw)
		if err != nil {
			out = append(out, a.unknown(CheckVersions, err))
			continue
		}
		check := Check{Check: CheckVersions, Status: Passed, Subject: "Kubernetes " + v.version + " in " + v.location, Message: "AKS offers the version."}
		if !offered.Has(v.version) {
			check.Status = Failed
			check.Message = fmt.Sprintf("%s needs a version that AKS does not offer. It offers %s. Change the version in the manifest.", v.subject,
				strings.Join(offered.Newest(), ", "))
			check.Fix = "az aks get-versions --output table --location " + arm.ShellQuote(v.location)
		}
		out = append(out, check)
	}
	return out
}
