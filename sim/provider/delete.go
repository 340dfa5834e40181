package provider

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// DeleteResource deletes the call's resource.
func (c *Call) DeleteResource() (*Reply, error) {
	t := c.Type
	if t.ReadOnly {
		return nil, Errorf(405, "MethodNotAllowed", "The resource type '%s' cannot be deleted directly; write its parent.", t.Name)
	}
	if err := c.checkGroup(true); err != nil {
		return nil, err
	}
	it := c.FindItem(c.ID.String())
	if it == nil {
		if c.checkParent() != nil && !c.Internal {
			return nil, c.missingParent()
		}
		return &Reply{Status: 204}, nil
	}
	if !c.Internal {
		if err := c.CheckLocks("DELETE", it.ID); err != nil {
			return nil, err
		}
	}
	if err := c.checkEtag(it.Resource.Etag, true); err != nil {
		return nil, err
	}
	if op := c.RunningOn(it.ID); op != nil && op.Verb == "delete" && store.SameID(op.ResourceID, it.ID) {
		return &Reply{Status: 202, Operation: op, RetryAfter: c.deleteRetry()}, nil
	}
	if t.Style == Compute || t.Style == Disk {
		if len(c.ID.Names) == 1 {
			c.preemptOperations(it.ID)
		}
	}
	if err := c.checkBusy(); err != nil {
		return nil, err
	}
	if t.CanDelete != nil {
		if err := t.CanDelete(c, it); err != nil {
			return nil, err
		}
	}
	if t.Inline == "" {
		if err := c.canDeleteChildren(it); err != nil {
			return nil, err
		}
		if t.StartDelete != nil {
			t.StartDelete(c, it.Resource)
		}
	}
	unusual := c.unusualAnswer("DELETE", c.renderItem(t, it), true, false)
	if t.Delete.LRO == 0 || t.Style == Sync || unusual.Status == http.StatusOK {
		status := cmp.Or(t.DeleteStatus, http.StatusOK)
		rep := &Reply{Status: status}
		if t.Style == Sync && t.DeleteStatus == 0 && t.Extension {
			rep.Body = c.renderItem(t, it)
		}
		if unusual.Status != 0 && !unusual.NoOperation {
			rep.Operation = c.startEnded("delete", it.ID)
		}
		c.eraseItem(t, it)
		return rep, nil
	}
	c.markDeleting(t, it)
	op := c.StartOperation("delete", it.ID, t.Delete)
	rep := &Reply{Status: 202, Operation: op, RetryAfter: c.deleteRetry()}
	if t.DeleteShows {
		rep.Body = c.renderItem(t, c.FindItem(it.ID))
	}
	return rep, nil
}

func (c *Call) deleteRetry() time.Duration {
	if c.Type.DeleteRetryAfter < 0 {
		return 0
	}
	if c.Type.DeleteRetryAfter > 0 {
		return time.Duration(c.Type.DeleteRetryAfter) * time.Second
	}
	return 10 * time.Second
}

// canDeleteChildren asks the inline children of a parent that is to go.
func (c *Call) canDeleteChildren(it *Item) error {
	for _, t := range c.InlineTypes(c.Type.Name) {
		for _, e := range body.Objects(it.Body, t.Inline) {
			if err := c.canDeleteInline(t, it.ID, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Call) markDeleting(t *Type, it *Item) {
	r := c.Edit(it.Resource.ID)
	if t.Inline != "" {
		_, e := body.FindNamed(body.Objects(r.Body, t.Inline), it.Name)
		body.Set(e, statePath, "Deleting")
		body.Set(r.Body, statePath, "Updating")
	} else {
		body.Set(r.Body, statePath, "Deleting")
	}
	c.SaveResource(r)
}

// EraseTree removes a stored resource and everything nested in it at once, without any checks.
func (c *Call) EraseTree(id string) {
	if it := c.FindItem(id); it != nil {
		c.eraseItem(c.TypeOf(it.Resource.Type), it)
	}
}

func (c *Call) eraseItem(t *Type, it *Item) {
	if t.Inline != "" {
		r := c.Edit(it.Resource.ID)
		var keep []body.Object
		for _, e := range body.Objects(r.Body, t.Inline) {
			if !strings.EqualFold(body.String(e, "name"), it.Name) {
				keep = append(keep, e)
			}
		}
		if keep == nil {
			keep = []body.Object{}
		}
		body.Set(r.Body, t.Inline, keep)
		if body.String(r.Body, statePath) == "Updating" {
			body.Set(r.Body, statePath, store.Succeeded)
		}
		if t.Deleted != nil {
			t.Deleted(c, r)
		}
		c.SaveResource(r)
		return
	}
	r := it.Resource
	c.Tx.Delete(r.ID)
	for _, child := range c.Children(r.ID) {
		c.Tx.Delete(child.ID)
		if ct := c.TypeOf(child.Type); ct != nil && ct.Deleted != nil {
			ct.Deleted(c, child)
		}
	}
	if t.Deleted != nil {
		t.Deleted(c, r)
	}
}
