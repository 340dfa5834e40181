package provider

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// RenderResource shows a stored resource as its provider would.
func (c *Call) RenderResource(r *store.Resource) body.Object {
	return c.renderItem(c.TypeOf(r.Type), &Item{ID: r.ID, Name: r.Name(), Location: r.Location, Body: r.Body, Resource: r})
}

func (c *Call) renderItem(t *Type, it *Item) body.Object {
	out := body.Clone(it.Body)
	out["id"], out["name"], out["type"] = renderID(t, it.ID), it.Name, t.Name
	if t.Style == PrivateDNS {
		out["name"] = strings.ToLower(it.Name)
	}
	if t.Inline == "" && it.Location != "" && !t.Untracked {
		out["location"] = it.Location
	}
	if t.Etag != NoEtag && it.Resource != nil && it.Resource.Etag != "" && (c.APIVersion == "" || c.APIVersion >= t.EtagSince) {
		out["etag"] = it.Resource.Etag
	}
	shown := &Item{ID: it.ID, Name: it.Name, Location: it.Location, Body: out, Resource: it.Resource}
	for _, ct := range c.InlineTypes(t.Name) {
		list := []any{}
		for _, e := range body.Objects(out, ct.Inline) {
			name := body.String(e, "name")
			list = append(list, c.renderItem(ct,
				&Item{ID: it.ID + "/" + lastType(ct.Name) + "/" + name, Name: name, Location: it.Location, Body: e, Resource: it.Resource}))
		}
		body.Set(out, ct.Inline, list)
	}
	if t.View != nil {
		t.View(c, shown)
	}
	if c.APIVersion != "" && !c.Internal {
		showUnasked(t.Name, c.APIVersion, c.ID.IsCollection(), out, c.Env.pairOf)
	}
	c.hideOtherVersions(t, out)
	return out
}

func renderID(t *Type, id string) string {
	if t.Style == PrivateDNS {
		return lowerNames(id)
	}
	if t.LowerID {
		return strings.Replace(id, "/resourceGroups/", "/resourcegroups/", 1)
	}
	return id
}

// lowerNames returns an ID with the names of the group and the resources in lower case, as private DNS answers with them. Recorded in
// sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, virtualnetworklinkclient.
func lowerNames(id string) string {
	segments := strings.Split(id, "/")
	for i := 4; i < len(segments); i++ {
		// /subscriptions/S/resourceGroups/G/providers/N/type/name/type/name
		if i == 4 || i > 6 && i%2 == 0 {
			segments[i] = strings.ToLower(segments[i])
		}
	}
	return strings.Join(segments, "/")
}

// NotFound returns the answer for the call's resource, which does not exist.
func (c *Call) NotFound() error {
	if c.Type.Missing != nil {
		if err := c.checkParent(); err != nil {
			return err
		}
		if e := c.Type.Missing(c); e != nil {
			return e
		}
	}
	if len(c.ID.Names) > 1 {
		switch c.Type.Style {
		case Network:
			if err := c.checkParent(); err != nil && c.Type.Inline == "" {
				return err
			}
			if c.FindItem(c.ID.Top().String()) == nil {
				return ResourceNotFound(c.ID.Top())
			}
			return networkError(Errorf(404, "NotFound", "Resource %s not found.", c.ID.String()))
		case Compute:
			if err := c.checkParent(); err != nil {
				return err
			}
			e := Errorf(404, "NotFound", "The entity was not found in this Azure location.")
			if strings.HasSuffix(c.Type.Name, "/virtualMachines/extensions") {
				e.Target = "extensionName"
			}
			return e
		}
		if err := c.checkParent(); err != nil {
			return err
		}
		if strings.EqualFold(c.ID.Namespace, "Microsoft.ManagedIdentity") {
			return Errorf(404, "NotFound", "Resource '%s' was not found.", renderID(c.Type, c.ID.String()))
		}
	}
	if c.Type.Extension && strings.EqualFold(lastType(c.Type.Name), "roleAssignments") {
		return Errorf(404, "RoleAssignmentNotFound", "The role assignment '%s' is not found.", c.ID.Name())
	}
	if c.Type.Extension && strings.EqualFold(lastType(c.Type.Name), "roleDefinitions") {
		return Errorf(404, "RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.", c.ID.Name())
	}
	if c.Type.Style == Disk && c.Method == "GET" && c.WasJustDeleted() {
		form := map[string]string{"diskAccesses": "DiskAccess object %s not found.",
			"diskEncryptionSets": "DiskEncryptionSet '%s' was not found.", "snapshots": "Snapshot %s is not found."}[lastType(c.Type.Name)]
		return Errorf(404, "NotFound", cmp.Or(form, "Disk %s is not found."), c.ID.Name())
	}
	if c.ID.Namespace == "" {
		return ResourceGroupNotFound(c.ID.ResourceGroup)
	}
	return ResourceNotFound(c.ID)
}

// justDeleted is how long Compute itself answers for a disk or snapshot that it has deleted. Recordings have its answer only seconds after the
// deletion; who asks for one that never was gets Resource Manager's answer. The time is an assumption.
const justDeleted = time.Minute

// WasJustDeleted reports whether the call's resource was deleted by a request a short time ago.
func (c *Call) WasJustDeleted() bool {
	return slices.ContainsFunc(c.Operations(), func(op *store.Operation) bool {
		return op.Verb == "delete" && store.SameID(op.ResourceID, c.ID.String()) && c.Now().Sub(op.Started) < justDeleted
	})
}

// ReadResource answers GET of one resource.
func (c *Call) ReadResource() (*Reply, error) {
	if err := c.checkGroup(false); err != nil {
		return nil, err
	}
	it := c.FindItem(c.ID.String())
	if it == nil {
		return nil, c.NotFound()
	}
	rep := OK(c.renderItem(c.Type, it))
	if c.Type.Etag != NoEtag && it.Resource != nil {
		rep.Etag = it.Resource.Etag
	}
	return rep, nil
}

func (c *Call) listScope() string {
	if len(c.ID.Types) > 1 {
		return c.ID.Parent().String()
	}
	return c.ID.Scope
}
