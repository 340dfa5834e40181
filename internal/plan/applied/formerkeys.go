package applied

import (
	"maps"
	"slices"
)

// formerKeys are the annotations of v2.0.0-alpha, with the functions that read them. They are read as long as an object has no annotation of
// this release, and its first write removes them.
var formerKeys = map[string]func(d *decoder, value string, c *Content){
	// A JSON object of lists of JSON pointers by the IDs of resources.
	"sigs.k8s.io/cluster-api-provider-azure-last-applied": func(d *decoder, value string, c *Content) {
		c.Applied = d.lists(d.decode(value))
	},
	// A JSON object of lists of IDs, with the kind, namespace and name of its object in "of".
	"sigs.k8s.io/cluster-api-provider-azure-inventory": func(d *decoder, value string, c *Content) {
		list := d.object(d.decode(value))
		c.Inventory = Inventory{Object: d.text(list["of"]), Created: d.ids(list["made"]), Adopted: d.ids(list["adopted"])}
	},
	"sigs.k8s.io/cluster-api-provider-azure-owner-id": func(_ *decoder, value string, c *Content) { c.OwnerID = value },
	// A JSON object. "left" has the differences, and is missing if the object was created under v2.0.0-alpha.
	"sigs.k8s.io/cluster-api-provider-azure-taken-over": func(d *decoder, value string, c *Content) {
		c.Migration = &Migration{Kept: d.lists(d.object(d.decode(value))["left"])}
	},
}

// FormerKeys returns the keys of the annotations of v2.0.0-alpha, sorted.
func FormerKeys() []string { return slices.Sorted(maps.Keys(formerKeys)) }

// readFormer returns the content of the annotations of v2.0.0-alpha. One that cannot be decoded does not affect the others.
func readFormer(annotations map[string]string) Content {
	var c Content
	d := &decoder{}
	for key, read := range formerKeys {
		if value := annotations[key]; value != "" {
			read(d, value, &c)
		}
	}
	c.damaged = d.damaged
	return c
}

// removeFormer removes the annotations of v2.0.0-alpha and reports whether there was one.
func removeFormer(annotations map[string]string) (removed bool) {
	for key := range formerKeys {
		if _, has := annotations[key]; has {
			removed = true
			delete(annotations, key)
		}
	}
	return removed
}
