package webhook

import (
	"context"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// fillEndpoint replaces the endpoint of a user by the one that is stored, and takes it away from an object that is made: AKS gives
// a cluster its endpoint. A manifest with an endpoint that is applied again changes nothing. An object that is created with the
// finalizer of its manager is one that clusterctl moves, and keeps its endpoint as proof that the cluster exists.
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
