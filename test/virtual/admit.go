package virtual

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
)

// loadSchema returns the schema of a kind of the provider.
func loadSchema(kind string) (*admission.Schema, error) {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
	return admission.LoadSchema(plural.Resource)
}

// admitter admits objects of the provider before they are stored.
type admitter struct {
	server  *admission.Server
	scheme  *runtime.Scheme
	schemas map[string]*admission.Schema
	mu      sync.Mutex
}

// admitWrites returns a client whose writes pass the schemas and the webhooks of the provider.
func admitWrites(objects client.WithWatch, features plan.Features) (client.WithWatch, error) {
	a := &admitter{scheme: objects.Scheme(), schemas: map[string]*admission.Schema{}}
	var err error
	if a.server, err = admission.New(objects, a.scheme, features, a.schemas); err != nil {
		return nil, err
	}
	return interceptor.NewClient(objects, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := a.admitObject(ctx, nil, object); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if !a.isAdmitted(object) || patch.Type() != types.MergePatchType {
				return c.Patch(ctx, object, patch, options...)
			}
			return a.patchObject(ctx, c, object, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption) error {
			if a.isAdmitted(object) && patch.Type() == types.MergePatchType {
				if err := a.checkStatus(ctx, c, object, patch); err != nil {
					return err
				}
			}
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}), nil
}

// isAdmitted reports whether an object is of a kind of the provider.
func (a *admitter) isAdmitted(object client.Object) bool {
	kind, err := apiutil.GVKForObject(object, a.scheme)
	return err == nil && kind.Group == infrav1.GroupVersion.Group
}

// admitObject changes the object into its stored form.
func (a *admitter) admitObject(ctx context.Context, old, object client.Object) error {
	if !a.isAdmitted(object) {
		return nil
	}
	kind, err := apiutil.GVKForObject(object, a.scheme)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.loadSchemaOnce(kind.Kind); err != nil {
		return err
	}
	return a.server.AdmitObject(ctx, old, object)
}

// loadSchemaOnce loads the schema of a kind unless it is loaded.
func (a *admitter) loadSchemaOnce(kind string) (err error) {
	if a.schemas[kind] == nil {
		a.schemas[kind], err = loadSchema(kind)
	}
	return err
}

// checkStatus returns the error with which an API server refuses a merge patch of a status. It ignores the rest of the patch.
func (a *admitter) checkStatus(ctx context.Context, c client.Client, object client.Object, patch client.Patch) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if len(parts["status"]) == 0 {
		return nil
	}
	data, err = json.Marshal(map[string]any{"status": parts["status"]})
	if err != nil {
		return err
	}
	old, wanted, err := a.mergePatch(ctx, c, object, data)
	if err != nil {
		return err
	}
	kind, err := apiutil.GVKForObject(object, a.scheme)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.loadSchemaOnce(kind.Kind); err != nil {
		return err
	}
	return a.server.CheckStatus(ctx, old, wanted)
}

// mergePatch returns the stored object, and the result of a merge patch of it.
func (a *admitter) mergePatch(ctx context.Context, c client.Reader, object client.Object, patch []byte) (old, wanted client.Object, _ error) {
	kind, err := apiutil.GVKForObject(object, a.scheme)
	if err != nil {
		return nil, nil, err
	}
	stored, err := a.scheme.New(kind)
	if err != nil {
		return nil, nil, err
	}
	old = stored.(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), old); err != nil {
		return nil, nil, err
	}
	before, err := json.Marshal(old)
	if err != nil {
		return nil, nil, err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("patch of %s: %v", object.GetName(), err))
	}
	decoded, err := a.scheme.New(kind)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(after, decoded); err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return old, decoded.(client.Object), nil
}

// patchObject admits the result of a merge patch, and stores it.
func (a *admitter) patchObject(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch,
	options ...client.PatchOption) error {
	kind, err := apiutil.GVKForObject(object, a.scheme)
	if err != nil {
		return err
	}
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	old, wanted, err := a.mergePatch(ctx, c, object, data)
	if err != nil {
		return err
	}
	if wanted.GetResourceVersion() != old.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)}, object.GetName(),
			fmt.Errorf("the object has been modified"))
	}
	if err := a.admitObject(ctx, old, wanted); err != nil {
		return err
	}
	if err := c.Patch(ctx, wanted, client.MergeFrom(old), options...); err != nil {
		return err
	}
	return c.Get(ctx, client.ObjectKeyFromObject(wanted), object)
}
