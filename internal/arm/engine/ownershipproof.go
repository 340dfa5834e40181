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
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// releasedTagValue is the value of the ownership tag that releases a resource: the provider does not write it, and it stays in Azure.
const releasedTagValue = "shared"

// isOwnershipTagRemoved reports whether a resource was seen as the object's own and has lost its ownership tag. Adopted resources,
// inventory entries and resources that Azure creates along with another one never needed a tag.
func (c *convergence) isOwnershipTagRemoved(t *task, tags map[string]string) bool {
	key := t.id.Key()
	if !t.found.Exists || t.owned || !c.record[key] && !c.engine.states.get(key).presence.createdHere || t.node != nil &&
		(t.node.Policy == arm.TagOnly || t.node.Policy == arm.Observe) {
		return false
	}
	_, adopted := c.adopted[key]
	if adopted || !t.row.Taggable && slices.ContainsFunc(c.request.Inventory, t.id.Equal) {
		return false
	}
	if !t.row.Taggable {
		// Below a bring-your-own resource, as a subnet in the user's network, only the inventory makes a resource the object's own.
		above := c.taggableAncestor(t.id)
		own := c.record[above.Key()] || t.node != nil && t.node.Foreign == arm.AdoptForeign
		return own && above != "" && c.found[above.Key()].Exists && c.otherOwnerTag(above) == "" && !c.referencesOtherOwner(t.id, t.row)
	}
	_, has := tagValue(tags, c.request.Owner.TagKey)
	return !has
}

// referencesOtherOwner reports whether the resource references one that carries another owner's tag.
func (c *convergence) referencesOtherOwner(id arm.ID, row types.Type) bool {
	body, err := arm.DecodeBody(c.found[id.Key()].Body)
	return err == nil && slices.ContainsFunc(row.OwnerReferences,
		func(path string) bool { return c.otherOwnerTag(arm.ID(jsonpath.GetText(body, path))) != "" })
}

// lacksOwnershipTag reports whether an owned resource lacks the ownership tag, which has to be restored.
func (c *convergence) lacksOwnershipTag(t *task, tags map[string]string) bool {
	if !t.found.Exists || !t.owned || !t.row.Taggable || t.node == nil || t.node.Policy == arm.TagOnly || t.node.Policy == arm.Observe {
		return false
	}
	_, has := tagValue(tags, c.request.Owner.TagKey)
	return !has && c.hasProvenOwner(t.id)
}

// taggableAncestor returns the nearest ancestor with tags of a resource without, "" if there is none.
func (c *convergence) taggableAncestor(id arm.ID) arm.ID {
	if row, err := types.ForID(id); err != nil || row.Taggable {
		return ""
	}
	for _, ancestor := range c.owningAncestors(id) {
		if row, err := types.ForID(ancestor); err == nil && row.Taggable {
			return ancestor
		}
	}
	return ""
}

// hasProvenOwner reports whether the cluster owns a resource by its tags, or by other proof if the tags were removed.
func (c *convergence) hasProvenOwner(id arm.ID) bool {
	return tagsProveOwner(c.found[id.Key()].Head().Tags, c.request.Owner) || c.isProvenByUse(id, nil)
}

// tagsProveOwner reports whether tags prove the ownership of a resource. If the ownership tag is missing, the owner tag is proof: it is
// created together with the ownership tag, and only principals that may write the resource's tags in Azure can set it.
func tagsProveOwner(tags map[string]string, owner Owner) bool {
	if hasOwnerTag(tags, owner) {
		return true
	}
	_, has := tagValue(tags, owner.TagKey)
	id, _ := tagValue(tags, owner.IDKey)
	return owner.ID != "" && !has && id == owner.ID && otherOwnerTagIn(tags, owner) == ""
}

// isProvenByUse reports whether the cluster owns a resource of the record that carries no owner's tags. The record can be forged by
// every writer of the object, so Azure has to confirm it with something that needs rights on the cluster's own resources or on this
// one:
//   - the resource is in a resource group that carries the cluster's tags, and would be deleted with it, or
//   - it uses a resource that carries them (types.Type.UsedResources), or one that is proven in this way.
//
// IDs that Azure assigns to resources, as vmId, prove nothing: every reader of the resource knows them.
func (c *convergence) isProvenByUse(id arm.ID, through []arm.ID) bool {
	found := c.found[id.Key()]
	row, err := types.ForID(id)
	if err != nil || !row.Taggable || !found.Exists || !c.record[id.Key()] && !c.engine.states.get(id.Key()).presence.createdHere ||
		slices.ContainsFunc(through, id.Equal) {
		return false
	}
	tags := found.Head().Tags
	if _, has := tagValue(tags, c.request.Owner.TagKey); has || otherOwnerTagIn(tags, c.request.Owner) != "" {
		return false
	}
	group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
	if c.hasProvingTags(group) {
		return true
	}
	for _, target := range usedResources(found.Body, row) {
		if c.hasProvingTags(target) || c.isProvenByUse(target, append(slices.Clone(through), id)) {
			return true
		}
	}
	return false
}

func (c *convergence) hasProvingTags(id arm.ID) bool {
	return tagsProveOwner(c.found[id.Key()].Head().Tags, c.request.Owner)
}

// maxEvidence bounds the resources that are read to prove the ownership of one.
const maxEvidence = 16

// usedResources returns the top-level resources that a resource uses, at most maxEvidence.
func usedResources(body json.RawMessage, row types.Type) []arm.ID {
	decoded, err := arm.DecodeBody(body)
	if err != nil {
		return nil
	}
	var out []arm.ID
	for _, path := range row.UsedResources {
		for _, match := range jsonpath.Expand(decoded, path) {
			text, _ := match.Value.(string)
			id, err := arm.ParseID(text)
			if err != nil || len(out) == maxEvidence {
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

// readEvidence reads the resources that can prove the ownership of untagged resources of the record. It reads nothing while all of them
// have tags.
func (c *convergence) readEvidence(maxAge time.Duration) {
	for range maxEvidence { // A used resource may have lost its tags, too.
		ids := c.missingEvidence()
		if len(ids) == 0 {
			return
		}
		for key, found := range c.engine.reader.Read(c.ctx, c.request.Client, ids, maxAge, c.request.Read) {
			c.found[key] = found
		}
	}
}

// missingEvidence lists the evidence that was not read yet.
func (c *convergence) missingEvidence() []arm.ID {
	var out []arm.ID
	for _, found := range c.found {
		for _, id := range c.evidenceByUse(found) {
			if _, read := c.found[id.Key()]; !read {
				out = append(out, id)
			}
		}
	}
	return out
}

// evidenceByUse lists the resources that can prove the ownership of an untagged resource of the record: those that it uses, and its group.
func (c *convergence) evidenceByUse(found observe.Observation) []arm.ID {
	row, err := types.ForID(found.ID)
	if err != nil || !row.Taggable || !found.Exists || !c.record[found.ID.Key()] && !c.engine.states.get(found.ID.Key()).presence.createdHere {
		return nil
	}
	tags := found.Head().Tags
	if _, has := tagValue(tags, c.request.Owner.TagKey); has || otherOwnerTagIn(tags, c.request.Owner) != "" ||
		tagsProveOwner(tags, c.request.Owner) {
		return nil
	}
	return append(usedResources(found.Body, row), arm.ResourceGroupID(found.ID.Subscription(), found.ID.ResourceGroup()))
}

// ownershipError returns the error of a read that could prove the ownership of a task's resource, nil if the resource is owned, has another
// owner, or everything that could prove it was read. To take such a resource for a foreign one would leave it behind at a deletion.
func (c *convergence) ownershipError(t *task) error {
	if !t.found.Exists || t.owned || t.otherOwnerTag != "" {
		return nil
	}
	return c.unreadEvidence(t.id, nil)
}

// unreadEvidence returns the first error of a read of the resources in evidenceOf, and of those that can prove the ownership of these. A
// resource that does not exist, or that the identity has no right to read, proves nothing, so such an error does not count. through has the
// resources on the way to id.
func (c *convergence) unreadEvidence(id arm.ID, through []arm.ID) error {
	if slices.ContainsFunc(through, id.Equal) {
		return nil
	}
	for _, other := range c.evidenceOf(id) {
		err := c.found[other.Key()].Err
		if err == nil {
			err = c.unreadEvidence(other, append(slices.Clone(through), id))
		}
		if err != nil && !arm.IsNotFound(err) && !arm.IsForbidden(err) {
			return err
		}
	}
	return nil
}

// evidenceOf lists the resources that can prove the ownership of another one.
func (c *convergence) evidenceOf(id arm.ID) []arm.ID {
	row, err := types.ForID(id)
	if err != nil {
		return nil
	}
	out := append(c.owningAncestors(id), c.evidenceByUse(c.found[id.Key()])...)
	if len(row.OwnerReferences) == 0 {
		return out
	}
	out = append(out, c.identityHolders(c.request.Graph.Node(id))...)
	if body, err := arm.DecodeBody(c.found[id.Key()].Body); err == nil {
		for _, path := range row.OwnerReferences {
			out = append(out, arm.ID(jsonpath.GetText(body, path)))
		}
	}
	return out
}

// withOwnerTags returns a body with the owner's tags. Plans leave them out for resources that they take for foreign ones.
func withOwnerTags(body any, owner Owner) any {
	object, ok := body.(map[string]any)
	if !ok || bodyHasOwnerTag(object, owner) {
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

// tagValue returns the value of a tag. Tag names are not case-sensitive.
func tagValue(tags map[string]string, key string) (string, bool) {
	for other, value := range tags {
		if strings.EqualFold(other, key) {
			return value, true
		}
	}
	return "", false
}

// ownershipTagError returns the error of a resource whose ownership tag was removed.
func ownershipTagError(s situation) error {
	return &arm.Error{Method: http.MethodGet, ID: s.id, Status: http.StatusOK, Code: CodeOwnershipTagRemoved,
		Message: ownershipTagMessage(s)}
}

// ownershipTagMessage explains that no proof of ownership is left, and gives the commands to hand the resource back or to release it.
func ownershipTagMessage(s situation) string {
	tag, consequence := s.owner.TagKey+"="+s.owner.TagValue, "The provider neither changes nor deletes it"
	if s.node != nil && s.node.Foreign == arm.AdoptForeign {
		consequence = "The provider keeps it in line with the spec and does not delete it"
	}
	switch {
	case s.otherOwnerTag != "":
		return fmt.Sprintf("The object's annotations record that %s was created for this cluster, but it carries the tag %s of another cluster instead of %s. %s", s.id, s.otherOwnerTag, tag, consequence)
	case !s.row.Taggable:
		return fmt.Sprintf("The object's annotations record that %s was created for this cluster, but %s lacks the tag %s that would prove it. %s. If it belongs to the cluster, delete it: az resource delete --ids %s",
			s.id, s.inheritsFrom, tag, consequence, arm.ShellQuote(string(s.id)))
	}
	merge := "az tag update --resource-id " + arm.ShellQuote(string(s.id)) + " --operation Merge --tags "
	return fmt.Sprintf("The object's annotations record that %s was created for this cluster, but it has lost the tag %s, and Azure has no other proof. %s. "+
		"If it belongs to the cluster, hand it back: %s%s. If not, or to keep it when the cluster is deleted, give it up: %s%s=%s",
		s.id, tag, consequence, merge, arm.ShellQuote(tag), merge, arm.ShellQuote(s.owner.TagKey), releasedTagValue)
}
