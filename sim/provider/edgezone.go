package provider

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// EdgeZone is an extended location of a region that is open to every subscription.
type EdgeZone struct{ Name, Display, Region string }

// EdgeZones are Azure's extended zones. Source: https://learn.microsoft.com/azure/extended-zones/overview
var EdgeZones = []EdgeZone{{"losangeles", "Los Angeles", "westus"}, {"perth", "Perth", "australiaeast"}}

const edgePath = "extendedLocation"

// EdgeZoneOf returns the name of the edge zone a resource is in, or "".
func EdgeZoneOf(b body.Object) string { return strings.ToLower(body.String(b, edgePath+".name")) }

// edgeZonesOf returns the names of a region's edge zones.
func edgeZonesOf(location string) []string {
	out := []string{}
	for _, z := range EdgeZones {
		if z.Region == location {
			out = append(out, z.Name)
		}
	}
	return out
}

// checkEdgeZone checks the extended location of a resource before it is stored, and writes it in Azure's form. The
// SDK models have the types with an extended location, and that it cannot be changed. Neither recordings nor
// documentation have the answers. Assumption: they are those that Resource Manager gives for locations.
func (c *Call) checkEdgeZone(d *Draft) error {
	was := body.Child(d.Old, edgePath)
	if !body.Has(d.New, edgePath) {
		if was != nil {
			d.New[edgePath] = body.Clone(was)
		}
		c.edge = EdgeZoneOf(d.New)
		return nil
	}
	name, kind := body.String(d.New, edgePath+".name"), body.String(d.New, edgePath+".type")
	zones := []string{}
	if c.Type.EdgeZones {
		zones = edgeZonesOf(d.Location)
	}
	switch {
	case !strings.EqualFold(kind, "EdgeZone"):
		return gatewayError(Errorf(400, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'the type of extendedLocation is \"%s\", it must be \"EdgeZone\"'.",
			kind))
	case !slices.Contains(zones, strings.ToLower(name)):
		return gatewayError(Errorf(400, "LocationNotAvailableForResourceType",
			"The provided extended location '%s' is not available for resource type '%s' in location '%s'. List of available extended locations for the resource type is '%s'.", name, c.Type.Name, d.Location, strings.Join(zones, ",")))
	case d.Old != nil && EdgeZoneOf(d.Old) != strings.ToLower(name):
		return Errorf(409, "PropertyChangeNotAllowed", "Changing property 'extendedLocation' is not allowed.").WithTarget(edgePath)
	}
	d.New[edgePath] = body.Object{"name": strings.ToLower(name), "type": "EdgeZone"}
	c.edge = strings.ToLower(name)
	if list := body.Strings(d.New, "zones"); len(list) > 0 {
		return Errorf(400, "InvalidAvailabilityZone",
			"The zone(s) '%s' for resource '%s' is not supported. The supported zones for location '%s' are ''", strings.Join(list, ","), d.ID,
			c.edge)
	}
	return nil
}

// EdgeZone returns the edge zone of the resource being written, or "".
func (c *Call) EdgeZone() string { return c.edge }

// edgeDiffers reports whether a resource that may be in an edge zone is in another one than the resource that refers
// to it.
func (c *Call) edgeDiffers(it *Item) bool {
	t := c.TypeOf(it.Resource.Type)
	return t != nil && t.EdgeZones && EdgeZoneOf(it.Resource.Body) != c.edge
}

// IsElsewhere reports whether a resource is in another region than the one given, or outside the edge zone of the
// call's resource.
func (c *Call) IsElsewhere(it *Item, location string) bool {
	return it.Location != "" && it.Location != "global" && !strings.EqualFold(it.Location, location) || c.edgeDiffers(it)
}
