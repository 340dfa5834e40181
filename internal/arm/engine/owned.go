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

// ancestors are the resources that decide who owns id, nearest first.
func ancestors(id arm.ID) []arm.ID {
	row, err := types.Of(id)
	if err != nil {
		return nil
	}
	var out []arm.ID
	for parent := id.Parent(); parent != ""; parent = parent.Parent() {
		if parent.Type() == types.ResourceGroup && row.Taggable {
			break
		}
		parentRow, err := types.Of(parent)
		if err != nil {
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

// owned tells whether a resource is the cluster's: by the inventory, its own tag, or the ownership of what it is below. What
// carries another cluster's tag, and not this one's, is that one's whatever the inventory says, which anybody can write who may
// write the object.
func (p *pass) owned(id arm.ID) bool {
	if p.listed(id) {
		return true
	}
	if row, err := types.Of(id); err == nil && row.Taggable && p.tagged(id) {
		return true
	}
	for _, ancestor := range ancestors(id) {
		if p.listed(ancestor) || p.tagged(ancestor) {
			return true
		}
	}
	return false
}

// listed tells whether a resource is the cluster's by the inventory.
func (p *pass) listed(id arm.ID) bool {
	_, ok := p.inventory[id.Key()]
	return ok && (p.rival(id) == "" || p.tagged(id))
}

// rival is the ownership tag of another cluster that a resource carries, "" for none.
func (p *pass) rival(id arm.ID) string {
	return rivalOf(observe.HeadOf(p.found[id.Key()].Body).Tags, p.request.Owner)
}

// rivalOf is the key of the first tag that marks a resource as another cluster's, "" for none.
func rivalOf(tags map[string]string, owner Owner) string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if strings.HasPrefix(strings.ToLower(key), ownerPrefix) && !strings.EqualFold(key, owner.TagKey) && strings.EqualFold(tags[key], owner.TagValue) {
			return key
		}
	}
	return ""
}

func (p *pass) tagged(id arm.ID) bool {
	return hasTag(observe.HeadOf(p.found[id.Key()].Body).Tags, p.request.Owner)
}

func hasTag(tags map[string]string, owner Owner) bool {
	for key, value := range tags {
		if strings.EqualFold(key, owner.TagKey) && value == owner.TagValue {
			return true
		}
	}
	return false
}

// ownedAbove tells whether a resource is below one that carries the ownership tag or was in the inventory when the pass began.
func (p *pass) ownedAbove(id arm.ID) bool {
	for _, ancestor := range ancestors(id) {
		if p.tagged(ancestor) || p.recorded[ancestor.Key()] && p.rival(ancestor) == "" {
			return true
		}
	}
	return false
}

func tagsCarry(body map[string]any, owner Owner) bool {
	tags := map[string]string{}
	object, _ := body["tags"].(map[string]any)
	for key, value := range object {
		tags[key], _ = value.(string)
	}
	return hasTag(tags, owner)
}
