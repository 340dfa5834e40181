// Package controlplane finds what the control plane of a self-managed cluster makes its machines of.
package controlplane

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

// FindMachineTemplate is the AzureMachineTemplate that the control plane of a Cluster makes its next machine of; nil when there is none
// that tells. A control plane of a kind that is not installed, or that the manager may not read, does not tell.
//
// The control plane is of another provider, which need not be installed. So it is read from the API server, not from a
// cache: the manager's client does that with unstructured objects.
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

// machineTemplateName is the name of the AzureMachineTemplate that a control plane refers to, where the contracts v1beta2 and
// v1beta1 of Cluster API have it; "" for none.
func machineTemplateName(controlPlane *unstructured.Unstructured) string {
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
