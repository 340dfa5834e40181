package azuremanagedmachinepool

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// input is the input of one reconciliation.
type input struct {
	cluster *clusterv1.Cluster
	// clusterGone is set if cluster is a substitute.
	clusterGone bool
	// controlPlane is nil if it is gone.
	controlPlane *infrav1.AzureManagedControlPlane
	machinePool  *clusterv1.MachinePool
	azurePool    *infrav1.AzureManagedMachinePool
	// planned and pool are the input of the plan.
	planned plan.Input
	pool    plan.Pool

	// power is what annotations ask of the pool.
	power *reconcile.Power
	// refusedSizes are errors about VM sizes for which AKS refused the pool.
	refusedSizes field.ErrorList
	// instances are the VMs of a pool that exists, or nil.
	instances *aks.Instances
	// acted is set once Act has done everything.
	acted bool
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, azurePool *infrav1.AzureManagedMachinePool) (*input, reconcile.Target, error) {
	in := &input{azurePool: azurePool}
	if err := k.loadOwners(ctx, in); err != nil {
		return nil, reconcile.Target{}, err
	}
	target := reconcile.Target{Cluster: in.cluster, WasProvisioned: azurePool.Status.Initialization.Provisioned != nil}
	if in.controlPlane != nil {
		target.Owner = in.controlPlane
		target.Identity = aks.AccessRequest(in.controlPlane)
		if !in.isInitialized() {
			target.WaitCondition = &metav1.Condition{
				Status: metav1.ConditionFalse, Reason: infrav1.WaitingForControlPlaneReason,
				Message: "the AKS cluster is not in place yet, see AzureManagedControlPlane " + in.controlPlane.Name,
			}
		}
	}
	return in, target, nil
}

// loadOwners reads the objects that the pool belongs to. A pool that is being deleted may have lost its MachinePool, and is then
// identified by its label.
func (k *Kind) loadOwners(ctx context.Context, in *input) (err error) {
	if in.machinePool, err = aks.FindMachinePool(ctx, k.Client, in.azurePool); err != nil {
		return err
	}
	in.cluster, in.clusterGone, err = reconcile.FindPoolCluster(ctx, k.Client, in.azurePool, in.machinePool,
		"no MachinePool owns the AzureManagedMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef")
	if err != nil {
		return err
	}
	if in.controlPlane, err = k.findControlPlane(ctx, in); err != nil {
		return err
	}
	if in.controlPlane == nil && in.azurePool.DeletionTimestamp.IsZero() {
		return reconcile.WaitForOwner(infrav1.ControlPlaneNotFoundReason,
			"Cluster "+in.cluster.Name+" has no AzureManagedControlPlane. Create the one to which it refers in spec.controlPlaneRef")
	}
	return nil
}

// findControlPlane returns the AzureManagedControlPlane that the Cluster refers to, or that belongs to a Cluster of this name; nil if
// there is none.
func (k *Kind) findControlPlane(ctx context.Context, in *input) (*infrav1.AzureManagedControlPlane, error) {
	if in.clusterGone {
		return aks.FindControlPlane(ctx, k.Client, in.azurePool.Namespace, in.cluster.Name)
	}
	ref := in.cluster.Spec.ControlPlaneRef
	if ref.Kind != aks.ControlPlaneKind {
		return nil, nil
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	if err := k.Client.Get(ctx, client.ObjectKey{Namespace: in.cluster.Namespace, Name: ref.Name}, controlPlane); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureManagedControlPlane %s: %w", ref.Name, err)
	}
	return controlPlane, nil
}

// isInitialized reports whether the AKS cluster was finished once.
func (in *input) isInitialized() bool {
	initialized := in.controlPlane.Status.Initialization.ControlPlaneInitialized
	return initialized != nil && *initialized
}
