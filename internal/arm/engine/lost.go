package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// released is the value of the ownership tag that has the object give a resource up: nothing is written to it, and it stays in Azure.
const released = "shared"

// lost tells whether a resource was seen as the object's own and is not any more. What was adopted, or is in the inventory, never needed a
// tag; neither does what Azure makes along with another resource.
func (p *pass) lost(w *work, tags map[string]string) bool {
	key := w.id.Key()
	if !w.found.Exists || w.owned || !p.seen[key] && !p.engine.memory.made(key) || w.node != nil && (w.node.Policy == arm.TagOnly || w.node.Policy == arm.Observe) {
		return false
	}
	_, adopted := p.adopted[key]
	if adopted || !w.row.Taggable && slices.ContainsFunc(p.request.Inventory, w.id.Equal) {
		return false
	}
	if !w.row.Taggable {
		// One in what users brought, as a subnet in their network, is the object's by the inventory alone.
		above := p.inherits(w.id)
		own := p.seen[above.Key()] || w.node != nil && w.node.Foreign == arm.AdoptForeign
		return own && above != "" && p.found[above.Key()].Exists && p.rival(above) == "" && !p.tiedToOthers(w.id, w.row)
	}
	_, has := valueOf(tags, p.request.Owner.TagKey)
	return !has
}

// tiedToOthers tells whether a resource is there for one that carries another owner's tag.
func (p *pass) tiedToOthers(id arm.ID, row types.Type) bool {
	body, err := arm.DecodeBody(p.found[id.Key()].Body)
	return err == nil && slices.ContainsFunc(row.OwnerReferences, func(path string) bool { return p.rival(arm.ID(textAt(body, path))) != "" })
}

// untagged tells whether a resource of the object's lacks the ownership tag, which is to be restored.
func (p *pass) untagged(w *work, tags map[string]string) bool {
	if !w.found.Exists || !w.owned || !w.row.Taggable || w.node == nil || w.node.Policy == arm.TagOnly || w.node.Policy == arm.Observe {
		return false
	}
	_, has := valueOf(tags, p.request.Owner.TagKey)
	return !has && p.marked(w.id)
}

// inherits is the nearest resource above one that cannot carry tags which can, "" for none.
func (p *pass) inherits(id arm.ID) arm.ID {
	if row, err := types.ForID(id); err != nil || row.Taggable {
		return ""
	}
	for _, ancestor := range p.ancestors(id) {
		if row, err := types.ForID(ancestor); err == nil && row.Taggable {
			return ancestor
		}
	}
	return ""
}

// marked tells whether a resource is the cluster's by its own tags, or proven to be although it lost them.
func (p *pass) marked(id arm.ID) bool {
	return proves(observe.HeadOf(p.found[id.Key()].Body).Tags, p.request.Owner) || p.proven(id, nil)
}

// proves tells whether tags prove that a resource is the owner's. Where the ownership tag is missing, the tag with the owner's ID does: it
// is made with the ownership tag, and only who may write the resource's tags in Azure can set it.
func proves(tags map[string]string, owner Owner) bool {
	if hasTag(tags, owner) {
		return true
	}
	_, has := valueOf(tags, owner.TagKey)
	id, _ := valueOf(tags, owner.IDKey)
	return owner.ID != "" && !has && id == owner.ID && rivalOf(tags, owner) == ""
}

// proven tells whether a resource of the record that carries no mark of any owner is the cluster's all the same. Whoever may write the
// object may write its record, so Azure has to bear it out by what takes rights on the cluster's own resources, or on this one:
//   - the resource is in a resource group that carries the cluster's tags, and would go with that, or
//   - it uses a resource that carries them (types.Type.Uses), or that is proven in this way.
//
// IDs that Azure gives to resources, as vmId, prove nothing: everybody who may read the resource knows them.
func (p *pass) proven(id arm.ID, through []arm.ID) bool {
	found := p.found[id.Key()]
	row, err := types.ForID(id)
	if err != nil || !row.Taggable || !found.Exists || !p.seen[id.Key()] && !p.engine.memory.made(id.Key()) || slices.ContainsFunc(through, id.Equal) {
		return false
	}
	tags := observe.HeadOf(found.Body).Tags
	if _, has := valueOf(tags, p.request.Owner.TagKey); has || rivalOf(tags, p.request.Owner) != "" {
		return false
	}
	group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
	if p.proves(group) {
		return true
	}
	for _, target := range used(found.Body, row) {
		if p.proves(target) || p.proven(target, append(slices.Clone(through), id)) {
			return true
		}
	}
	return false
}

func (p *pass) proves(id arm.ID) bool {
	return proves(observe.HeadOf(p.found[id.Key()].Body).Tags, p.request.Owner)
}

// maxUses bounds how many resources are read to prove whose one is.
const maxUses = 16

// used are the top-level resources that a resource says it uses, the first maxUses of them.
func used(body json.RawMessage, row types.Type) []arm.ID {
	decoded, err := arm.DecodeBody(body)
	if err != nil {
		return nil
	}
	var out []arm.ID
	for _, path := range row.UsedResources {
		for _, text := range textsAt(decoded, strings.Split(path, ".")) {
			id, err := arm.ParseID(text)
			if err != nil || len(out) == maxUses {
				continue
			}
			for parent := id.Parent(); parent != "" && parent.Type() != types.ResourceGroup; parent = parent.Parent() {
				id = parent
			}
			if _, err := types.ForID(id); err == nil && !slices.ContainsFunc(out, id.Equal) {
				out = append(out, id)
			}
		}
	}
	return out
}

// textsAt are the texts at a path; a key that ends in [] is that of a list.
func textsAt(value any, path []string) []string {
	if len(path) == 0 {
		if text, ok := value.(string); ok && text != "" {
			return []string{text}
		}
		return nil
	}
	key, isList := strings.CutSuffix(path[0], "[]")
	object, _ := value.(map[string]any)
	if !isList {
		return textsAt(object[key], path[1:])
	}
	items, _ := object[key].([]any)
	var out []string
	for _, item := range items {
		out = append(out, textsAt(item, path[1:])...)
	}
	return out
}

// readEvidence reads what tells whether resources of the record that carry no mark are the cluster's. Nothing is read as long as all of
// them carry one.
func (p *pass) readEvidence(maxAge time.Duration) {
	for range maxUses { // What a resource uses may have lost its tags, too.
		ids := p.evidence()
		if len(ids) == 0 {
			return
		}
		for key, found := range p.engine.reader.Read(p.ctx, p.request.Client, ids, maxAge) {
			p.found[key] = found
		}
	}
}

// evidence lists what has to be read and was not.
func (p *pass) evidence() []arm.ID {
	var out []arm.ID
	for key, found := range p.found {
		row, err := types.ForID(found.ID)
		if err != nil || !row.Taggable || !found.Exists || !p.seen[key] && !p.engine.memory.made(key) {
			continue
		}
		tags := observe.HeadOf(found.Body).Tags
		if _, has := valueOf(tags, p.request.Owner.TagKey); has || rivalOf(tags, p.request.Owner) != "" || proves(tags, p.request.Owner) {
			continue
		}
		for _, id := range append(used(found.Body, row), arm.ResourceGroupID(found.ID.Subscription(), found.ID.ResourceGroup())) {
			if _, read := p.found[id.Key()]; !read {
				out = append(out, id)
			}
		}
	}
	return out
}

// withTag is a body with the tags of the owner, which a plan leaves out of what it takes for somebody else's.
func withTag(body any, owner Owner) any {
	object, ok := body.(map[string]any)
	if !ok || tagsCarry(object, owner) {
		return body
	}
	object = maps.Clone(object)
	have, _ := object["tags"].(map[string]any)
	tags := maps.Clone(have)
	if tags == nil {
		tags = map[string]any{}
	}
	tags[owner.TagKey] = owner.TagValue
	if owner.ID != "" {
		tags[owner.IDKey] = owner.ID
	}
	object["tags"] = tags
	return object
}

// valueOf is the value of a tag: names of tags have no case.
func valueOf(tags map[string]string, key string) (string, bool) {
	for other, value := range tags {
		if strings.EqualFold(other, key) {
			return value, true
		}
	}
	return "", false
}

// tagLost is the error of a resource that was seen as the object's own.
func tagLost(s situation) error {
	return &arm.Error{Method: http.MethodGet, ID: s.id, Status: http.StatusOK, Code: CodeTagLost, Message: lostMessage(s)}
}

// lostMessage says that nothing proves any more that a resource is the object's, and gives the commands to decide what becomes of it.
func lostMessage(s situation) string {
	tag, left := s.owner.TagKey+"="+s.owner.TagValue, "The provider neither changes nor deletes it"
	if s.node != nil && s.node.Foreign == arm.AdoptForeign {
		left = "The provider keeps it in line with the spec and does not delete it"
	}
	switch {
	case s.rival != "":
		return fmt.Sprintf("By the object's annotations %s was made for this cluster, and now it carries the tag %s of another one instead of %s. %s", s.id, s.rival, tag, left)
	case !s.row.Taggable:
		return fmt.Sprintf("By the object's annotations %s was made for this cluster, but %s lacks the tag %s that would prove it. %s. If it is the cluster's, delete it: az resource delete --ids %s",
			s.id, s.inherits, tag, left, arm.ShellQuote(string(s.id)))
	}
	merge := "az tag update --resource-id " + arm.ShellQuote(string(s.id)) + " --operation Merge --tags "
	return fmt.Sprintf("By the object's annotations %s was made for this cluster, but it has lost the tag %s, and nothing else in Azure proves it. %s. "+
		"If it is the cluster's, hand it back: %s%s. If not, or to have it stay when the cluster is deleted, give it up: %s%s=%s", s.id, tag, left, merge, arm.ShellQuote(tag), merge, arm.ShellQuote(s.owner.TagKey), released)
}
