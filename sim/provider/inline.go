package provider

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// splitInline brings the child arrays of a parent's PUT into stored form and decides the meaning of an omitted array.
func (c *Call) splitInline(d *Draft) error {
	for _, t := range c.InlineTypes(c.Type.Name) {
		if !body.Has(d.Sent, t.Inline) || body.Get(d.Sent, t.Inline) == nil {
			if d.Old != nil && t.KeepOmitted != nil && t.KeepOmitted(c.APIVersion) {
				body.Set(d.New, t.Inline, body.Get(d.Old, t.Inline))
			} else {
				body.Set(d.New, t.Inline, []any{})
			}
			continue
		}
		var list []body.Object
		seen := map[string]bool{}
		for _, e := range body.Objects(d.New, t.Inline) {
			n := c.dropReadOnly(e, t)
			name := body.String(e, "name")
			if name == "" {
				return networkError(Errorf(400, "InvalidRequestFormat",
					"Cannot parse the request.").WithDetail(Errorf(0, "MissingJsonReferenceName", "An element of %s of resource %s has no name.",
					strings.TrimPrefix(t.Inline, "properties."), d.ID)))
			}
			if seen[strings.ToLower(name)] {
				return networkError(Errorf(400, "InvalidRequestFormat",
					"Cannot parse the request.").WithDetail(Errorf(0, "DuplicateResourceName",
					"Resource %s has two child resources with the same name (%s).", d.ID, name)))
			}
			seen[strings.ToLower(name)] = true
			n["name"] = name
			list = append(list, n)
		}
		if list == nil {
			list = []body.Object{}
		}
		body.Set(d.New, t.Inline, list)
	}
	return nil
}

// prepareInline runs the children's rules after the parent's own.
func (c *Call) prepareInline(d *Draft) error {
	for _, t := range c.InlineTypes(c.Type.Name) {
		var was []body.Object
		if d.Old != nil {
			was = body.Objects(d.Old, t.Inline)
		}
		now := body.Objects(d.New, t.Inline)
		for _, o := range was {
			if _, still := body.FindNamed(now, body.String(o, "name")); still == nil {
				if err := c.canDeleteInline(t, d.ID, o); err != nil {
					return err
				}
			}
		}
		for _, e := range now {
			_, o := body.FindNamed(was, body.String(e, "name"))
			if err := c.prepareChild(t, d, o, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Call) canDeleteInline(t *Type, parentID string, e body.Object) error {
	if t.CanDelete == nil {
		return nil
	}
	name := body.String(e, "name")
	return t.CanDelete(c, &Item{ID: parentID + "/" + lastType(t.Name) + "/" + name, Name: name, Body: body.Clone(e),
		Resource: c.Get(parentID)})
}

// prepareChild validates and defaults one element and sets its state: Updating when it changed.
func (c *Call) prepareChild(t *Type, parent *Draft, old, e body.Object) error {
	name := body.String(e, "name")
	cd := &Draft{ID: parent.ID + "/" + lastType(t.Name) + "/" + name, Name: name, Location: parent.Location, Old: old, New: e,
		Parent: parent.New, ParentID: parent.ID, Secret: body.Object{}, Sent: e}
	if old != nil {
		e["name"] = old["name"]
		c.dropUnasked(t, cd.ID, old, e)
	} else if err := t.checkName(name); err != nil {
		return err
	}
	if t.Prepare != nil {
		sub := *c
		sub.Type = t
		if err := t.Prepare(&sub, cd); err != nil {
			return err
		}
	}
	if t.NoState {
		return nil
	}
	state := "Updating"
	if c.Type.isImmediate(parent) || c.Type.Create.LRO == 0 {
		state = store.Succeeded
	}
	if old != nil {
		was := body.Clone(old)
		body.Delete(was, statePath)
		is := body.Clone(e)
		body.Delete(is, statePath)
		if body.Equal(was, is) {
			state = body.String(old, statePath)
		}
	}
	body.Set(e, statePath, state)
	return nil
}

// putInline writes a child through its own URL: the parent's document changes, and with it the parent's etag.
func (c *Call) putInline(id string) (*Reply, error) {
	t := c.Type
	parent := c.Edit(c.ID.Parent().String())
	list := body.Objects(parent.Body, t.Inline)
	i, old := body.FindNamed(list, c.ID.Name())
	if err := c.checkEtag(parent.Etag, old != nil); err != nil {
		return nil, err
	}
	if err := c.checkBusy(); err != nil {
		return nil, err
	}
	var shown body.Object
	if old != nil {
		shown, _ = c.inlineReply(200, id).Body.(body.Object)
	}
	values, err := c.checkDefinition(shown)
	if err != nil {
		return nil, err
	}
	e := c.dropReadOnly(c.Body, t)
	e["name"] = c.ID.Name()
	if old != nil {
		list[i] = e
	} else {
		list = append(list, e)
	}
	before := body.Clone(old)
	pt := c.TypeOf(parent.Type)
	draft := &Draft{ID: parent.ID, Location: parent.Location, Old: c.Get(parent.ID).Body, New: parent.Body, Secret: body.Object{}}
	body.Set(parent.Body, t.Inline, list)
	_, e = body.FindNamed(body.Objects(parent.Body, t.Inline), c.ID.Name())
	pc := *c
	pc.Type, pc.edge = pt, EdgeZoneOf(parent.Body)
	if err := pc.prepareChild(t, draft, before, e); err != nil {
		return nil, err
	}
	if err := c.refuseValue(values); err != nil {
		return nil, err
	}
	status, verb := 201, "create"
	if old != nil {
		status, verb = 200, "update"
		if body.Equal(before, e) && body.String(e, statePath) == store.Succeeded {
			rep := c.inlineReply(200, id)
			if t.Create.LRO > 0 {
				rep.Operation = c.startEnded(verb, id)
			}
			return rep, nil
		}
	}
	if t.Create.LRO == 0 || t.Immediate {
		body.Set(e, statePath, store.Succeeded)
	} else {
		body.Set(e, statePath, "Updating")
		if t.Style == Compute && old == nil {
			body.Set(e, statePath, "Creating")
		}
		body.Set(parent.Body, statePath, "Updating")
	}
	c.SaveResource(parent)
	rep := c.inlineReply(status, id)
	if t.Create.LRO == 0 {
		return rep, nil
	}
	op := c.StartOperation(verb, id, t.Create)
	if t.Immediate {
		op.Keys, op.Due, op.Data = nil, c.Now(), body.Object{"immediate": true}
		c.PutOperation(op)
	}
	rep.Operation, rep.RetryAfter = op, time.Duration(t.RetryAfter)*time.Second
	return rep, nil
}

func (c *Call) inlineReply(status int, id string) *Reply {
	it := c.FindItem(id)
	return &Reply{Status: status, Body: c.renderItem(c.Type, it), Etag: it.Resource.Etag}
}
