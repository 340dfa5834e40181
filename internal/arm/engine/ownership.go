package engine

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ownerPrefix is the prefix of ownership tags; the cluster's name follows.
const ownerPrefix = "sigs.k8s.io_cluster-api-provider-azure_cluster_"

// owningAncestors returns the resources whose ownership decides that of id, nearest first.
func (c *convergence) owningAncestors(id arm.ID) []arm.ID {
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
		// The parent of a table type that has no row itself is always created by others, as the fleet of a member. The identity may
		// have no right to read it.
		if err != nil || parentRow.FromDefinition && !row.FromDefinition && !c.request.IgnoreInventory {
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

// isOwned reports whether the cluster owns a resource: by its tags, an owned ancestor, a reference to an owned resource, a valid
// inventory entry, or the caller's proof.
func (c *convergence) isOwned(id arm.ID) bool {
	row, err := types.ForID(id)
	if err != nil {
		return false
	}
	if c.migrated[id.Key()] {
		tags := c.found[id.Key()].Head().Tags
		if _, decided := tagValue(tags, c.request.Owner.TagKey); !decided && otherOwnerTagIn(tags, c.request.Owner) == "" {
			return true
		}
	}
	if row.Taggable && (c.hasProvenOwner(id) || c.ownedUntagged[id.Key()] && c.otherOwnerTag(id) == "") || row.OwnedByReference &&
		c.referencesOwned(id, row) || c.isInInventory(id, row) {
		return true
	}
	for _, ancestor := range c.owningAncestors(id) {
		ancestorRow, _ := types.ForID(ancestor)
		if c.hasProvenOwner(ancestor) || c.isInInventory(ancestor, ancestorRow) {
			return true
		}
	}
	return false
}

// mayBeInInventory reports whether an inventory entry can be valid: the resource has no tags, and the spec names it or Azure may show a
// reference to an owned resource.
func (c *convergence) mayBeInInventory(id arm.ID) bool {
	row, err := types.ForID(id)
	return err == nil && !row.Taggable && !c.request.IgnoreInventory && (c.request.Graph.Has(id) || len(row.OwnerReferences) > 0)
}

// isInInventory reports whether a valid inventory entry makes the resource owned. If the spec no longer names the resource, it has to
// reference a tagged one: every writer of the object can forge the inventory.
func (c *convergence) isInInventory(id arm.ID, row types.Type) bool {
	_, ok := c.inventory[id.Key()]
	return ok && (c.request.Graph.Has(id) || c.referencesOwned(id, row))
}

// isRemovable reports whether an owned resource may be deleted. A resource owned only by the inventory has to reference the owner that
// the plan names, if it names one.
func (c *convergence) isRemovable(id arm.ID, node *arm.Node) bool {
	row, err := types.ForID(id)
	if err != nil || row.Taggable || node == nil || len(node.After) == 0 || len(row.OwnerReferences) == 0 || !c.isInInventory(id, row) {
		return true
	}
	return c.isAncestorOwned(id) || c.referencesOwned(id, row)
}

// referencesOwned reports whether the resource references a resource with the ownership tag. For some types a resource of the plan is
// enough.
func (c *convergence) referencesOwned(id arm.ID, row types.Type) bool {
	body, err := arm.DecodeBody(c.found[id.Key()].Body)
	if err != nil {
		return false
	}
	node := c.request.Graph.Node(id)
	for _, path := range row.OwnerReferences {
		text := jsonpath.GetText(body, path)
		if text == "" {
			continue
		}
		if target := arm.ID(text); c.isTargetOwned(target) || row.MayReferenceForeign && node != nil && c.request.Graph.Has(target) {
			return true
		}
		if slices.ContainsFunc(c.identityHolders(node), func(holder arm.ID) bool {
			return c.found[holder.Key()].Head().Identity.PrincipalID == text && c.hasProvenOwner(holder)
		}) {
			return true
		}
	}
	return false
}

// identityHolders returns the resources whose identity a node may reference. A resource that is no longer planned may reference that of any
// node.
func (c *convergence) identityHolders(node *arm.Node) (out []arm.ID) {
	if node != nil {
		return node.After
	}
	for _, other := range c.nodes {
		out = append(out, other.ID)
	}
	return out
}

// isTargetOwned reports whether a referenced resource carries the ownership tag. If it was not read because its group is deleted as a
// whole, the tag of the group counts.
func (c *convergence) isTargetOwned(id arm.ID) bool {
	if _, seen := c.found[id.Key()]; seen {
		return c.hasProvenOwner(id)
	}
	return id.ResourceGroup() != "" && c.hasProvenOwner(arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()))
}

// otherOwnerTag returns the tag that marks a resource as another cluster's or owner's, "" if there is none.
func (c *convergence) otherOwnerTag(id arm.ID) string {
	return otherOwnerTagIn(c.found[id.Key()].Head().Tags, c.request.Owner)
}

// otherOwnerTagIn returns the key of the first tag that marks a resource as another cluster's or owner's, "" if there is none.
func otherOwnerTagIn(tags map[string]string, owner Owner) string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if strings.HasPrefix(strings.ToLower(key), ownerPrefix) && !strings.EqualFold(key, owner.TagKey) &&
			strings.EqualFold(tags[key], owner.TagValue) {
			return key
		}
	}
	if other := otherOwnerID(tags, owner); other != "" {
		return owner.IDKey
	}
	return ""
}

// otherOwnerID returns the ID of another owner from the tags, "" if there is none.
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

// hasClusterTag reports whether the tags have the cluster's ownership tag, with any owner ID.
func hasClusterTag(tags map[string]string, owner Owner) bool {
	for key, value := range tags {
		if strings.EqualFold(key, owner.TagKey) && value == owner.TagValue {
			return true
		}
	}
	return false
}

// isAncestorOwned reports whether an ancestor carries the ownership tag or was in the stored inventory.
func (c *convergence) isAncestorOwned(id arm.ID) bool {
	for _, ancestor := range c.owningAncestors(id) {
		if c.hasProvenOwner(ancestor) || c.storedInventory[ancestor.Key()] {
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
