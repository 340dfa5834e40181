package azuremachine

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// FingerprintInputs implements reconcile.Input. It includes the providerID, because another reconciliation has to follow the one that
// sets it.
func (in *input) FingerprintInputs() []any {
	return []any{clusterinfra.PlannedSpec(in.cluster), in.azureCluster.Spec, in.machine.Spec, in.machine.Labels, in.azureMachine.Spec}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	in.planned = k.newPlanInput(in, session.Access.SubscriptionID, session.Access.LentGrants != nil)
	if errs := machine.UnsupportedFields(in.planned); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	errs, err := k.checkVMName(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	if in.planned.MachineFacts, err = k.Facts.MachineFacts(ctx, session.Caller(), in.planned, session.Power.IsRequested()); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	if in.azureMachine.Spec.ProviderID != nil && !in.planned.MachineFacts.VMExists {
		reportVMGone(in)
		return nil, reconcile.StopFor(reconcile.UntilResync)
	}
	if session.Power.Stop && !in.planned.MachineFacts.VMExists {
		return nil, waitStopped(session.Power)
	}
	if !in.planned.MachineFacts.VMExists {
		// This precedes the wait for bootstrap data: azure.json, which the data may take from a Secret, cannot be written without the
		// identity.
		if errs := k.Facts.FindMissingIdentities(ctx, session.Caller(), field.NewPath("spec"), in.azureMachine.Spec.UserAssignedIdentities); len(errs) > 0 {
			return nil, reconcile.RefuseSpec(errs)
		}
		if in.planned.BootstrapData,
			err = k.bootstrap.Read(ctx, k.Client, k.Secrets, in.azureMachine.Namespace, in.machine.Spec.Bootstrap.DataSecretName); err != nil {
			return nil, err
		}
		if in.planned.AzureMachine.Spec.OSDisk.OSType == infrav1.WindowsOS {
			in.planned.AdminPassword = k.passwords.PasswordFor(in.azureMachine.UID)
		}
		errs, err := k.checkScaleSet(ctx, in)
		if err != nil {
			return nil, err
		}
		if errs = append(errs, machine.CheckSpec(in.planned)...); len(errs) > 0 {
			return nil, reconcile.RefuseSpec(errs)
		}
	}
	graph, err := machine.BuildPlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &reconcile.Plan{Graph: graph, LastApplied: machine.LastApplied(in.planned)}, nil
}

// newPlanInput returns the input of the plan without facts. The objects are defaulted as by the webhooks, because they may have been
// stored before a default existed. lent is set if the identity belongs to another namespace.
func (k *Kind) newPlanInput(in *input, subscription string, lent bool) plan.MachineInput {
	azureCluster, azureMachine := in.azureCluster.DeepCopy(), in.azureMachine.DeepCopy()
	defaults.FillAzureCluster(azureCluster)
	group := azureCluster.Spec.ResourceGroup
	if lent && !applied.ReadInventory("AzureMachine", azureMachine).HasRoleOutside(group) {
		defaults.FillRoleScope(&azureMachine.Spec.ManagedIdentities, subscription, group)
	}
	defaults.FillAzureMachine(azureMachine, subscription)
	return plan.MachineInput{
		ClusterInput: plan.ClusterInput{
			Cluster:        in.cluster,
			AzureCluster:   azureCluster,
			SubscriptionID: subscription,
			Features:       k.Features,
			Facts:          plan.ClusterFacts{Zones: selfmanaged.AvailabilityZones(in.azureCluster)},
		},
		Machine:      in.machine,
		AzureMachine: azureMachine,
		ControlPlane: util.IsControlPlaneMachine(in.machine),
	}
}

// checkVMName refuses a new machine whose VM is that of another machine of the Cluster.
func (k *Kind) checkVMName(ctx context.Context, in *input) (field.ErrorList, error) {
	if in.azureMachine.Spec.ProviderID != nil || !machine.CanShareVM(in.azureMachine) {
		return nil, nil
	}
	machines, err := k.listClusterMachines(ctx, in)
	return machine.CheckVMName(in.azureMachine, machines), err
}

// listClusterMachines returns the AzureMachines of the Cluster by the label that Cluster API sets. They are not copies.
func (k *Kind) listClusterMachines(ctx context.Context, in *input) (out []*infrav1.AzureMachine, err error) {
	list := &infrav1.AzureMachineList{}
	if err := k.Client.List(ctx, list, client.InNamespace(in.azureMachine.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: in.cluster.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureMachines: %w", err)
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}

// checkScaleSet refuses a VM in the scale set of an AzureMachinePool of the Cluster: the pool would count the VM as its own, create a
// second Machine for it, and delete it as one too many.
func (k *Kind) checkScaleSet(ctx context.Context, in *input) (field.ErrorList, error) {
	id := in.azureMachine.Spec.VirtualMachineScaleSetID
	if id == nil {
		return nil, nil
	}
	objects, err := clusterinfra.ListMachinePools(ctx, k.Client, in.azureMachine.Namespace, in.cluster.Name)
	if err != nil {
		return nil, err
	}
	var pools []*infrav1.AzureMachinePool
	for _, object := range objects {
		pools = append(pools, object.(*infrav1.AzureMachinePool))
	}
	of := pool.FindScaleSetPool(in.planned.ClusterInput, pools, arm.ID(arm.TrimScheme(*id)))
	if of == nil {
		return nil, nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "virtualMachineScaleSetID"), *id,
		fmt.Sprintf("is the scale set of AzureMachinePool %s, which creates and deletes its VMs itself: choose a scale set of your own", of.Name))}, nil
}
