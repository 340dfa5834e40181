package azuremachine

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/volumes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// BeforeDelete implements reconcile.Kind. Without an AzureCluster there is no identity for Azure. The AzureCluster is deleted after its
// machines, unless its finalizer was removed by hand.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.azureMachine.Status.Ready = false
	if in.azureCluster != nil {
		return k.keepSharedVM(ctx, in)
	}
	return reconcile.AbandonResources("the AzureCluster with the identity for Azure is gone", k.describeResources(in, ""))
}

// keepSharedVM ends the deletion of a machine whose VM another AzureMachine has, too: users delete the object that was refused for its name,
// and the VM is that of the other one.
func (k *Kind) keepSharedVM(ctx context.Context, in *input) error {
	if !machine.CanShareVM(in.azureMachine) {
		return nil
	}
	machines, err := k.listClusterMachines(ctx, in)
	if err != nil {
		return err
	}
	if owner := machine.FindVMOwner(in.azureMachine, machines); owner != nil {
		return reconcile.KeepResources(fmt.Sprintf("The VM %s stays in Azure, because it is that of AzureMachine %s",
			plan.VMName(plan.MachineInput{AzureMachine: in.azureMachine}), owner.Name))
	}
	return nil
}

// nothingCreated reports whether the machine cannot have created anything in Azure: machines are created only in a provisioned network.
func nothingCreated(in *input) bool {
	return in.azureMachine.Spec.ProviderID == nil && !applied.IsStored(in.azureMachine.Annotations) &&
		!selfmanaged.IsProvisioned(in.cluster) && cluster.NothingCreated(in.azureCluster)
}

// PlanDeletion implements reconcile.Kind. If the Cluster and its resource group are deleted, the deletion of the group covers all
// resources.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	planned := k.newPlanInput(in, session.Access.SubscriptionID, session.Access.LentGrants != nil)
	var err error
	if planned.MachineFacts, err = k.Facts.DeletingMachineFacts(ctx, session.Caller(), planned); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	in.planned = planned
	graph, err := machine.BuildDeletePlan(planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	out := &reconcile.Plan{
		// Azure creates the disks, sometimes without tags.
		Graph: graph, OwnedUntagged: machine.DiskIDs(planned),
		OnDeleted:       func() { k.Facts.ReleaseMachine(planned) },
		PrepareDeletion: func(ctx context.Context) (string, error) { return k.tagVolumes(ctx, session, in) },
	}
	if !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() && plan.IsDeletedWithGroup(planned.ClusterInput, graph) {
		out.DeletedWithGroup = plan.ResourceGroupID(planned.ClusterInput)
	}
	return out, nil
}

// tagVolumes tags the disks of volumes that are attached to the VM.
func (k *Kind) tagVolumes(ctx context.Context, session reconcile.Session, in *input) (warning string, err error) {
	return volumes.Deletion{
		Facts: k.Facts, Session: session, Cluster: in.cluster, ClusterGone: in.clusterGone, AzureCluster: in.azureCluster,
		Since:    in.azureMachine.DeletionTimestamp,
		Resource: plan.VMID(in.planned), Planned: machine.DiskIDs(in.planned),
	}.TagVolumes(ctx)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	var names []string
	for _, id := range k.possibleResources(in, subscription) {
		names = append(names, id.Name())
	}
	return deletion.Resources{
		NothingCreated: nothingCreated(in),
		ResourceNames:  names,
		Identity:       deletion.DescribeIdentity(in.azureCluster.Spec.IdentityRef, in.azureCluster.Namespace),
		User:           "AzureCluster " + in.azureCluster.Name,
		AzureResources: k.describeResources(in, subscription),
	}
}

// describeResources describes the machine's possible resources in Azure by its provider ID or its name.
func (k *Kind) describeResources(in *input, subscription string) string {
	if in.azureCluster == nil {
		azureMachine := in.azureMachine
		if providerID := azureMachine.Spec.ProviderID; providerID != nil {
			return arm.TrimScheme(*providerID) + ", its network interfaces and its disks"
		}
		return "a VM " + azureMachine.Name + ", its network interfaces and its disks"
	}
	planned := k.newPlanInput(in, subscription, false)
	var ids []string
	for _, id := range k.possibleResources(in, subscription) {
		if !id.Equal(plan.VMID(planned)) {
			ids = append(ids, id.ShortName())
		}
	}
	return string(plan.VMID(planned)) + ", and these resources if they exist: " + strings.Join(ids, ", ")
}

// possibleResources returns the IDs of resources that the machine may have in Azure.
func (k *Kind) possibleResources(in *input, subscription string) (out []arm.ID) {
	planned := k.newPlanInput(in, subscription, false)
	graph, err := machine.BuildDeletePlan(planned)
	if err != nil {
		return []arm.ID{plan.VMID(planned)}
	}
	for _, node := range graph.Nodes() {
		out = append(out, node.ID)
	}
	return out
}
