package provider

import (
	"errors"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// StartOperation begins a long-running operation on a resource.
func (c *Call) StartOperation(verb, resourceID string, timing Timing) *store.Operation {
	op := &store.Operation{
		ID: c.NewGUID(), Style: string(c.Type.Style), ResourceID: resourceID, Type: c.Type.Name, Verb: verb,
		Location: c.operationLocation(resourceID), APIVersion: c.APIVersion, Principal: c.Principal.ObjectID, RequestID: c.RequestID,
		Started: c.Now(), Status: store.InProgress, Keys: c.serialKeys(),
	}
	d := c.ScaleDuration(c.DrawDuration(timing.LRO, timing.Spread))
	op.Due = op.Started.Add(d)
	if d == 0 {
		op.MinPolls = 1
	}
	if c.OperationFault != nil {
		c.OperationFault(op)
		// An operation that waits for others is due at its usual time; it only must not end before them.
		if !op.Earliest.IsZero() && (verb != "delete" || c.Type.WaitDelete == nil) {
			op.Due = op.Earliest
		}
	}
	c.PutOperation(op)
	return op
}

func (c *Call) operationLocation(id string) string {
	if it := c.FindItem(id); it != nil && it.Location != "" {
		return it.Location
	}
	return "global"
}

// CompleteOperation ends the operation, or moves its due time when something it waits for is not done.
func (c *Call) CompleteOperation(op *store.Operation) {
	op = c.Operation(op.ID)
	err := c.runCompletion(op)
	if d, later := c.postponedFor(err); later {
		op.Due = c.Now().Add(d)
		c.PutOperation(op)
		return
	}
	op.Status, op.Ended = store.Succeeded, c.Now()
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			e = Errorf(500, "InternalServerError", "%s", err.Error())
		}
		op.Status, op.Error = op.FailedState(), e.InnerObject(op.Style == string(Network))
	}
	c.PutOperation(op)
}

func (c *Call) runCompletion(op *store.Operation) error {
	t := c.TypeOf(op.Type)
	if t == nil {
		return Errorf(500, "InternalServerError", "The resource type %s is no longer served.", op.Type)
	}
	c.Type = t
	fault := faultOf(op)
	if body.Bool(op.Data, "immediate") {
		if fault != nil {
			return fault
		}
		return nil
	}
	it := c.FindItem(op.ResourceID)
	if it == nil {
		return nil
	}
	r := c.Edit(it.Resource.ID)
	switch op.Verb {
	case "create", "update":
		return c.completePut(op, t, it, r, fault)
	case "delete":
		if fault != nil {
			c.setStates(t, r, it, op.FailedState())
			return fault
		}
		if t.WaitDelete != nil {
			if err := t.WaitDelete(c, op, r); err != nil {
				if _, later := c.postponedFor(err); !later {
					state := store.Failed
					if t.Style == Group {
						state = store.Succeeded // Azure rolls a blocked resource group back
					}
					c.setStates(t, c.Edit(it.Resource.ID), it, state)
				}
				return err
			}
			if early := op.Earliest.Sub(c.Now()); early > 0 {
				return Wait(early)
			}
		}
		c.eraseItem(t, c.FindItem(op.ResourceID))
		return nil
	case "patch":
		if fault == nil && t.Finish != nil {
			return c.completePut(op, t, it, r, nil)
		}
		c.setStates(t, r, it, store.Succeeded)
		return fault.orNil()
	default:
		a := t.Actions[strings.TrimPrefix(op.Verb, posted)]
		if fault != nil {
			if a != nil && a.Break != nil {
				a.Break(c, op, r)
			}
			return fault
		}
		if a == nil || a.Finish == nil {
			return nil
		}
		if err := a.Finish(c, op, r); err != nil {
			return err
		}
		if c.Get(r.ID) != nil {
			c.SaveResource(r)
		}
		return nil
	}
}

func (c *Call) completePut(op *store.Operation, t *Type, it *Item, r *store.Resource, fault *Error) error {
	if fault != nil {
		c.setStates(t, r, it, op.FailedState())
		return fault
	}
	if t.Finish != nil {
		if err := t.Finish(c, op, r); err != nil {
			if _, later := c.postponedFor(err); !later {
				failed := c.Edit(it.Resource.ID)
				c.setStates(t, failed, it, store.Failed)
			}
			return err
		}
	}
	c.setStates(t, r, it, store.Succeeded)
	if op.Style == string(Disk) {
		shown := *c
		shown.Internal = false // in the version that the operation was begun in
		op.Result = shown.RenderResource(c.Get(r.ID))
	}
	return nil
}

// setStates ends the states the operation had set and stores r.
func (c *Call) setStates(t *Type, r *store.Resource, it *Item, state string) {
	if t.Inline != "" {
		_, e := body.FindNamed(body.Objects(r.Body, t.Inline), it.Name)
		if e != nil {
			body.Set(e, statePath, state)
		}
		body.Set(r.Body, statePath, store.Succeeded)
	} else {
		body.Set(r.Body, statePath, state)
		for _, ct := range c.InlineTypes(t.Name) {
			for _, e := range body.Objects(r.Body, ct.Inline) {
				if !ct.NoState {
					body.Set(e, statePath, state)
				}
			}
		}
	}
	c.SaveResource(r)
}

func (e *Error) orNil() error {
	if e == nil {
		return nil
	}
	return e
}

// faultOf reads the failure the fault script put on an operation.
func faultOf(op *store.Operation) *Error {
	if op.Error == nil {
		return nil
	}
	e := Errorf(0, body.String(op.Error, "code"), "%s", body.String(op.Error, "message"))
	e.Target = body.String(op.Error, "target")
	for _, detail := range body.Objects(op.Error, "details") {
		e = e.WithDetail(Errorf(0, body.String(detail, "code"), "%s", body.String(detail, "message")))
	}
	return e
}

// posted stands before the verb of an action whose name would otherwise mean something else: a scale set's POST delete, of some of
// its instances.
const posted = "post "

// RunAction answers a POST action on the call's resource.
func (c *Call) RunAction(name string) (*Reply, error) {
	if err := c.checkGroup(true); err != nil {
		return nil, err
	}
	it := c.FindItem(c.ID.String())
	if it == nil {
		return nil, c.NotFound()
	}
	if err := c.CheckLocks("POST", it.ID); err != nil {
		return nil, err
	}
	a := c.Type.Actions[strings.ToLower(name)]
	if a.Timing.LRO > 0 {
		if err := c.checkBusy(); err != nil {
			return nil, err
		}
	}
	var notes body.Object
	if a.Start != nil {
		rep, err := a.Start(c, it.Resource)
		if err != nil || a.Timing.LRO == 0 {
			return rep, err
		}
		if rep != nil {
			notes, _ = rep.Body.(body.Object)
		}
	}
	retry := a.RetryAfter
	if retry == 0 {
		retry = 10
	}
	verb := strings.ToLower(name)
	if verb == "delete" {
		verb = posted + verb
	}
	op := c.StartOperation(verb, it.ID, a.Timing)
	if notes != nil {
		op.Data = notes
		c.PutOperation(op)
	}
	return &Reply{Status: 202, Operation: op, RetryAfter: time.Duration(retry) * time.Second}, nil
}

// PatchResource answers PATCH. Without a Patch hook only tags may change, and they are replaced as a whole.
func (c *Call) PatchResource() (*Reply, error) {
	t := c.Type
	if err := c.checkGroup(true); err != nil {
		return nil, err
	}
	it := c.FindItem(c.ID.String())
	if it == nil {
		return nil, c.NotFound()
	}
	if t.Inline != "" || t.ReadOnly {
		return nil, Errorf(405, "MethodNotAllowed", "The requested resource does not support http method 'PATCH'.")
	}
	if err := c.CheckLocks("PATCH", it.ID); err != nil {
		return nil, err
	}
	if err := c.checkEtag(it.Resource.Etag, true); err != nil {
		return nil, err
	}
	c.decodeBody()
	values, err := c.checkDefinition(c.RenderResource(it.Resource))
	if err != nil {
		return nil, err
	}
	r := c.Edit(it.ID)
	n := body.Clone(c.Body)
	if n == nil {
		n = body.Object{}
	}
	if err := checkTags(t, n); err != nil {
		return nil, err
	}
	if t.Patch == nil {
		if tags, ok := n["tags"]; ok {
			r.Body["tags"] = tags
		}
		c.SaveResource(r)
		return c.replyWith(200, c.Get(r.ID)), nil
	}
	if err := c.checkBusy(); err != nil {
		return nil, err
	}
	old := c.Get(it.ID)
	d := &Draft{ID: r.ID, Name: r.Name(), Location: r.Location, Old: old.Body, New: r.Body, Sent: n, Secret: r.Secret}
	if d.Secret == nil {
		d.Secret = body.Object{}
	}
	clean := c.dropReadOnly(n, t)
	body.Overlay(d.New, clean)
	if tags, ok := clean["tags"]; ok {
		d.New["tags"] = tags
	}
	if err := c.checkEdgeZone(d); err != nil {
		return nil, err
	}
	if err := c.fillIdentity(d); err != nil {
		return nil, err
	}
	if err := t.Patch(c, d); err != nil {
		return nil, err
	}
	if err := c.refuseValue(values); err != nil {
		return nil, err
	}
	if len(d.Secret) > 0 {
		r.Secret = d.Secret
	}
	if t.PatchLRO.LRO == 0 {
		c.SaveResource(r)
		return c.replyWith(200, c.Get(r.ID)), nil
	}
	body.Set(r.Body, statePath, "Updating")
	c.SaveResource(r)
	op := c.StartOperation("patch", r.ID, t.PatchLRO)
	rep := c.replyWith(200, c.Get(r.ID))
	rep.Operation, rep.RetryAfter = op, time.Duration(t.RetryAfter)*time.Second
	return rep, nil
}
