package network

import (
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// ServiceGateways is the full name of the type.
const ServiceGateways = "Microsoft.Network/serviceGateways"

// serviceGatewayType returns the type of gateways that route the traffic of a network's services. Its services and address locations are no
// resources: POSTs change them, GETs list them. Shapes and methods are those of SDK module armnetwork v9.0.0, ServiceGatewaysClient, and
// sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1 has recorded answers; times and error codes are guesses.
func serviceGatewayType() *provider.Type {
	return &provider.Type{
		Name: ServiceGateways, APIVersions: []string{"2026-03-01", "2025-07-01", "2025-05-01"}, Style: provider.Network, Etag: provider.Weak,
		RetryAfter:    10,
		Create:        provider.Timing{HTTP: 600 * time.Millisecond, LRO: provider.Seconds(10)},
		Delete:        provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(10)},
		ReadOnlyPaths: []string{"properties.resourceGuid"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			resourceGUID(c, d)
			body.Default(d.New, "sku.name", "Standard")
			body.Default(d.New, "sku.tier", "Regional")
			for path, kind := range body.Sorted(map[string]string{"properties.virtualNetwork.id": VirtualNetworks,
				"properties.routeTargetAddress.subnet.id": Subnets, "properties.routeTargetAddressV6.subnet.id": Subnets}) {
				if id := body.String(d.New, path); id != "" {
					if _, err := c.RequireReference(id, d.ID, kind, d.Location); err != nil {
						return err
					}
				}
			}
			return checkZones(c, d)
		},
		Actions: map[string]*provider.Action{
			"updateservices":         updateAction("serviceRequests", "services", mergeServices),
			"updateaddresslocations": updateAction("addressLocations", "addressLocations", mergeLocations),
		},
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"services":         listPart("services"),
			"addresslocations": listPart("addressLocations"),
		},
	}
}

// listPart lists what POSTs have written.
func listPart(part string) func(*provider.Call, *provider.Item) (*provider.Reply, error) {
	return func(_ *provider.Call, it *provider.Item) (*provider.Reply, error) {
		list := []any{}
		for _, o := range body.Objects(it.Resource.Secret, part) {
			list = append(list, body.Clone(o))
		}
		return provider.OK(list), nil
	}
}

// updateAction returns a POST that replaces a part with the list of a request (FullUpdate), or merges the list into it (PartialUpdate).
func updateAction(list, part string, merge func(have []body.Object, change body.Object) []body.Object) *provider.Action {
	return &provider.Action{
		Timing: provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(3)}, RetryAfter: 10,
		Start: func(c *provider.Call, _ *store.Resource) (*provider.Reply, error) {
			action := body.String(c.Body, "action")
			if action != "" && !strings.EqualFold(action, "FullUpdate") && !strings.EqualFold(action, "PartialUpdate") {
				return nil, invalidValue("InvalidRequestFormat", "The action '%s' is not one of FullUpdate and PartialUpdate.", action)
			}
			return provider.OK(body.Clone(c.Body)), nil
		},
		Finish: func(_ *provider.Call, op *store.Operation, r *store.Resource) error {
			have := []body.Object{}
			if strings.EqualFold(body.String(op.Data, "action"), "PartialUpdate") {
				have = append(have, body.Objects(r.Secret, part)...)
			}
			for _, change := range body.Objects(op.Data, list) {
				have = merge(have, change)
			}
			kept := []any{}
			for _, o := range have {
				kept = append(kept, body.Clone(o))
			}
			if r.Secret == nil {
				r.Secret = body.Object{}
			}
			r.Secret[part] = kept
			return nil
		},
	}
}

// mergeServices adds, replaces or removes a service by its name.
func mergeServices(have []body.Object, change body.Object) []body.Object {
	service := body.Child(change, "service")
	at := slices.IndexFunc(have, func(o body.Object) bool {
		return strings.EqualFold(body.String(o, "name"), body.String(service, "name"))
	})
	switch remove := body.Bool(change, "isDelete"); {
	case service == nil || remove && at < 0:
	case remove:
		have = slices.Delete(have, at, at+1)
	case at >= 0:
		have[at] = service
	default:
		have = append(have, service)
	}
	return have
}

// mergeLocations adds or changes an address location. Its own action decides about addresses that the change does not name.
func mergeLocations(have []body.Object, change body.Object) []body.Object {
	shown := body.Object{"addressLocation": change["addressLocation"], "addresses": change["addresses"]}
	at := slices.IndexFunc(have, func(o body.Object) bool {
		return body.String(o, "addressLocation") == body.String(change, "addressLocation")
	})
	if at < 0 {
		return append(have, shown)
	}
	if strings.EqualFold(body.String(change, "addressUpdateAction"), "PartialUpdate") {
		list := body.Objects(have[at], "addresses")
		for _, address := range body.Objects(change, "addresses") {
			same := slices.IndexFunc(list, func(o body.Object) bool { return body.String(o, "address") == body.String(address, "address") })
			if same >= 0 {
				list[same] = address
			} else {
				list = append(list, address)
			}
		}
		all := []any{}
		for _, o := range list {
			all = append(all, o)
		}
		shown["addresses"] = all
	}
	have[at] = shown
	return have
}
