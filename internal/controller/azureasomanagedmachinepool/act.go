package azureasomanagedmachinepool

import (
	"context"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	nodes "sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Act implements reconcile.Kind. It writes the plain objects of the manifests and the values that operatorSpec requests, reads the VMs
// of a pool that exists and runs, and has the MachinePool follow AKS's autoscaler.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	if in.plainObjects, err = asoresources.ReconcilePlainObjects(ctx, k.Client, session, in.object, in.planned); err != nil {
		return err
	}
	in.refusedSizes = asoresources.CheckVMSizes(ctx, k.Facts, session, in.planned, outcome)
	exporter := asoresources.Exporter{Facts: k.Facts, Session: session, To: k.newPublisher(in)}
	if err := exporter.ExportValues(ctx, in.planned, outcome); err != nil {
		return err
	}
	pool := findPool(in, outcome)
	in.power = session.Power
	power.ReportPool(in.power, pool, in.planned.Facts[pool.ID.Parent().Key()])
	if !in.power.Stop {
		if in.instances, err = k.readInstances(ctx, session, pool); err != nil {
			return reconcile.ReadFailedFor(infrav1.ScaleSetReadyCondition, err)
		}
		if err := k.followAutoscaler(ctx, in, pool); err != nil {
			return err
		}
	}
	in.acted = true
	return nil
}

// findPool returns the result of the agent pool, or an empty one.
func findPool(in *input, outcome arm.Outcome) arm.Result {
	manifest, _ := in.planned.AgentPool()
	id, _ := in.planned.ResourceID(manifest) // Without an ID there is no result.
	result, _ := outcome.Result(id)
	return result
}

// readInstances reads the VMs of the agent pool.
func (k *Kind) readInstances(ctx context.Context, session reconcile.Session, pool arm.Result) (*nodes.Instances, error) {
	reader := nodes.InstanceReader{Facts: k.Facts, Caller: session.Caller(), Now: session.Now(), NodeGroup: func(ctx context.Context) (arm.ID, error) {
		cluster, err := k.Facts.ReadResource(ctx, session.Caller(), pool.ID.Parent())
		if err != nil {
			return "", err
		}
		return arm.ResourceGroupID(pool.ID.Subscription(), managedcluster.NodeResourceGroup(cluster)), nil
	}}
	return reader.Read(ctx, pool)
}

// followAutoscaler has the MachinePool follow AKS's autoscaler.
func (k *Kind) followAutoscaler(ctx context.Context, in *input, pool arm.Result) (err error) {
	if in.machinePool == nil {
		return nil
	}
	manifest, _ := in.planned.AgentPool()
	wanted := agentpool.IsAutoscaled(manifest.Spec, agentpool.Observe(pool.Observed))
	if in.machinePool, err = nodes.FollowAutoscaler(ctx, k.Client, in.machinePool, plan.ManagedByAKS, wanted, in.instances); err != nil {
		return err
	}
	in.planned.MachinePools[in.planned.ObjectKey] = in.machinePool
	return nil
}

// newPublisher returns the publisher for the object.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.object, Kind: asoresources.MachinePoolKind, Cluster: in.members.Cluster.Name}
}
