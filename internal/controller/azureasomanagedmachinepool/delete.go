package azureasomanagedmachinepool

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lastwrites"
)

// BeforeDelete implements reconcile.Kind.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.object.Status.Ready = false
	if in.members.Infrastructure == nil && in.clusterGone {
		return reconcile.AbandonResources("the AzureASOManagedCluster that owns the resources is gone", "the resources of its spec.resources")
	}
	if !in.owners().MayCreatePool() {
		return nil
	}
	settled, err := lastwrites.IsSettled(ctx, k.Client, asoresources.ControlPlaneKind, in.members.ControlPlane)
	if err != nil || settled {
		return err
	}
	return waitForCreation(in)
}

// owners returns the objects that decide how the agent pool is deleted.
func (in *input) owners() aks.PoolOwners {
	owners := aks.PoolOwners{Cluster: in.members.Cluster, ClusterGone: in.clusterGone}
	if controlPlane := in.members.ControlPlane; controlPlane != nil {
		initialized := controlPlane.Status.Initialization.ControlPlaneInitialized
		owners.ControlPlane, owners.NothingCreated = controlPlane, plan.NothingCreated(controlPlane)
		owners.Initialized = initialized != nil && *initialized
	}
	return owners
}

// waitForCreation reports that the deletion of the pool waits for the creation of the AKS cluster, and asks for a retry.
func waitForCreation(in *input) error {
	deletion.KeepConditions(in.object, infrav1.ReadyCondition, infrav1.ResourcesReadyCondition)
	conditions.Set(in.object, aks.CreatingCondition(infrav1.ResourcesReadyCondition))
	reconcile.SummarizeReady(in.object, summarizedConditions)
	return reconcile.StopFor(aks.CreatingRetry)
}

// isDeletedWithCluster reports whether the agent pool needs no deletion of its own.
func (in *input) isDeletedWithCluster() bool {
	deleted, _ := in.owners().DeletePool(func() (pools []metav1.Object, _ error) {
		for _, pool := range in.members.Pools {
			pools = append(pools, pool.Pool)
		}
		return pools, nil
	})
	return deleted
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.LoadPlanInput(ctx, session, in); err != nil {
		return nil, err
	}
	goes := in.isDeletedWithCluster()
	if d, ok := in.planned.AgentPool(); ok && !goes {
		if id, err := in.planned.ResourceID(d); err == nil && k.Engine.IsCreating(id.Parent()) {
			return nil, waitForCreation(in)
		}
	}
	out, err := asoresources.PlanDeletion(ctx, k.Facts, session, in.planned, goes, false)
	if err == nil {
		out.FinalWarning = in.describeAgentPoolLeft()
	}
	return out, err
}

// describeAgentPoolLeft describes the agent pool if its control plane is gone, for example because users removed its finalizer: a control plane
// that is deleted waits for the objects of its pools, so the cluster in AKS was not deleted, and only the control plane names it.
func (in *input) describeAgentPoolLeft() string {
	agentPool, ok := in.planned.AgentPool()
	if in.members.ControlPlane != nil || !ok || len(in.object.Spec.ProviderIDList) == 0 && plan.NothingCreated(in.object) {
		return ""
	}
	return fmt.Sprintf("The %s that names the AKS cluster is gone. The object is removed without deleting the agent pool %s of the AKS cluster of Cluster %s in Azure. Check Azure for it",
		asoresources.ControlPlaneKind, agentPool.AzureName(), in.members.Cluster.Name)
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	in.object.Status.Resources = asoresources.ReportDeletion(in.object, in.planned, outcome, summarizedConditions)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	return in.members.DescribeResources(asoresources.MachinePoolKind, in.object, subscription, len(in.object.Spec.ProviderIDList) > 0)
}
