package selfmanaged

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

// FindMachineTemplate returns the AzureMachineTemplate from which the control plane of a Cluster creates its next machine, or nil. It
// is nil also for a control plane of a kind that is not installed or that the manager may not read.
//
// The control plane belongs to another provider, which need not be installed. It is read from the API server and not from a cache: the
// manager's client does so for unstructured objects.
func FindMachineTemplate(ctx context.Context, c client.Client, cluster *clusterv1.Cluster) (*infrav1.AzureMachineTemplate, error) {
	ref := cluster.Spec.ControlPlaneRef
	if !ref.IsDefined() {
		return nil, nil
	}
	mapping, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find kind %s of the control plane of Cluster %s: %w", ref.Kind, cluster.Name, err)
	}
	controlPlane := &unstructured.Unstructured{}
	controlPlane.SetGroupVersionKind(mapping.GroupVersionKind)
	err = c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, controlPlane)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", ref.Kind, ref.Name, err)
	}
	name := machineTemplateName(controlPlane)
	if name == "" {
		return nil, nil
	}
	template := &infrav1.AzureMachineTemplate{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, template); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureMachineTemplate %s: %w", name, err)
	}
	return template, nil
}

// machineTemplateName returns the name of the AzureMachineTemplate that a control plane refers to, by contract v1beta2 or v1beta1 of
// Cluster API, or "".
func machineTemplateName(controlPlane *unstructured.Unstructured) string {
	for _, path := range [][]string{{"spec", "machineTemplate", "spec", "infrastructureRef"},
		{"spec", "machineTemplate", "infrastructureRef"}} {
		// A field of another type than in the contract is ignored.
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
