package definition

import (
	"maps"
	"slices"
)

// DropReadOnly removes the properties from a body that only Azure sets. Providers ignore them: recordings of networks
// and route tables send the type of their parts back, as
// Test_Networking_Route_CreatedThenRouteTableUpdated_20240301_RouteStillExists does.
func DropReadOnly(resourceType, version string, body map[string]any) {
	if d, root, ok := findDefinition(resourceType, version); ok {
		d.dropReadOnly(root, body)
	}
}

func (d document) dropReadOnly(s schema, value any) {
	switch value := value.(type) {
	case []any:
		if s.Items != nil {
			for _, item := range value {
				d.dropReadOnly(*s.Items, item)
			}
		}
	case map[string]any:
		if s.Type == "map" && s.Values != nil {
			for _, entry := range value {
				d.dropReadOnly(*s.Values, entry)
			}
			return
		}
		properties, _ := d.objectMembers(d.Objects[s.Object], value)
		for key := range maps.Clone(value) {
			switch name, s, known := findProperty(properties, key); {
			case known && s.hasFlag("readOnly") && name != "id" && name != "name":
				// By these two, parts of a resource are found again.
				delete(value, key)
			case known:
				d.dropReadOnly(s, value[key])
			}
		}
	}
}

// shownBeforePublished are properties that Azure shows in versions that do not publish them, as "<object>.<member>".
var shownBeforePublished = []string{
	// Recordings of managed clusters in 2025-10-02-preview show it; 2026-05-02-preview is the first to have it.
	"ManagedClusterProperties.enableFIPS",
}

// HideOtherVersions removes the properties from a shown resource that another api-version has and this one does not.
func HideOtherVersions(resourceType, version string, body map[string]any) {
	all := releasesOf(resourceType)
	if len(all) < 2 {
		return
	}
	d, root, ok := findDefinition(resourceType, version)
	if !ok {
		return
	}
	var others []place
	for _, r := range all {
		if other, at, ok := r.findInRelease(resourceType); ok {
			others = append(others, place{other, at})
		}
	}
	d.hideProperties(root, others, body)
}

// place is a schema of a document.
type place struct {
	document
	at schema
}

// hideProperties goes through a value by the schemas of all versions at once.
func (d document) hideProperties(s schema, others []place, value any) {
	switch value := value.(type) {
	case []any:
		if s.Items == nil {
			return
		}
		others = followPlaces(others, func(o place) *schema { return o.at.Items })
		for _, item := range value {
			d.hideProperties(*s.Items, others, item)
		}
	case map[string]any:
		if s.Type == "map" && s.Values != nil {
			others = followPlaces(others, func(o place) *schema { return o.at.Values })
			for _, entry := range value {
				d.hideProperties(*s.Values, others, entry)
			}
			return
		}
		if s.Object == "" {
			return
		}
		properties, ok := d.objectMembers(d.Objects[s.Object], value)
		if !ok {
			return
		}
		for key := range maps.Clone(value) {
			in := followPlaces(others, func(o place) *schema {
				theirs, _ := o.objectMembers(o.Objects[o.at.Object], value)
				if _, s, ok := findProperty(theirs, key); ok {
					return &s
				}
				return nil
			})
			_, next, known := findProperty(properties, key)
			switch {
			case known:
				d.hideProperties(next, in, value[key])
			case slices.Contains(shownBeforePublished, s.Object+"."+key):
			case len(in) > 0 && d.Objects[s.Object].Values == nil:
				delete(value, key)
			}
		}
	}
}

// followPlaces returns the places that lead on, from each of them.
func followPlaces(from []place, next func(place) *schema) []place {
	var out []place
	for _, p := range from {
		if s := next(p); s != nil {
			out = append(out, place{p.document, *s})
		}
	}
	return out
}
