package azuremanagedcontrolplane

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// input is the input of one reconciliation.
type input struct {
	cluster *clusterv1.Cluster
	// clusterGone is set if cluster is a substitute.
	clusterGone  bool
	controlPlane *infrav1.AzureManagedControlPlane
	// planned is the input of the plan, exports are the values that patches request to be written.
	planned plan.Input
	exports aso.Exports
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, controlPlane *infrav1.AzureManagedControlPlane) (*input, reconcile.Target, error) {
	cluster, err := aks.FindCluster(ctx, k.Client, controlPlane, aks.ControlPlaneKind)
	if err != nil {
		return nil, reconcile.Target{}, fmt.Errorf("get the Cluster: %w", err)
	}
	gone := cluster == nil
	if gone {
		if cluster = deletion.SubstituteCluster(controlPlane); cluster == nil {
			return nil, reconcile.Target{}, reconcile.WaitForOwner("OwnerRefNotSet", "no Cluster owns or refers to the AzureManagedControlPlane yet")
		}
	}
	return &input{cluster: cluster, clusterGone: gone, controlPlane: controlPlane}, reconcile.Target{
		Cluster: cluster, Owner: controlPlane, Identity: aks.AccessRequest(controlPlane),
		WasProvisioned: controlPlane.Status.Initialization.ControlPlaneInitialized != nil,
	}, nil
}
