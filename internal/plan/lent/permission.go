package lent

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// permission is whether a resource may be used.
type permission int

const (
	// deniedForeign resources are neither the Cluster's nor listed.
	deniedForeign permission = iota
	// allowedUse resources are the Cluster's or listed.
	allowedUse
	// unknownOwner resources are in a resource group that does not exist, so it is not known whose they will be.
	unknownOwner
	// missingFact resources are in missing.
	missingFact
)

// permissionFor reports whether a resource may be used. listed tells that spec.allowedResources counts.
func (p *restrictor) permissionFor(id arm.ID, listed bool) permission {
	switch {
	case id.Subscription() == "":
		return deniedForeign
	case listed && isWithinAny(id, p.Resources), p.isCreatedByPlan(id):
		return allowedUse
	case id.ResourceGroup() == "":
		return deniedForeign
	}
	group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
	of := p.permissionByTags(group)
	if of != deniedForeign || id.Equal(group) {
		return of
	}
	holder := findTaggable(id)
	if holder == "" {
		return deniedForeign
	}
	// In a group of others the message must not reveal which resources exist.
	if of = p.permissionByTags(holder); of == unknownOwner {
		return deniedForeign
	}
	return of
}

// isCreatedByPlan reports whether a resource is a node that the plan creates, or below one. A node that would use a
// resource of others does not count.
func (p *restrictor) isCreatedByPlan(id arm.ID) bool {
	for ; id != "" && id.Type() != arm.ResourceGroupType; id = id.Parent() {
		if node := p.graph.Node(id); node != nil {
			return node.Policy != arm.Observe
		}
	}
	return false
}

// permissionByTags reports whether a resource carries the tags of the Cluster.
func (p *restrictor) permissionByTags(id arm.ID) permission {
	fact, known := p.Facts[id.Key()]
	switch {
	case !known:
		p.missing[id.Key()] = id
		return missingFact
	case fact.Unreadable:
		return deniedForeign
	case !fact.Exists:
		return unknownOwner
	case p.Owner.OwnsTags(fact.Tags):
		return allowedUse
	}
	return deniedForeign
}

// findTaggable is the resource that tells by its tags whose a resource is: itself or the nearest one above that can carry tags, "" if there
// is none.
func findTaggable(id arm.ID) arm.ID {
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

// fileProperties are the properties by which Azure reads or writes a file at a URL with the rights of the caller. The
// account with the file is not named by an ID. That Azure writes the logs of a VM into any account of the subscription
// is an assumption: no page documents the required rights.
// https://learn.microsoft.com/en-us/rest/api/compute/images/create-or-update (blobUri)
// https://learn.microsoft.com/en-us/rest/api/compute/disks/create-or-update (sourceUri, securityDataUri, securityMetadataUri)
// https://learn.microsoft.com/en-us/rest/api/compute/gallery-image-versions/create-or-update (source.uri)
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/create-or-update (vhd.uri, image.uri,
// bootDiagnostics.storageUri)
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/create-or-update (vhdContainers).
// An image of a gallery that is shared with subscriptions is no file, but its ID does not show the owner either, and the caller's
// subscription decides about its use.
// https://learn.microsoft.com/en-us/azure/virtual-machines/share-gallery-direct (sharedGalleryImageId)
var fileProperties = []string{"blobUri", "sourceUri", "securityDataUri", "securityMetadataUri", "source.uri", "vhd.uri", "image.uri",
	"vhdContainers[]", "bootDiagnostics.storageUri", "sharedGalleryImageId"}

// isFileProperty reports whether a path is that of a property that names a file by its URL.
func isFileProperty(path jsonpath.Path) bool {
	return slices.ContainsFunc(fileProperties, func(file string) bool { return endsWith(path, jsonpath.Parse(file)) })
}

// findFileURLs returns the places of a body that name files by their URL.
func findFileURLs(body any) []string {
	var out []string
	jsonpath.Walk(body, func(path jsonpath.Path, value any) bool {
		if text, _ := value.(string); text != "" && isFileProperty(path) {
			out = append(out, path.Shape().String())
		}
		return true
	})
	return out
}

// endsWith reports whether a path ends with the steps of another one, in any case.
func endsWith(path, end jsonpath.Path) bool {
	return len(path) >= len(end) && path[len(path)-len(end):].Matches(end)
}
