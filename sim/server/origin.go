package server

import (
	"cmp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/containerservice"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Origin is another Azure. Its methods return bodies as a GET shows them, and nil for missing resources. They must not call the
// simulator.
type Origin interface {
	// ReadResource returns the resource with an ID.
	ReadResource(id string) body.Object
	// ListResources returns the resources of a type, or of all types for "", at or below a scope, anywhere for "".
	ListResources(typ, scope string) []body.Object
}

// storeOrigin converts bodies of an Origin to the form in which they are stored.
type storeOrigin struct {
	from Origin
	env  *provider.Env
}

// ReadResource implements store.Origin, as does the following.
func (o storeOrigin) ReadResource(id string) *store.Resource {
	parsed, err := store.ParseID(id)
	if err != nil || parsed.IsCollection() {
		return nil
	}
	t := o.env.TypeOf(parsed.Type())
	if t == nil || t.Inline != "" {
		return nil // A child in the body of its parent is copied with it.
	}
	return o.toStored(t, id, o.from.ReadResource(id))
}

func (o storeOrigin) ListResources(typ, scope string) (out []*store.Resource) {
	if t := o.env.TypeOf(typ); typ != "" && (t == nil || t.Inline != "") {
		return nil
	}
	for _, shown := range o.from.ListResources(typ, scope) {
		id := body.String(shown, "id")
		parsed, err := store.ParseID(id)
		if err != nil {
			continue
		}
		if t := o.env.TypeOf(parsed.Type()); t != nil && t.Inline == "" {
			out = append(out, o.toStored(t, id, shown))
		}
	}
	return out
}

// etagPaths are where types show their etags: AKS and fleets have a spelling of their own, and agent pools a place of their own.
var etagPaths = []string{"etag", "eTag", "properties.eTag"}

func (o storeOrigin) toStored(t *provider.Type, id string, shown body.Object) *store.Resource {
	if shown == nil {
		return nil
	}
	shown = body.Clone(shown)
	r := &store.Resource{ID: id, Type: t.Name, Secret: body.Object{}, Location: provider.NormalizeLocation(body.String(shown, "location"))}
	for _, path := range etagPaths {
		r.Etag = cmp.Or(r.Etag, body.String(shown, path))
		body.Delete(shown, path)
	}
	if own := body.String(shown, "id"); own != "" {
		r.ID = own
	}
	if strings.EqualFold(t.Name, containerservice.ManagedClusters) {
		if state := containerservice.RestoreState(shown, o.from.ListResources); state != nil {
			r.Secret = state
		}
	}
	if strings.EqualFold(t.Name, compute.VirtualMachines) || strings.EqualFold(t.Name, compute.ScaleSetVMs) {
		// The state of a VM is kept beside its body.
		for _, status := range body.Objects(shown, "properties.instanceView.statuses") {
			if power, is := strings.CutPrefix(body.String(status, "code"), "PowerState/"); is {
				r.Secret = body.Object{"power": power}
			}
		}
	}
	removeEnvelope(shown)
	delete(shown, "location")
	for _, path := range t.ReadOnlyPaths {
		if refersToResources(path, shown) {
			body.Strip(shown, path)
		}
	}
	o.removeInlineEnvelopes(t, shown)
	r.Body = shown
	return r
}

// removeInlineEnvelopes removes the IDs of children that are kept in the body of their parent: an ID in a body is a reference.
func (o storeOrigin) removeInlineEnvelopes(t *provider.Type, in body.Object) {
	for _, child := range o.env.InlineTypes(t.Name) {
		for _, element := range body.Objects(in, child.Inline) {
			name := body.String(element, "name")
			removeEnvelope(element)
			element["name"] = name
			for _, path := range child.ReadOnlyPaths {
				if refersToResources(path, element) {
					body.Strip(element, path)
				}
			}
			o.removeInlineEnvelopes(child, element)
		}
	}
}

func removeEnvelope(object body.Object) {
	for _, key := range []string{"id", "name", "type", "etag"} {
		delete(object, key)
	}
}

// refersToResources reports whether a value that clients cannot write has IDs of resources. Stored bodies have no such references: they
// are computed from the resources on the other side. Other values that Azure computes are kept.
func refersToResources(path string, in body.Object) bool {
	if strings.Contains(path, "instanceView") || path == "resources" {
		return true
	}
	var has func(value any) bool
	has = func(value any) bool {
		switch v := value.(type) {
		case string:
			return strings.HasPrefix(strings.ToLower(v), "/subscriptions/")
		case map[string]any:
			for _, each := range v {
				if has(each) {
					return true
				}
			}
		case []any:
			for _, each := range v {
				if has(each) {
					return true
				}
			}
		}
		return false
	}
	first, _, _ := strings.Cut(path, "[]")
	return has(body.Get(in, first))
}
