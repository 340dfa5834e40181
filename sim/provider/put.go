package provider

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/definition"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const statePath = "properties.provisioningState"

// CanonicalID returns the ID under which the call's resource is or will be stored: fixed parts in Azure's casing, the group and the
// parents as they were first written.
func (c *Call) CanonicalID() string {
	if it := c.FindItem(c.ID.String()); it != nil {
		return it.ID
	}
	if c.ID.Namespace == "" {
		return c.ID.String()
	}
	last := lastType(c.Type.Name)
	if len(c.ID.Names) > 1 {
		if p := c.FindItem(c.ID.Parent().String()); p != nil {
			return p.ID + "/" + last + "/" + c.ID.Name()
		}
	}
	id := c.ID
	id.Namespace, _, _ = strings.Cut(c.Type.Name, "/")
	id.Types = strings.Split(c.Type.Name, "/")[1:]
	if it := c.FindItem(c.ID.Scope); it != nil {
		id.Scope = it.ID
	}
	return id.String()
}

// PutResource creates or replaces the call's resource.
func (c *Call) PutResource() (*Reply, error) {
	t := c.Type
	if t.ReadOnly {
		return nil, Errorf(405, "MethodNotAllowed", "The resource type '%s' cannot be written directly; write its parent.", t.Name)
	}
	if err := c.checkGroup(true); err != nil {
		return nil, err
	}
	if err := c.checkParent(); err != nil {
		return nil, err
	}
	c.decodeBody()
	id := c.CanonicalID()
	if err := c.CheckLocks("PUT", id); err != nil {
		return nil, err
	}
	if t.Inline != "" {
		return c.putInline(id)
	}
	old := c.Get(id)
	if err := c.checkEtag(etagOf(old), old != nil); err != nil {
		return nil, err
	}
	if old == nil {
		if err := t.checkName(c.ID.Name()); err != nil {
			return nil, err
		}
	}
	loc, err := c.checkLocation(old, c.Body)
	if err != nil {
		return nil, err
	}
	if err := c.checkBusy(); err != nil {
		return nil, err
	}
	sent := body.Clone(c.Body)
	definition.DropReadOnly(t.Name, c.APIVersion, sent)
	d := &Draft{ID: id, Name: c.ID.Name(), Location: loc, Sent: sent, New: c.dropReadOnly(sent, t), Secret: body.Object{}}
	if old != nil {
		c.dropUnasked(t, id, old.Body, d.New)
		d.Old = old.Body
		d.Name = old.Name()
		if old.Secret != nil {
			d.Secret = body.Clone(old.Secret)
		}
		if t.PutMerges {
			merged := body.Clone(old.Body)
			body.Overlay(merged, d.New)
			if sent := d.New["tags"]; sent != nil || c.PutDropsTags {
				merged["tags"] = sent
			}
			d.New = merged
		}
	}
	if loc != "" {
		d.New["location"] = loc
	}
	if err := checkTags(t, d.New); err != nil {
		return nil, err
	}
	var shown body.Object
	if old != nil {
		shown = c.RenderResource(old)
	}
	values, err := c.checkDefinition(shown)
	if err != nil {
		return nil, err
	}
	if err := c.prepareDraft(d); err != nil {
		return nil, err
	}
	if err := c.refuseValue(values); err != nil {
		return nil, err
	}
	return c.storeDraft(d, old)
}

// dropReadOnly returns a copy of a type's body without the properties that the caller cannot set.
func (c *Call) dropReadOnly(b body.Object, t *Type) body.Object {
	n := body.Clone(b)
	if n == nil {
		n = body.Object{}
	}
	for _, k := range []string{"id", "name", "type", "etag", "systemData", statePath} {
		body.Delete(n, k)
	}
	definition.DropReadOnly(t.Name, c.APIVersion, n)
	for _, p := range t.ReadOnlyPaths {
		body.Strip(n, p)
	}
	if !t.NoState || body.Has(n, "properties") {
		if body.Child(n, "properties") == nil {
			n["properties"] = body.Object{}
		}
	}
	dropNulls(n)
	if t.Style == Network {
		keepReferences(n, c.ID.Top().String())
	}
	return n
}

// dropNulls removes null values, which ARM treats as absent.
func dropNulls(o body.Object) {
	for k, v := range o {
		switch v := v.(type) {
		case nil:
			delete(o, k)
		case body.Object:
			dropNulls(v)
		case []any:
			for _, e := range v {
				if m, ok := e.(body.Object); ok {
					dropNulls(m)
				}
			}
		}
	}
}

// prepareDraft runs the type's own rules and those of its inline children on the draft.
func (c *Call) prepareDraft(d *Draft) error {
	t := c.Type
	if err := c.checkEdgeZone(d); err != nil {
		return err
	}
	if d.Old != nil {
		for _, p := range t.Immutable {
			was, is := body.Get(d.Old, p), body.Get(d.New, p)
			if a, ok := was.(body.Object); ok {
				if b, ok := is.(body.Object); ok {
					// A property that is left out of an object keeps its value.
					merged := body.Clone(a)
					body.Overlay(merged, b)
					body.Set(d.New, p, merged)
					is = merged
				}
			}
			if was != nil && is == nil {
				body.Set(d.New, p, was)
			} else if !body.Equal(was, is) {
				return Errorf(409, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.",
					strings.TrimPrefix(p, "properties.")).WithTarget(strings.TrimPrefix(p, "properties."))
			}
		}
	}
	if err := c.fillIdentity(d); err != nil {
		return err
	}
	if err := c.splitInline(d); err != nil {
		return err
	}
	if t.Prepare != nil {
		if err := t.Prepare(c, d); err != nil {
			return err
		}
	}
	return c.prepareInline(d)
}

// storeDraft writes the draft and starts its operation.
func (c *Call) storeDraft(d *Draft, old *store.Resource) (*Reply, error) {
	t := c.Type
	r := &store.Resource{ID: d.ID, Type: t.Name, Location: d.Location, Body: body.Clone(d.New)}
	if len(d.Secret) > 0 {
		r.Secret = body.Clone(d.Secret)
	}
	verb, timing, retry := "create", t.Create, t.RetryAfter
	status := 201
	if old != nil {
		verb, status = "update", 200
		if t.Update != (Timing{}) {
			timing = t.Update
		}
		if t.UpdateRetryAfter != 0 {
			retry = max(0, t.UpdateRetryAfter)
		}
	}
	status = t.acceptedStatus(status, t.NoState || timing.LRO == 0 || t.Style == Sync)
	unchanged := old != nil && !t.Works && !t.NoState && c.isUnchanged(old, r)
	unusual := c.unusualAnswer("PUT", r.Body, old != nil, unchanged)
	status = cmp.Or(unusual.Status, status)
	if t.NoState {
		c.SaveResource(r)
		rep := c.replyWith(status, c.Get(r.ID))
		if t.LocationHeader && status == 201 {
			rep.Header = map[string]string{"Location": renderID(t, r.ID)}
		}
		return rep, nil
	}
	if unchanged {
		rep := c.replyWith(cmp.Or(unusual.Status, http.StatusOK), old)
		if t.Style == Network && timing.LRO > 0 && !unusual.NoOperation {
			rep.Operation = c.startEnded(verb, d.ID)
		}
		return rep, nil
	}
	if old != nil && t.Style == Network && timing.LRO > 0 && !t.Immediate && c.onlyTags(old, r) {
		// The network provider then has nothing to do and answers Succeeded at once. It sends the header, but the
		// operation is over.
		setState(r.Body, c.InlineTypes(t.Name), store.Succeeded)
		c.SaveResource(r)
		rep := c.replyWith(status, c.Get(d.ID))
		rep.Operation = c.startEnded(verb, d.ID)
		return rep, nil
	}
	if timing.LRO == 0 || t.Style == Sync {
		setState(r.Body, c.InlineTypes(t.Name), store.Succeeded)
		c.SaveResource(r)
		if t.Finish != nil {
			if err := t.Finish(c, nil, r); err != nil {
				return nil, err
			}
			c.SaveResource(r)
		}
		return c.replyWith(status, c.Get(r.ID)), nil
	}
	immediate := t.isImmediate(d)
	state := "Updating"
	if old == nil {
		state = t.initialState()
	}
	body.Set(r.Body, statePath, state)
	if immediate {
		// Parts that an earlier operation left Failed are written, too.
		setState(r.Body, c.InlineTypes(t.Name), store.Succeeded)
	}
	c.SaveResource(r)
	op := c.StartOperation(verb, d.ID, timing)
	if immediate {
		// The resource is usable at once; only the operation record ends later.
		op.Keys = nil
		op.Data = body.Object{"immediate": true}
		if op.Error == nil && t.Finish != nil {
			r = c.Edit(d.ID)
			if err := t.Finish(c, op, r); err != nil {
				return nil, err
			}
			c.SaveResource(r)
		}
		op.Due = c.Now()
		c.PutOperation(op)
	}
	rep := c.replyWith(status, c.Get(d.ID))
	if status == http.StatusAccepted && len(t.Echoes) > 0 {
		rep.Body = c.echoSent(d, rep.Body.(body.Object))
	}
	rep.Operation = op
	if !immediate {
		rep.RetryAfter = time.Duration(retry) * time.Second
	}
	return rep, nil
}

// echoSent returns the sent part of a draft, before the provider has changed it. Parts of the resource's sku, tier and
// size in bytes that an update leaves out are shown with their current values.
func (c *Call) echoSent(d *Draft, shown body.Object) body.Object {
	out := body.Clone(d.Sent)
	dropNulls(out)
	for _, key := range append([]string{"name", "location"}, c.Type.Echoes...) {
		out[key] = shown[key]
	}
	if body.Child(out, "properties") != nil {
		body.Set(out, statePath, body.String(shown, statePath))
	}
	if d.Old != nil {
		for _, path := range []string{"sku", "properties.tier", "properties.diskSizeBytes"} {
			// Recordings of 2024-03-02 do not have the size, those of 2025-01-02 do.
			if path == "properties.diskSizeBytes" && c.APIVersion < "2025-01-02" {
				continue
			}
			if was := body.Get(shown, path); was != nil {
				body.Default(out, path, was)
			}
		}
	}
	return out
}

// isUnchanged reports whether a PUT leaves a healthy resource as it is.
func (c *Call) isUnchanged(old, r *store.Resource) bool {
	if body.String(old.Body, statePath) != store.Succeeded || !body.Equal(old.Secret, r.Secret) {
		return false
	}
	n := body.Clone(r.Body)
	setState(n, c.InlineTypes(c.Type.Name), store.Succeeded)
	return body.Equal(old.Body, n)
}

// acceptedStatus returns the status of a PUT that the type answers with status, or with another: 202 is for operations only.
func (t *Type) acceptedStatus(status int, once bool) int {
	if t.AcceptedStatus == 0 || once && t.AcceptedStatus == http.StatusAccepted {
		return status
	}
	return t.AcceptedStatus
}

// isImmediate reports whether a PUT of this draft answers Succeeded at once.
func (t *Type) isImmediate(d *Draft) bool { return t.Immediate && (t.Waits == nil || !t.Waits(d)) }

// onlyTags reports whether a PUT changes only the tags of a healthy resource.
func (c *Call) onlyTags(old, r *store.Resource) bool {
	a, b := *old, *r
	a.Body, b.Body = body.Clone(old.Body), body.Clone(r.Body)
	delete(a.Body, "tags")
	delete(b.Body, "tags")
	return c.isUnchanged(&a, &b)
}

// startEnded records an operation that is over already: it changes nothing, and a client does not wait for it.
func (c *Call) startEnded(verb, id string) *store.Operation {
	op := c.StartOperation(verb, id, Timing{})
	op.Keys, op.Due, op.MinPolls, op.Data = nil, c.Now(), 0, body.Object{"immediate": true}
	c.PutOperation(op)
	return op
}

func setState(b body.Object, inline []*Type, state string) {
	body.Set(b, statePath, state)
	for _, t := range inline {
		if t.NoState {
			continue
		}
		for _, e := range body.Objects(b, t.Inline) {
			body.Set(e, statePath, state)
		}
	}
}

// SaveResource stores r with a new etag.
func (c *Call) SaveResource(r *store.Resource) {
	switch c.TypeOf(r.Type).Etag {
	case Weak:
		r.Etag = `W/"` + c.NewGUID() + `"`
	case Bare:
		r.Etag = c.NewGUID()
	case Quoted:
		r.Etag = `"` + c.NewGUID() + `"`
	case Counter:
		r.Etag = `"` + strconv.Itoa(r.Version+1) + `"`
		if old := c.Get(r.ID); old != nil {
			r.Etag = `"` + strconv.Itoa(old.Version+1) + `"`
		}
	}
	if own := c.Method == http.MethodPut || c.Method == http.MethodPatch; own && !c.Internal && store.SameID(c.ID.String(), r.ID) {
		r.Written = c.Now()
	}
	cp := *r
	cp.Body = body.Clone(r.Body)
	cp.Secret = body.Clone(r.Secret)
	c.Tx.Put(&cp)
}

func etagOf(r *store.Resource) string {
	if r == nil {
		return ""
	}
	return r.Etag
}

func (c *Call) replyWith(status int, r *store.Resource) *Reply {
	return &Reply{Status: status, Body: c.RenderResource(r), Etag: r.Etag}
}

// fillIdentity gives identities their principal and checks user-assigned ones.
func (c *Call) fillIdentity(d *Draft) error {
	id := body.Child(d.New, "identity")
	if id == nil {
		return nil
	}
	kind := strings.ToLower(body.String(id, "type"))
	if strings.Contains(kind, "systemassigned") {
		if old := body.String(d.Old, "identity.principalId"); old != "" {
			id["principalId"] = old
		} else {
			id["principalId"] = c.NewGUID()
		}
		id["tenantId"] = c.Tenant
	} else {
		delete(id, "principalId")
		delete(id, "tenantId")
	}
	dropIdentities(d, id, kind)
	users, _ := id["userAssignedIdentities"].(body.Object)
	for uid := range body.Sorted(users) {
		it := c.FindItem(uid)
		if it == nil {
			return Errorf(400, "FailedIdentityOperation",
				"Identity operation for resource '%s' failed with error 'Failed to perform resource identity operation. Status: 'BadRequest'. Response: '{\"error\":{\"code\":\"BadRequest\",\"message\":\"Resource '%s' was not found.\"}}'.'.", d.ID, uid)
		}
		users[uid] = body.Object{"principalId": body.String(it.Body, "properties.principalId"),
			"clientId": body.String(it.Body, "properties.clientId")}
	}
	return nil
}

// dropIdentities removes user-assigned identities that the request has as null, and all of them where the type has none.
// https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/qs-configure-rest-vmss
func dropIdentities(d *Draft, id body.Object, kind string) {
	users, _ := id["userAssignedIdentities"].(body.Object)
	if !strings.Contains(kind, "userassigned") {
		delete(id, "userAssignedIdentities")
		return
	}
	for uid, value := range body.Child(d.Sent, "identity.userAssignedIdentities") {
		for have := range users {
			if value == nil && store.SameID(have, uid) {
				delete(users, have)
			}
		}
	}
}
