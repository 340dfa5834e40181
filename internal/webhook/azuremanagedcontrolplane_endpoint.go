package webhook

import (
	"context"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// fillEndpoint replaces the endpoint in a request by the stored one, and clears it in a new object, because AKS chooses the
// endpoint of a cluster. A manifest with an endpoint that is applied again therefore changes nothing. clusterctl creates moved
// objects with the finalizer of their controller; they keep their endpoint, which proves that the cluster exists.
func fillEndpoint(ctx context.Context, c *infrav1.AzureManagedControlPlane) {
	if aks.HasManagedEndpoint(c) {
		return
	}
	old := &infrav1.AzureManagedControlPlane{}
	switch {
	case isUpdateOf(ctx, old):
		c.Spec.ControlPlaneEndpoint = old.Spec.ControlPlaneEndpoint
	case isCreate(ctx) && !slices.Contains(c.Finalizers, infrav1.ManagedControlPlaneFinalizer):
		c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{}
	}
}
