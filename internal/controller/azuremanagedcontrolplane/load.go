package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

	// refusedSizes are errors about VM sizes for which AKS refused the cluster or a pool.
	refusedSizes field.ErrorList
	// published is set once the access to the cluster is published. It is valid for accessValidFor.
	published      bool
	accessValidFor time.Duration
	// health is nil if it was not read. clusterInfo is the condition about kube-public/cluster-info, or nil.
	health      *healthReading
	clusterInfo *metav1.Condition
	// acted is set once Act has done everything but clusterInfo.
	acted bool
	// power is what annotations ask of the cluster.
	power *reconcile.Power
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
			return nil, reconcile.Target{}, reconcile.WaitForOwner(infrav1.OwnerRefNotSetReason,
				"no Cluster owns the AzureManagedControlPlane. Create one that refers to it in spec.controlPlaneRef")
		}
	}
	return &input{cluster: cluster, clusterGone: gone, controlPlane: controlPlane}, reconcile.Target{
		Cluster: cluster, Owner: controlPlane, Identity: aks.AccessRequest(controlPlane),
		WasProvisioned: controlPlane.Status.Initialization.ControlPlaneInitialized != nil,
	}, nil
}
