// Package network simulates Microsoft.Network, except private DNS.
//
// Its promise: references are checked when they are written, resources in use cannot be deleted, addresses are
// allocated from the subnet without Azure's reserved ones, and every back reference that Azure shows is computed from
// the referring resource, so the two can never disagree.
package network

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// Full names of the types that others refer to.
const (
	VirtualNetworks     = "Microsoft.Network/virtualNetworks"
	Subnets             = "Microsoft.Network/virtualNetworks/subnets"
	SecurityGroups      = "Microsoft.Network/networkSecurityGroups"
	RouteTables         = "Microsoft.Network/routeTables"
	PublicIPs           = "Microsoft.Network/publicIPAddresses"
	PublicIPPrefixes    = "Microsoft.Network/publicIPPrefixes"
	NatGateways         = "Microsoft.Network/natGateways"
	LoadBalancers       = "Microsoft.Network/loadBalancers"
	Interfaces          = "Microsoft.Network/networkInterfaces"
	PrivateEndpoints    = "Microsoft.Network/privateEndpoints"
	BastionHosts        = "Microsoft.Network/bastionHosts"
	AppGroups           = "Microsoft.Network/applicationSecurityGroups"
	ApplicationGateways = "Microsoft.Network/applicationGateways"
)

// Provider returns the resource provider.
func Provider() *provider.Provider {
	p := &provider.Provider{Namespace: "Microsoft.Network"}
	p.Types = append(p.Types, virtualNetworkTypes()...)
	p.Types = append(p.Types, securityGroupTypes()...)
	p.Types = append(p.Types, routeTableTypes()...)
	p.Types = append(p.Types, publicIPTypes()...)
	p.Types = append(p.Types, natGatewayType())
	p.Types = append(p.Types, loadBalancerTypes()...)
	p.Types = append(p.Types, networkInterfaceTypes()...)
	p.Types = append(p.Types, privateEndpointTypes()...)
	p.Types = append(p.Types, bastionType(), ipGroupType(), serviceGatewayType(), applicationGatewayType())
	p.Regional = map[string]func(*provider.Call, string, []string) (*provider.Reply, error){"usages": listUsages,
		"checkdnsnameavailability": checkLabel}
	return p
}

// resourceGUID keeps the GUID of an existing resource and gives a new one its own.
func resourceGUID(c *provider.Call, d *provider.Draft) { d.Keep("properties.resourceGuid", c.NewGUID) }

// oneOf checks an enumeration, ignoring case, and writes it in Azure's casing.
func oneOf(o body.Object, path, what string, allowed ...string) error {
	v := body.String(o, path)
	for _, a := range allowed {
		if strings.EqualFold(a, v) {
			body.Set(o, path, a)
			return nil
		}
	}
	return provider.NetworkError(400, "InvalidRequestFormat", "Cannot parse the request.").WithDetail(
		provider.Errorf(0, "InvalidJsonReferenceWrongType", "Value '%s' of %s is not one of %v.", v, what, allowed))
}

// invalidValue returns the answer for a value that cannot be used.
func invalidValue(code, format string, args ...any) error {
	return provider.NetworkError(400, code, format, args...)
}

// References turns IDs into references.
func References(ids []string) []any {
	out := []any{}
	for _, id := range ids {
		out = append(out, body.Object{"id": id})
	}
	return out
}

// referrerPaths lists the paths of the elements that refer to id through one of the fields, each once.
func referrerPaths(c *provider.Call, id string, fields ...string) []string {
	var out []string
	seen := map[string]bool{}
	for _, ref := range c.Referrers(id) {
		for _, f := range fields {
			if ref.Field == f && !seen[ref.Path()] {
				seen[ref.Path()] = true
				out = append(out, ref.Path())
			}
		}
	}
	return out
}

// checkZones checks the zones of a resource against its region, and that they stay. Edge zones have none.
func checkZones(c *provider.Call, d *provider.Draft) error {
	for _, z := range body.Strings(d.New, "zones") {
		if c.EdgeZone() != "" || !provider.HasZones(d.Location) || z != "1" && z != "2" && z != "3" {
			return provider.NetworkError(400, "AvailabilityZoneNotSupported",
				"Availability zone '%s' is not supported for resource %s in location '%s'.", z, d.ID, d.Location)
		}
	}
	if was, is := zonesOf(d.Old), zonesOf(d.New); d.Old != nil && was != is {
		return provider.NetworkError(400, "ResourceAvailabilityZonesCannotBeModified",
			"Resource %s has an existing availability zone constraint %s and the request has availability zone constraint %s, which do not match. Zones cannot be added/updated/removed once the resource is created. The resource cannot be updated from regional to zonal or vice-versa.",
			d.ID, was, is)
	}
	return nil
}

// zonesOf returns the zones of a resource as they are in errors. A PUT without zones asks for none: public reports of failed deployments.
func zonesOf(o body.Object) string {
	zones := slices.Sorted(slices.Values(body.Strings(o, "zones")))
	return cmp.Or(strings.Join(zones, ", "), "NoZone")
}

// listUsages answers the network quotas of a region with Azure's defaults.
func listUsages(c *provider.Call, location string, _ []string) (*provider.Reply, error) {
	out := []any{}
	for _, u := range []struct {
		typ, name, label string
		limit            int
	}{
		{VirtualNetworks, "VirtualNetworks", "Virtual Networks", 1000}, {PublicIPs, "PublicIPAddresses", "Public IP Addresses", 1000},
		{SecurityGroups, "NetworkSecurityGroups", "Network Security Groups", 5000},
		{LoadBalancers, "LoadBalancers", "Load Balancers", 1000}, {Interfaces, "NetworkInterfaces", "Network Interfaces", 65536},
		{RouteTables, "RouteTables", "Route Tables", 200}, {NatGateways, "NatGateways", "Nat Gateways", 1000},
	} {
		n := 0
		for _, r := range c.List(u.typ, "/subscriptions/"+c.ID.Subscription) {
			if r.Location == location {
				n++
			}
		}
		id := "/subscriptions/" + c.ID.Subscription + "/providers/Microsoft.Network/locations/" + location + "/usages/" + u.name
		out = append(out, body.Object{"id": id, "unit": "Count", "currentValue": n, "limit": u.limit,
			"name": body.Object{"value": u.name, "localizedValue": u.label}})
	}
	return provider.OK(out), nil
}

// checkLabel answers whether a DNS label is free in a region.
func checkLabel(c *provider.Call, location string, _ []string) (*provider.Reply, error) {
	fqdn := HostName(c.Query.Get("domainNameLabel"), location)
	for _, r := range c.List(PublicIPs, "") {
		if strings.EqualFold(body.String(r.Body, "properties.dnsSettings.fqdn"), fqdn) {
			return provider.OK(body.Object{"available": false}), nil
		}
	}
	return provider.OK(body.Object{"available": true}), nil
}
