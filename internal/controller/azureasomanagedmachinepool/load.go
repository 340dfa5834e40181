package azureasomanagedmachinepool

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	nodes "sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// input is the input of one reconciliation.
type input struct {
	object      *infrav1.AzureASOManagedMachinePool
	members     *asoresources.Members
	clusterGone bool
	machinePool *clusterv1.MachinePool
	planned     plan.Input
	// plainObjects are the statuses of plain objects. instances are the VMs of a finished pool, or nil.
	plainObjects []infrav1.ASOResourceStatus
	instances    *nodes.Instances
	// power is what annotations ask of the pool.
	power *reconcile.Power
	// refusedSizes are errors about VM sizes for which AKS refused a resource.
	refusedSizes field.ErrorList
	// acted is set once Act has done everything.
	acted bool
}

// Load implements reconcile.Kind. A pool that is being deleted may have lost its MachinePool, and is then identified by its label.
func (k *Kind) Load(ctx context.Context, object *infrav1.AzureASOManagedMachinePool) (*input, reconcile.Target, error) {
	in := &input{object: object}
	if err := k.loadOwners(ctx, in); err != nil {
		return nil, reconcile.Target{}, err
	}
	return in, reconcile.Target{
		Cluster: in.members.Cluster, Owner: in.members.OwnerObject(), Identity: in.members.AccessRequest(asoresources.MachinePoolKind, object),
		WaitCondition: in.members.WaitsForOwner(), WasProvisioned: object.Status.Initialization.Provisioned != nil,
	}, nil
}

func (k *Kind) loadOwners(ctx context.Context, in *input) error {
	machinePools := &clusterv1.MachinePoolList{}
	if err := k.Client.List(ctx, machinePools, client.InNamespace(in.object.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list MachinePools: %w", err)
	}
	for i := range machinePools.Items {
		if asoresources.RefersToPool(&machinePools.Items[i], in.object.Name) {
			in.machinePool = machinePools.Items[i].DeepCopy()
		}
	}
	key := client.ObjectKey{Namespace: in.object.Namespace, Name: deletion.ClusterName(in.object)}
	switch {
	case in.machinePool != nil:
		key.Name = in.machinePool.Spec.ClusterName
	case in.object.DeletionTimestamp.IsZero():
		return reconcile.WaitForOwner(infrav1.OwnerRefNotSetReason,
			"no MachinePool owns the AzureASOManagedMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef")
	}
	cluster := &clusterv1.Cluster{}
	err := apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	if key.Name != "" {
		if got := k.Client.Get(ctx, key, cluster); got == nil {
			err = nil
		} else if !apierrors.IsNotFound(got) {
			return fmt.Errorf("get Cluster %s: %w", key, got)
		}
	}
	if err != nil {
		if cluster, in.clusterGone = deletion.SubstituteCluster(in.object), true; cluster == nil {
			return reconcile.WaitForOwner(infrav1.ClusterNotFoundReason, "Cluster "+key.Name+", to which the MachinePool belongs, does not exist. Create it")
		}
		cluster.Name = key.Name
	}
	members, gathered := asoresources.GatherMembers(ctx, k.Client, cluster)
	if gathered != nil {
		return gathered
	}
	in.members = members
	members.ReplacePool(asoresources.Pool{Pool: in.object, MachinePool: in.machinePool})
	return nil
}
