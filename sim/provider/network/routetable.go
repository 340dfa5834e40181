package network

import (
	"net/netip"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

func routeTableTypes() []*provider.Type {
	table := &provider.Type{
		Name: RouteTables, Style: provider.Network, Etag: provider.Weak, RetryAfter: 2,
		Create:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: provider.Seconds(2)},
		Delete:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: provider.Seconds(3)},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.subnets"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			resourceGUID(c, d)
			body.Default(d.New, "properties.disableBgpRoutePropagation", false)
			return nil
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if users := referrerPaths(c, it.ID, "routeTable"); len(users) > 0 {
				return invalidValue("InUseRouteTableCannotBeDeleted",
					"Route table %s is in use and cannot be deleted. It is used by the following subnets: %s. Remove the association and try again.",
					it.ID, strings.Join(users, ", "))
			}
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			if users := referrerPaths(c, it.ID, "routeTable"); users != nil {
				body.Set(it.Body, "properties.subnets", References(users))
			}
		},
	}
	route := &provider.Type{
		Name: RouteTables + "/routes", Style: provider.Network, Etag: provider.Weak, Untracked: true, Inline: "properties.routes", RetryAfter: 2,
		Create:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: provider.Seconds(1.5)},
		Delete:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: provider.Seconds(1.5)},
		ReadOnlyPaths: []string{"properties.hasBgpOverride"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			if err := oneOf(d.New, "properties.nextHopType", "nextHopType of "+d.ID, "VirtualNetworkGateway", "VnetLocal", "Internet",
				"VirtualAppliance", "None"); err != nil {
				return err
			}
			prefix := body.String(d.New, "properties.addressPrefix")
			if p, err := netip.ParsePrefix(prefix); (err != nil || p.Masked() != p) && strings.ContainsAny(prefix, "./:") || prefix == "" {
				return invalidValue("InvalidAddressPrefixFormat",
					"Address prefix '%s' of resource %s is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.", prefix,
					d.ID)
			}
			if body.String(d.New, "properties.nextHopType") == "VirtualAppliance" {
				if _, err := netip.ParseAddr(body.String(d.New, "properties.nextHopIpAddress")); err != nil {
					return invalidValue("InvalidNextHopIpAddress", "Route %s of type VirtualAppliance needs a valid nextHopIpAddress.", d.ID)
				}
			}
			body.Set(d.New, "properties.hasBgpOverride", false)
			return checkRoutePrefixes(d, prefix)
		},
	}
	return []*provider.Type{table, route}
}

// checkRoutePrefixes refuses a route with the prefix of another one of its table. Source:
// https://github.com/kubernetes-sigs/cloud-provider-azure/issues/657
func checkRoutePrefixes(d *provider.Draft, prefix string) error {
	for _, other := range body.Objects(d.Parent, "properties.routes") {
		if !strings.EqualFold(body.String(other, "name"), d.Name) && samePrefix(body.String(other, "properties.addressPrefix"), prefix) {
			return invalidValue("RouteConflict", "Route: %s conflicts with Route: %s. Routes cannot have the same AddressPrefix.", d.Name,
				body.String(other, "name"))
		}
	}
	return nil
}

// samePrefix compares address prefixes, which may be names of service tags.
func samePrefix(a, b string) bool {
	first, errA := netip.ParsePrefix(a)
	second, errB := netip.ParsePrefix(b)
	if errA != nil || errB != nil {
		return strings.EqualFold(a, b)
	}
	return first == second
}
