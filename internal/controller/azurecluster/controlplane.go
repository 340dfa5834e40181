package azurecluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes,verbs=get
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines;azuremachinetemplates,verbs=get;list;watch

// controlPlaneSize is the VM size that the control plane of a Cluster makes its next machine of; "" when there is no
// template that tells. A control plane of a kind that is not installed, or that the manager may not read, does not tell.
//
// The control plane is of another provider, which need not be installed. So it is read from the API server, not from a
// cache: the manager's client does that with unstructured objects.
func (r *Reconciler) controlPlaneSize(ctx context.Context, cluster *clusterv1.Cluster) (string, error) {
	ref := cluster.Spec.ControlPlaneRef
	if !ref.IsDefined() {
		return "", nil
	}
	mapping, err := r.Client.RESTMapper().RESTMapping(schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find kind %s of the control plane of Cluster %s: %w", ref.Kind, cluster.Name, err)
	}
	controlPlane := &unstructured.Unstructured{}
	controlPlane.SetGroupVersionKind(mapping.GroupVersionKind)
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, controlPlane)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || meta.IsNoMatchError(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("get %s %s: %w", ref.Kind, ref.Name, err)
	}
	name := machineTemplate(controlPlane)
	if name == "" {
		return "", nil
	}
	template := &infrav1.AzureMachineTemplate{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, template); err != nil {
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return "", fmt.Errorf("get AzureMachineTemplate %s: %w", name, err)
	}
	return template.Spec.Template.Spec.VMSize, nil
}

// machineTemplate is the name of the AzureMachineTemplate that a control plane refers to, where the contracts v1beta2 and
// v1beta1 of Cluster API have it; "" for none.
func machineTemplate(controlPlane *unstructured.Unstructured) string {
	for _, path := range [][]string{{"spec", "machineTemplate", "spec", "infrastructureRef"}, {"spec", "machineTemplate", "infrastructureRef"}} {
		// A field of another shape than the contract's is none of it.
		ref, _, _ := unstructured.NestedMap(controlPlane.Object, path...)
		group, _ := ref["apiGroup"].(string)
		if version, ok := ref["apiVersion"].(string); ok && group == "" {
			group = schema.FromAPIVersionAndKind(version, "").Group
		}
		if name, _ := ref["name"].(string); group == infrav1.GroupVersion.Group && ref["kind"] == "AzureMachineTemplate" {
			return name
		}
	}
	return ""
}
