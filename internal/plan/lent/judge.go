package lent

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// verdict is whether a resource may be used.
type verdict int

const (
	// foreign resources are neither the Cluster's nor listed.
	foreign verdict = iota
	// allowed resources are the Cluster's or listed.
	allowed
	// absent resources are in a resource group that does not exist, so it is not known whose they will be.
	absent
	// unknown resources are in missing.
	unknown
)

// judge tells whether a resource may be used. listed tells that spec.allowedResources counts.
func (p *restriction) judge(id arm.ID, listed bool) verdict {
	switch {
	case id.Subscription() == "":
		return foreign
	case listed && within(id, p.Resources), p.created(id):
		return allowed
	case id.ResourceGroup() == "":
		return foreign
	}
	group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
	of := p.own(group)
	if of != foreign || id.Equal(group) {
		return of
	}
	holder := taggable(id)
	if holder == "" {
		return foreign
	}
	// In a group of others nobody learns what there is.
	if of = p.own(holder); of == absent {
		return foreign
	}
	return of
}

// created tells whether a resource is a node that the plan creates, or below one. A node that would use what others made does not count.
func (p *restriction) created(id arm.ID) bool {
	for ; id != "" && id.Type() != arm.ResourceGroupType; id = id.Parent() {
		if node := p.graph.Node(id); node != nil {
			return node.Policy != arm.Observe
		}
	}
	return false
}

// own tells whether a resource carries the tags of the Cluster.
func (p *restriction) own(id arm.ID) verdict {
	fact, known := p.Facts[id.Key()]
	switch {
	case !known:
		p.missing[id.Key()] = id
		return unknown
	case fact.Unreadable:
		return foreign
	case !fact.Exists:
		return absent
	case p.Owner.Owns(fact.Tags):
		return allowed
	}
	return foreign
}

// taggable is the resource that tells by its tags whose a resource is: itself or the nearest one above that can carry tags, "" if there
// is none.
func taggable(id arm.ID) arm.ID {
	for ; id != "" && id.Type() != arm.ResourceGroupType && id.ResourceGroup() != ""; id = id.Parent() {
		row, err := types.ForID(id)
		if err != nil {
			return ""
		}
		if row.Taggable {
			return id
		}
	}
	return ""
}

func isNetwork(id arm.ID) bool {
	return strings.EqualFold(id.Type(), types.VirtualNetwork) || strings.EqualFold(id.Type(), types.Subnet)
}

// files are the properties by which Azure reads or writes a file at a URL with the rights of whoever asks. The account with the file is not
// named by an ID. That Azure writes the logs of a VM into any account of the subscription is an assumption: no page says which rights
// it asks for.
// https://learn.microsoft.com/en-us/rest/api/compute/images/create-or-update (blobUri)
// https://learn.microsoft.com/en-us/rest/api/compute/disks/create-or-update (sourceUri, securityDataUri)
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/create-or-update (vhd.uri, bootDiagnostics.storageUri)
var files = []string{"blobUri", "sourceUri", "securityDataUri", "vhd.uri", "bootDiagnostics.storageUri"}

// urls are the places of a body that name files by their URL.
func urls(body any) []string {
	var out []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				walk(path+"[]", item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				below := strings.TrimPrefix(path+"."+key, ".")
				text, isText := value[key].(string)
				if isText && text != "" && slices.ContainsFunc(files, func(file string) bool { return strings.EqualFold(below, file) || hasSuffixFold(below, "."+file) }) {
					out = append(out, below)
				}
				walk(below, value[key])
			}
		}
	}
	walk("", body)
	return out
}

func hasSuffixFold(text, suffix string) bool {
	return len(text) >= len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix)
}
