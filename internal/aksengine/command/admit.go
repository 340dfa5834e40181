package command

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// findRefusals returns the errors with which an API server would refuse the objects of this provider: those of the schemas, of their rules
// and of the webhooks.
func findRefusals(ctx context.Context, converted aksengine.Result) ([]string, error) {
	stored, err := kubernetes.New(nil)
	if err != nil {
		return nil, err
	}
	for _, object := range converted.Objects { // Webhooks of machines read the cluster.
		switch object := object.(type) {
		case *infrav1.AzureCluster:
			err = stored.Restore(object)
		case *clusterv1.Cluster:
			err = stored.Restore(object)
		}
		if err != nil {
			return nil, err
		}
	}
	manifests, err := converted.Manifests()
	if err != nil {
		return nil, err
	}
	schemas := map[string]*admission.Schema{}
	server, err := admission.New(stored, stored.Scheme(), plan.Features{}, schemas)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, manifest := range manifests {
		object := &unstructured.Unstructured{Object: manifest}
		kind := object.GroupVersionKind()
		if kind.Group != infrav1.GroupVersion.Group {
			continue
		}
		if schemas[kind.Kind] == nil {
			plural, _ := meta.UnsafeGuessKindToResource(kind)
			if schemas[kind.Kind], err = admission.LoadSchema(plural.Resource); err != nil {
				return nil, err
			}
		}
		_, err := server.AdmitManifest(ctx, nil, object)
		var refusal apierrors.APIStatus
		switch {
		case err == nil:
		case errors.As(err, &refusal) && refusal.Status().Details != nil:
			for _, cause := range refusal.Status().Details.Causes {
				out = append(out, fmt.Sprintf("%s %s: %s: %s", kind.Kind, object.GetName(), cause.Field, cause.Message))
			}
		default:
			return nil, fmt.Errorf("check %s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
	return out, nil
}
