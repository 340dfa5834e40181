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
func (p *pass) ancestors(id arm.ID) []arm.ID {
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
		if err != nil || parentRow.FromDefinition && !row.FromDefinition && !p.request.TagsOnly {
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

// owned tells whether a resource is the cluster's: by its own tag, the ownership of what it is below, what it is tied to, or the
// inventory as far as that counts.
func (p *pass) owned(id arm.ID) bool {
	row, err := types.ForID(id)
	if err != nil {
		return false
	}
	if row.Taggable && (p.marked(id) || p.unlabelled[id.Key()] && p.rival(id) == "") || row.OwnedByReference && p.tied(id, row) || p.listed(id, row) {
		return true
	}
	for _, ancestor := range p.ancestors(id) {
		ancestorRow, _ := types.ForID(ancestor)
		if p.marked(ancestor) || p.listed(ancestor, ancestorRow) {
			return true
		}
	}
	return false
}

// countable tells whether an entry of the inventory can count: of a resource that cannot carry a tag, and that the spec names or
// Azure may show to be there for one of ours.
func (p *pass) countable(id arm.ID) bool {
	row, err := types.ForID(id)
	return err == nil && !row.Taggable && !p.request.TagsOnly && (p.request.Graph.Has(id) || len(row.OwnerReferences) > 0)
}

// listed tells whether a resource is the cluster's by the inventory. What the spec names no more is so only while it is tied to
// what carries the ownership tag: anybody may have written the inventory who may write the object.
func (p *pass) listed(id arm.ID, row types.Type) bool {
	_, ok := p.inventory[id.Key()]
	return ok && (p.request.Graph.Has(id) || p.tied(id, row))
}

// removable tells whether a resource that is the cluster's may be deleted. One that is so by the inventory alone has to be tied to
// what it was made for, where the plan says what that is.
func (p *pass) removable(id arm.ID, node *arm.Node) bool {
	row, err := types.ForID(id)
	if err != nil || row.Taggable || node == nil || len(node.After) == 0 || len(row.OwnerReferences) == 0 || !p.listed(id, row) {
		return true
	}
	return p.ownedAbove(id) || p.tied(id, row)
}

// tied tells whether Azure shows a resource to be there for one that carries the ownership tag, or that the plan has where that
// is enough.
func (p *pass) tied(id arm.ID, row types.Type) bool {
	body, err := arm.DecodeBody(p.found[id.Key()].Body)
	if err != nil {
		return false
	}
	node := p.request.Graph.Node(id)
	for _, path := range row.OwnerReferences {
		text := textAt(body, path)
		if text == "" {
			continue
		}
		if target := arm.ID(text); p.ours(target) || row.MayReferenceForeign && node != nil && p.request.Graph.Has(target) {
			return true
		}
		if node == nil {
			continue
		}
		for _, holder := range node.After {
			if observe.HeadOf(p.found[holder.Key()].Body).Identity.PrincipalID == text && p.marked(holder) {
				return true
			}
		}
	}
	return false
}

// ours tells whether a resource that something is tied to carries the ownership tag, or is in a group that does and was not
// looked at, because the group goes as a whole.
func (p *pass) ours(id arm.ID) bool {
	if _, seen := p.found[id.Key()]; seen {
		return p.marked(id)
	}
	return id.ResourceGroup() != "" && p.marked(arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()))
}

// textAt is the text at a dotted path, "" for none.
func textAt(body any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		object, _ := body.(map[string]any)
		body = object[key]
	}
	text, _ := body.(string)
	return text
}

// rival is the tag by which a resource is another cluster's or owner's, "" for none.
func (p *pass) rival(id arm.ID) string {
	return rivalOf(observe.HeadOf(p.found[id.Key()].Body).Tags, p.request.Owner)
}

// rivalOf is the key of the first tag that marks a resource as another cluster's or owner's, "" for none.
func rivalOf(tags map[string]string, owner Owner) string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if strings.HasPrefix(strings.ToLower(key), ownerPrefix) && !strings.EqualFold(key, owner.TagKey) && strings.EqualFold(tags[key], owner.TagValue) {
			return key
		}
	}
	if other := otherOwner(tags, owner); other != "" {
		return owner.IDKey
	}
	return ""
}

// otherOwner is who else owns a resource by its tags, "" for nobody.
func otherOwner(tags map[string]string, owner Owner) string {
	for key, value := range tags {
		if owner.IDKey != "" && strings.EqualFold(key, owner.IDKey) && value != "" && value != owner.ID {
			return value
		}
	}
	return ""
}

func hasTag(tags map[string]string, owner Owner) bool {
	return ofCluster(tags, owner) && otherOwner(tags, owner) == ""
}

// ofCluster tells whether tags have the ownership tag of the cluster, whoever's that is.
func ofCluster(tags map[string]string, owner Owner) bool {
	for key, value := range tags {
		if strings.EqualFold(key, owner.TagKey) && value == owner.TagValue {
			return true
		}
	}
	return false
}

// ownedAbove tells whether a resource is below one that carries the ownership tag or was in the inventory when the pass began.
func (p *pass) ownedAbove(id arm.ID) bool {
	for _, ancestor := range p.ancestors(id) {
		if p.marked(ancestor) || p.recorded[ancestor.Key()] {
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
