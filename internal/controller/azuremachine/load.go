package azuremachine

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// input is the input of one reconciliation.
type input struct {
	// If the machine is being deleted, cluster and machine may be substitutes, and azureCluster may be nil.
	cluster      *clusterv1.Cluster
	clusterGone  bool
	azureCluster *infrav1.AzureCluster
	machine      *clusterv1.Machine
	azureMachine *infrav1.AzureMachine
	planned      plan.MachineInput
	// missingIdentities is the condition about identities that Act is adding to the VM, or nil.
	missingIdentities *metav1.Condition
	// power is what annotations ask of the VM. powerProblem is the condition about a request to stop or start it that Azure refused, or nil.
	power        *reconcile.Power
	powerProblem *metav1.Condition
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, azureMachine *infrav1.AzureMachine) (*input, reconcile.Target, error) {
	in := &input{azureMachine: azureMachine}
	read := k.loadExisting
	if !azureMachine.DeletionTimestamp.IsZero() {
		read = k.loadDeleting
	}
	if err := read(ctx, in); err != nil {
		return nil, reconcile.Target{}, err
	}
	target := reconcile.Target{Cluster: in.cluster, WasProvisioned: azureMachine.Status.Initialization.Provisioned != nil}
	if in.azureCluster != nil {
		target.Owner = in.azureCluster
		target.Identity = access.RequestForAzureCluster(in.azureCluster)
		if !selfmanaged.IsProvisioned(in.cluster) {
			target.WaitCondition = &metav1.Condition{
				Status: metav1.ConditionFalse, Reason: infrav1.WaitingForClusterInfrastructureReason,
				Message: "the network of the cluster is not in place yet, see AzureCluster " + in.azureCluster.Name,
			}
		}
	}
	return in, target, nil
}

// loadExisting reads the objects that a machine that is not being deleted belongs to.
func (k *Kind) loadExisting(ctx context.Context, in *input) (err error) {
	if in.machine, err = util.GetOwnerMachine(ctx, k.Client, in.azureMachine.ObjectMeta); err != nil {
		return fmt.Errorf("get the Machine that owns it: %w", err)
	}
	if in.machine == nil {
		return reconcile.WaitForOwner(infrav1.OwnerRefNotSetReason,
			"no Machine owns the AzureMachine. Create one that refers to it in spec.infrastructureRef")
	}
	in.cluster, err = util.GetClusterFromMetadata(ctx, k.Client, in.machine.ObjectMeta)
	switch {
	case errors.Is(err, util.ErrNoCluster):
		return reconcile.WaitForOwner(infrav1.ClusterNotFoundReason, fmt.Sprintf("Machine %s belongs to no Cluster: it has no label %s. Set the label",
			in.machine.Name, clusterv1.ClusterNameLabel))
	case apierrors.IsNotFound(err):
		return reconcile.WaitForOwner(infrav1.ClusterNotFoundReason, fmt.Sprintf("Cluster %s, to which Machine %s belongs, does not exist. Create it",
			in.machine.Labels[clusterv1.ClusterNameLabel], in.machine.Name))
	case err != nil:
		return fmt.Errorf("get the Cluster of Machine %s: %w", in.machine.Name, err)
	}
	in.azureCluster = &infrav1.AzureCluster{}
	key := client.ObjectKey{Namespace: in.cluster.Namespace, Name: in.cluster.Spec.InfrastructureRef.Name}
	if err := k.Client.Get(ctx, key, in.azureCluster); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.WaitForOwner(infrav1.AzureClusterNotFoundReason,
				fmt.Sprintf("AzureCluster %s, to which Cluster %s refers in spec.infrastructureRef, does not exist. Create it", key.Name, in.cluster.Name))
		}
		return fmt.Errorf("get AzureCluster %s: %w", key, err)
	}
	return nil
}
