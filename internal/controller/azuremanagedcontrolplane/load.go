package azuremanagedcontrolplane

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/pass"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed/asopatch"
)

// input is what one pass works on.
type input struct {
	cluster *clusterv1.Cluster
	// clusterGone tells that cluster stands for one that is not there any more.
	clusterGone  bool
	controlPlane *infrav1.AzureManagedControlPlane
	// planned is what the plan is computed from, exports what patches ask to be written beside.
	planned plan.Input
	exports asopatch.Exports
}

// Load implements pass.Kind.
func (k *Kind) Load(ctx context.Context, controlPlane *infrav1.AzureManagedControlPlane) (*input, pass.Subject, error) {
	cluster, err := managed.ClusterOf(ctx, k.Client, controlPlane, managed.ControlPlaneKind)
	if err != nil {
		return nil, pass.Subject{}, fmt.Errorf("get the Cluster: %w", err)
	}
	gone := cluster == nil
	if gone {
		if cluster = deletion.LeftBehind(controlPlane); cluster == nil {
			return nil, pass.Subject{}, pass.NotYet("OwnerRefNotSet", "no Cluster owns or refers to the AzureManagedControlPlane yet")
		}
	}
	return &input{cluster: cluster, clusterGone: gone, controlPlane: controlPlane}, pass.Subject{
		Cluster: cluster, Owner: controlPlane, Identity: managed.Identity(controlPlane),
		Made: controlPlane.Status.Initialization.ControlPlaneInitialized != nil,
	}, nil
}
