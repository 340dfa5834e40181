package server

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// region is one of the built-in catalogue. The paired region and geography are Azure's.
type region struct {
	name, display, geography, pair string
	zones                          bool
}

var regions = []region{
	{"eastus", "East US", "US", "westus", true},
	{"eastus2", "East US 2", "US", "centralus", true},
	{"centralus", "Central US", "US", "eastus2", true},
	{"southcentralus", "South Central US", "US", "northcentralus", true},
	{"westus2", "West US 2", "US", "westcentralus", true},
	{"westus3", "West US 3", "US", "eastus", true},
	{"northcentralus", "North Central US", "US", "southcentralus", false},
	{"westus", "West US", "US", "eastus", false},
	{"westcentralus", "West Central US", "US", "westus2", false},
	{"canadacentral", "Canada Central", "Canada", "canadaeast", true},
	{"westeurope", "West Europe", "Europe", "northeurope", true},
	{"northeurope", "North Europe", "Europe", "westeurope", true},
	{"uksouth", "UK South", "UK", "ukwest", true},
	{"ukwest", "UK West", "UK", "uksouth", false},
	{"francecentral", "France Central", "France", "francesouth", true},
	{"germanywestcentral", "Germany West Central", "Germany", "germanynorth", true},
	{"swedencentral", "Sweden Central", "Sweden", "swedensouth", true},
	{"australiaeast", "Australia East", "Australia", "australiasoutheast", true},
	{"newzealandnorth", "New Zealand North", "Asia Pacific", "", true},
	{"southeastasia", "Southeast Asia", "Asia Pacific", "eastasia", true},
	{"japaneast", "Japan East", "Japan", "japanwest", true},
	// Of the cloud of the US government, which the simulator serves beside the public one.
	{"usgovvirginia", "USGov Virginia", "USGov", "usgovtexas", true},
}

func regionNames() []string {
	var out []string
	for _, r := range regions {
		out = append(out, r.name)
	}
	return out
}

func (x *exchange) showSubscription(id string) body.Object {
	for _, k := range x.s.opts.Subscriptions {
		if strings.EqualFold(k, id) {
			id = k
		}
	}
	return body.Object{
		"id": "/subscriptions/" + id, "authorizationSource": "RoleBased", "managedByTenants": []any{}, "subscriptionId": id,
		"tenantId":    x.s.opts.Tenant,
		"displayName": "Simulated " + id[:min(8, len(id))], "state": "Enabled",
		"subscriptionPolicies": body.Object{"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01",
			"spendingLimit": "Off"},
	}
}

func (x *exchange) listSubscriptions() []any {
	out := []any{}
	for _, id := range x.s.opts.Subscriptions {
		out = append(out, x.showSubscription(id))
	}
	return out
}

func (x *exchange) listTenants() []any {
	t := x.s.opts.Tenant
	return []any{body.Object{"id": "/tenants/" + t, "tenantId": t, "displayName": "Simulated", "domains": []any{"simulated.onmicrosoft.com"},
		"defaultDomain": "simulated.onmicrosoft.com", "tenantCategory": "Home", "countryCode": "US"}}
}

// sovereignPairs are the pairs of regions of Azure China and Azure Government, which the catalog does not have. Source:
// https://learn.microsoft.com/azure/reliability/regions-paired
var sovereignPairs = map[string]string{"chinaeast": "chinanorth", "chinanorth": "chinaeast", "chinaeast2": "chinanorth2", "chinanorth2": "chinaeast2",
	"chinaeast3": "chinanorth3", "chinanorth3": "chinaeast3", "usgovvirginia": "usgovtexas", "usgovtexas": "usgovvirginia", "usgovarizona": "usgovtexas"}

// regionPairs returns the pairs of all regions that have one.
func regionPairs() map[string]string {
	out := maps.Clone(sovereignPairs)
	for _, r := range regions {
		if r.pair != "" {
			out[r.name] = r.pair
		}
	}
	return out
}

func (x *exchange) listLocations(sub string) []any {
	out := []any{}
	for _, r := range regions {
		if !slices.Contains(x.s.opts.Locations, r.name) {
			continue
		}
		base := "/subscriptions/" + sub + "/locations/"
		o := body.Object{"id": base + r.name, "name": r.name, "type": "Region", "displayName": r.display,
			"regionalDisplayName": "(" + r.geography + ") " + r.display,
			"metadata": body.Object{"regionType": "Physical", "regionCategory": "Recommended", "geography": r.geography,
				"geographyGroup": r.geography, "physicalLocation": r.display,
				"pairedRegion": []any{body.Object{"name": r.pair, "id": base + r.pair}}}}
		if r.pair == "" {
			body.Set(o, "metadata.pairedRegion", []any{})
		}
		if r.zones {
			o["availabilityZoneMappings"] = []any{
				body.Object{"logicalZone": "1", "physicalZone": r.name + "-az1"}, body.Object{"logicalZone": "2", "physicalZone": r.name + "-az3"},
				body.Object{"logicalZone": "3", "physicalZone": r.name + "-az2"},
			}
		}
		out = append(out, o)
	}
	if !strings.EqualFold(x.call.Query.Get("includeExtendedLocations"), "true") {
		return out
	}
	for _, z := range provider.EdgeZones {
		if !slices.Contains(x.s.opts.Locations, z.Region) {
			continue
		}
		base := "/subscriptions/" + sub + "/locations/"
		out = append(out, body.Object{"id": base + z.Name, "name": z.Name, "type": "EdgeZone", "displayName": z.Display,
			"regionalDisplayName": z.Display,
			"metadata": body.Object{"regionType": "Physical", "regionCategory": "Extended", "homeLocation": z.Region,
				"pairedRegion": []any{}}})
	}
	return out
}

// answerProviders answers the list of resource providers, one of them, and its registration.
func (x *exchange) answerProviders(sub string, rest []string) (*provider.Reply, error) {
	if len(rest) == 0 {
		list := []any{}
		for _, p := range x.s.env.Providers() {
			list = append(list, x.showProvider(sub, p))
		}
		return x.pageOfList(list), nil
	}
	p := x.s.env.FindProvider(rest[0])
	if p == nil {
		return nil, provider.GatewayErrorf(404, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", rest[0])
	}
	if len(rest) == 2 {
		setRegistered(x.call.Tx, sub, p.Namespace, rest[1] == "register")
	}
	return provider.OK(x.showProvider(sub, p)), nil
}

func (x *exchange) showProvider(sub string, p *provider.Provider) body.Object {
	types := []any{}
	for _, t := range p.Types {
		_, rest, _ := strings.Cut(t.Name, "/")
		versions := t.ListVersions()
		locs := []any{}
		for _, r := range regions {
			if slices.Contains(x.s.opts.Locations, r.name) && !t.Global {
				locs = append(locs, r.display)
			}
		}
		if t.Global {
			locs = append(locs, "global")
		}
		caps := "None"
		if !t.Untracked {
			caps = "SupportsTags, SupportsLocation"
		}
		types = append(types, body.Object{"resourceType": rest, "locations": locs, "apiVersions": versions, "defaultApiVersion": versions[0],
			"capabilities": caps})
	}
	o := body.Object{"id": "/providers/" + p.Namespace, "namespace": p.Namespace, "resourceTypes": types}
	if sub != "" {
		o["id"] = "/subscriptions/" + sub + "/providers/" + p.Namespace
		state := "NotRegistered"
		if x.s.isRegistered(x.call.Tx, sub, p.Namespace) {
			state = "Registered"
		}
		o["registrationPolicy"], o["registrationState"] = "RegistrationRequired", state
	}
	return o
}
