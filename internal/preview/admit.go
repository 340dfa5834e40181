package preview

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
)

// Admission checks objects of this provider as its webhooks and definitions do, and fills in defaults.
type Admission struct {
	server  *admission.Server
	scheme  *runtime.Scheme
	schemas map[string]*admission.Schema
}

// NewAdmission returns an Admission whose webhooks read from c.
func NewAdmission(c client.Client, features plan.Features) (*Admission, error) {
	a := &Admission{scheme: c.Scheme(), schemas: map[string]*admission.Schema{}}
	var err error
	a.server, err = admission.New(c, c.Scheme(), features, a.schemas)
	return a, err
}

// Admit returns the object that an API server stores for an object that is new, or is changed from old, or the error with which the
// object is refused. Objects of other API groups are stored unchanged.
func (a *Admission) Admit(ctx context.Context, old, object client.Object) (client.Object, error) {
	kind, err := apiutil.GVKForObject(object, a.scheme)
	if err != nil || kind.Group != infrav1.GroupVersion.Group {
		return object, err
	}
	if a.schemas[kind.Kind] == nil {
		plural := strings.ToLower(kind.Kind) + "s"
		if strings.HasSuffix(plural, "ys") {
			plural = strings.TrimSuffix(plural, "ys") + "ies"
		}
		if a.schemas[kind.Kind], err = admission.LoadSchema(plural); err != nil {
			return nil, err
		}
	}
	stored, err := a.server.AdmitManifest(ctx, old, object)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", kind.Kind, client.ObjectKeyFromObject(object), err)
	}
	return stored, nil
}

// creator returns a client that admits the objects that are created with it.
func (a *Admission) creator(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			stored, err := a.Admit(ctx, nil, object)
			if err != nil {
				return err
			}
			return c.Create(ctx, stored, options...)
		},
	})
}
