package clusterapi

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// ListNotes returns remarks about the parts of clusters about which other programs decide.
func ListNotes(objects []client.Object) (out []string, err error) {
	scheme, err := kubernetes.NewScheme()
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if cluster, is := object.(*clusterv1.Cluster); is && isUnknownControlPlane(cluster) {
			out = append(out, fmt.Sprintf(
				"The machines of %s %s/%s are not planned. The plan assumes that it answers when the infrastructure is provisioned.",
				cluster.Spec.ControlPlaneRef.Kind, cluster.Namespace, cluster.Spec.ControlPlaneRef.Name))
		}
		raw, err := toUnstructured(scheme, object)
		if err != nil {
			return nil, err
		}
		if isAwaited(raw) {
			out = append(out, fmt.Sprintf("%s %s/%s is managed by another program, so it is not planned. The plan assumes that it is provisioned.",
				raw.GetKind(), raw.GetNamespace(), raw.GetName()))
		}
	}
	return out, nil
}

// toUnstructured returns an object as maps and lists.
func toUnstructured(scheme *runtime.Scheme, object client.Object) (*unstructured.Unstructured, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	out := &unstructured.Unstructured{Object: maps.Clone(content)}
	out.SetGroupVersionKind(kind)
	return out, err
}
