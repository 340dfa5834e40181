package azureasomanagedmachinepool

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	nodes "sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// input is the input of one reconciliation.
type input struct {
	object      *infrav1.AzureASOManagedMachinePool
	members     *asoresources.Members
	clusterGone bool
	machinePool *clusterv1.MachinePool
	planned     plan.Input
	// plainObjects are the statuses of plain objects. instances are the VMs of a pool that exists, or nil.
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
	cluster, gone, err := reconcile.FindPoolCluster(ctx, k.Client, in.object, in.machinePool,
		"no MachinePool owns the AzureASOManagedMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef")
	if err != nil {
		return err
	}
	in.clusterGone = gone
	if in.members, err = asoresources.GatherMembers(ctx, k.Client, cluster); err != nil {
		return err
	}
	in.members.ReplacePool(asoresources.Pool{Pool: in.object, MachinePool: in.machinePool})
	return nil
}
