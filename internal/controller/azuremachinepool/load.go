package azuremachinepool

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// input is the input of one reconciliation.
type input struct {
	// If the pool is being deleted, cluster may be a substitute, infrastructure empty and machinePool nil.
	cluster        *clusterv1.Cluster
	clusterGone    bool
	infrastructure clusterinfra.Infrastructure
	machinePool    *clusterv1.MachinePool
	azurePool      *infrav1.AzureMachinePool
	// members are the VMs as represented in Kubernetes. lastDeletionFailure is why Azure did not carry out the last request to delete
	// VMs.
	members             []member
	lastDeletionFailure error

	planned pool.Input
	// scaleSet and vms are read from Azure. actions are the decisions about single VMs, wanted is the spec that they are based on.
	scaleSet facts.ScaleSet
	vms      []pool.Instance
	wanted   rollout.Spec
	actions  rollout.Actions
	// gone are the names of members whose VM is not in the list, and is not found in Azure or was deleted by this process.
	gone map[string]bool
	// recheckIncomplete is set if there are more VMs to recheck than the limit.
	recheckIncomplete bool
	// fixed are the properties of the template that are invalid, or that Azure cannot change in the scale set, which therefore keeps its
	// template. keptTags explains why it gets no new tags.
	fixed, keptTags field.ErrorList
	// denied is set if the scale set is not written, because the size that the write needs is not available.
	denied bool
	// othersAddVMs is set if an autoscaler or Azure adds VMs, with the bootstrap data that the scale set has.
	othersAddVMs bool
	// stale is set if the list of VMs may be older than the last request.
	stale bool
	// requests is the state of the requests about single VMs. acted is set once Act has done everything.
	requests requestState
	// power is what annotations ask of the VMs. moving is set while they are stopped or started.
	power  *reconcile.Power
	moving bool
	acted  bool
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, azurePool *infrav1.AzureMachinePool) (*input, reconcile.Target, error) {
	in := &input{azurePool: azurePool}
	if err := k.loadOwners(ctx, in); err != nil {
		return nil, reconcile.Target{}, err
	}
	target := reconcile.Target{Cluster: in.cluster, WasProvisioned: azurePool.Status.Initialization.Provisioned != nil}
	waits := metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.WaitingForClusterInfrastructureReason}
	switch {
	case !in.infrastructure.Exists():
		waits.Message = clusterinfra.MissingMessage(in.cluster)
		target.WaitCondition = &waits
		return in, target, nil
	case !selfmanaged.IsProvisioned(in.cluster):
		waits.Message = "the network of the cluster is not in place yet, see " + in.infrastructure.String()
		target.WaitCondition = &waits
	}
	target.Owner, target.Identity = in.infrastructure.Owner(), in.infrastructure.AccessRequest()
	return in, target, nil
}

// loadOwners reads the objects that the pool belongs to. A pool that is being deleted may have lost them, and is then identified by its
// own fields.
func (k *Kind) loadOwners(ctx context.Context, in *input) (err error) {
	if in.machinePool, err = k.findMachinePool(ctx, in.azurePool); err != nil {
		return err
	}
	in.cluster, in.clusterGone, err = reconcile.FindPoolCluster(ctx, k.Client, in.azurePool, in.machinePool, noOwnerMessage(in.azurePool))
	if err != nil {
		return err
	}
	in.infrastructure, err = clusterinfra.FindInfrastructure(ctx, k.Client, in.cluster, in.clusterGone)
	return err
}

// machinePoolKind is the kind of the owner of an AzureMachinePool.
const machinePoolKind = "MachinePool"

// noOwnerMessage explains why a pool has no MachinePool, and how to correct that.
func noOwnerMessage(azurePool *infrav1.AzureMachinePool) string {
	if name := owner.FindName(azurePool, machinePoolKind); name != "" {
		return "MachinePool " + name + ", which owns the AzureMachinePool, does not exist. Create it, or delete the AzureMachinePool"
	}
	return "no MachinePool owns the AzureMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef"
}

// findMachinePool returns the MachinePool that owns the pool, or nil.
func (k *Kind) findMachinePool(ctx context.Context, azurePool *infrav1.AzureMachinePool) (*clusterv1.MachinePool, error) {
	name := owner.FindName(azurePool, machinePoolKind)
	if name == "" {
		return nil, nil
	}
	out := &clusterv1.MachinePool{}
	err := k.Client.Get(ctx, client.ObjectKey{Namespace: azurePool.Namespace, Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get MachinePool %s: %w", name, err)
	}
	return out, nil
}

// listClusterPools returns the AzureMachinePools of the pool's Cluster by the label that Cluster API sets with their owner. They are not
// copies.
func (k *Kind) listClusterPools(ctx context.Context, in *input) (out []*infrav1.AzureMachinePool, err error) {
	list := &infrav1.AzureMachinePoolList{}
	if err := k.Client.List(ctx, list, client.InNamespace(in.azurePool.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: in.cluster.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureMachinePools: %w", err)
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}
