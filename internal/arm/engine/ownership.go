package engine

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ownerPrefix begins the tag keys that mark the resources of clusters; the cluster's name follows.
const ownerPrefix = "sigs.k8s.io_cluster-api-provider-azure_cluster_"

// owningAncestors are the resources that decide who owns id, nearest first.
func (p *convergence) owningAncestors(id arm.ID) []arm.ID {
	row, err := types.ForID(id)
	if err != nil {
		return nil
	}
	var out []arm.ID
	for parent := id.Parent(); parent != ""; parent = parent.Parent() {
		if parent.Type() == types.ResourceGroup && row.Taggable {
			break
		}
		parentRow, err := types.ForID(parent)
		// What a type with a row of its own is below is always made by others if that has none, as the fleet of a member: there may
		// be no right to read it.
		if err != nil || parentRow.FromDefinition && !row.FromDefinition && !p.request.IgnoreInventory {
			break
		}
		out = append(out, parent)
		if parentRow.Taggable && parent.Parent().Type() == types.ResourceGroup {
			break
		}
		row = parentRow
	}
	return out
}

// isOwned tells whether a resource is the cluster's: by its own tag, the ownership of what it is below, what it is tied to, the
// inventory as far as that counts, or the caller's proof.
func (p *convergence) isOwned(id arm.ID) bool {
	row, err := types.ForID(id)
	if err != nil {
		return false
	}
	if p.migrated[id.Key()] {
		tags := observe.ParseHead(p.found[id.Key()].Body).Tags
		if _, decided := tagValue(tags, p.request.Owner.TagKey); !decided && otherOwnerTagIn(tags, p.request.Owner) == "" {
			return true
		}
	}
	if row.Taggable && (p.hasProvenOwner(id) || p.ownedUntagged[id.Key()] && p.otherOwnerTag(id) == "") || row.OwnedByReference && p.referencesOwned(id, row) || p.isInInventory(id, row) {
		return true
	}
	for _, ancestor := range p.owningAncestors(id) {
		ancestorRow, _ := types.ForID(ancestor)
		if p.hasProvenOwner(ancestor) || p.isInInventory(ancestor, ancestorRow) {
			return true
		}
	}
	return false
}

// mayBeInInventory tells whether an entry of the inventory can count: of a resource that cannot carry a tag, and that the spec names or
// Azure may show to be there for one of ours.
func (p *convergence) mayBeInInventory(id arm.ID) bool {
	row, err := types.ForID(id)
	return err == nil && !row.Taggable && !p.request.IgnoreInventory && (p.request.Graph.Has(id) || len(row.OwnerReferences) > 0)
}

// isInInventory tells whether a resource is the cluster's by the inventory. What the spec names no more is so only while it is tied to
// what carries the ownership tag: anybody may have written the inventory who may write the object.
func (p *convergence) isInInventory(id arm.ID, row types.Type) bool {
	_, ok := p.inventory[id.Key()]
	return ok && (p.request.Graph.Has(id) || p.referencesOwned(id, row))
}

// isRemovable tells whether a resource that is the cluster's may be deleted. One that is so by the inventory alone has to be tied to
// what it was made for, where the plan says what that is.
func (p *convergence) isRemovable(id arm.ID, node *arm.Node) bool {
	row, err := types.ForID(id)
	if err != nil || row.Taggable || node == nil || len(node.After) == 0 || len(row.OwnerReferences) == 0 || !p.isInInventory(id, row) {
		return true
	}
	return p.isAncestorOwned(id) || p.referencesOwned(id, row)
}

// referencesOwned tells whether Azure shows a resource to be there for one that carries the ownership tag, or that the plan has where that
// is enough.
func (p *convergence) referencesOwned(id arm.ID, row types.Type) bool {
	body, err := arm.DecodeBody(p.found[id.Key()].Body)
	if err != nil {
		return false
	}
	node := p.request.Graph.Node(id)
	for _, path := range row.OwnerReferences {
		text := stringAt(body, path)
		if text == "" {
			continue
		}
		if target := arm.ID(text); p.isTargetOwned(target) || row.MayReferenceForeign && node != nil && p.request.Graph.Has(target) {
			return true
		}
		if node == nil {
			continue
		}
		for _, holder := range node.After {
			if observe.ParseHead(p.found[holder.Key()].Body).Identity.PrincipalID == text && p.hasProvenOwner(holder) {
				return true
			}
		}
	}
	return false
}

// isTargetOwned tells whether a resource that something is tied to carries the ownership tag, or is in a group that does and was not
// looked at, because the group goes as a whole.
func (p *convergence) isTargetOwned(id arm.ID) bool {
	if _, seen := p.found[id.Key()]; seen {
		return p.hasProvenOwner(id)
	}
	return id.ResourceGroup() != "" && p.hasProvenOwner(arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()))
}

// stringAt is the text at a dotted path, "" for none.
func stringAt(body any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		object, _ := body.(map[string]any)
		body = object[key]
	}
	text, _ := body.(string)
	return text
}

// otherOwnerTag is the tag by which a resource is another cluster's or owner's, "" for none.
func (p *convergence) otherOwnerTag(id arm.ID) string {
	return otherOwnerTagIn(observe.ParseHead(p.found[id.Key()].Body).Tags, p.request.Owner)
}

// otherOwnerTagIn is the key of the first tag that marks a resource as another cluster's or owner's, "" for none.
func otherOwnerTagIn(tags map[string]string, owner Owner) string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if strings.HasPrefix(strings.ToLower(key), ownerPrefix) && !strings.EqualFold(key, owner.TagKey) && strings.EqualFold(tags[key], owner.TagValue) {
			return key
		}
	}
	if other := otherOwnerID(tags, owner); other != "" {
		return owner.IDKey
	}
	return ""
}

// otherOwnerID is who else owns a resource by its tags, "" for nobody.
func otherOwnerID(tags map[string]string, owner Owner) string {
	for key, value := range tags {
		if owner.IDKey != "" && strings.EqualFold(key, owner.IDKey) && value != "" && value != owner.ID {
			return value
		}
	}
	return ""
}

func hasOwnerTag(tags map[string]string, owner Owner) bool {
	return hasClusterTag(tags, owner) && otherOwnerID(tags, owner) == ""
}

// hasClusterTag tells whether tags have the ownership tag of the cluster, whoever's that is.
func hasClusterTag(tags map[string]string, owner Owner) bool {
	for key, value := range tags {
		if strings.EqualFold(key, owner.TagKey) && value == owner.TagValue {
			return true
		}
	}
	return false
}

// isAncestorOwned tells whether a resource is below one that carries the ownership tag or was in the inventory when the pass began.
func (p *convergence) isAncestorOwned(id arm.ID) bool {
	for _, ancestor := range p.owningAncestors(id) {
		if p.hasProvenOwner(ancestor) || p.storedInventory[ancestor.Key()] {
			return true
		}
	}
	return false
}

func bodyHasOwnerTag(body map[string]any, owner Owner) bool {
	tags := map[string]string{}
	object, _ := body["tags"].(map[string]any)
	for key, value := range object {
		tags[key], _ = value.(string)
	}
	return hasOwnerTag(tags, owner)
}
