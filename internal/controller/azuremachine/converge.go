package azuremachine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api/util"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Prepare implements reconcile.Kind.
func (k *Kind) Prepare(_ context.Context, turn reconcile.Turn, in *input) error {
	in.planned = k.planInput(in, turn.Access.SubscriptionID, turn.Access.Lent != nil)
	return nil
}

// Inputs implements reconcile.Kind. The providerID counts: the pass that sets it is not the last.
func (k *Kind) Inputs(in *input) []any {
	return []any{in.cluster.Spec, in.azureCluster.Spec, in.machine.Spec, in.machine.Labels, in.azureMachine.Spec}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if errs := machine.Unsupported(in.planned); len(errs) > 0 {
		return nil, reconcile.Refused(errs)
	}
	var err error
	if in.planned.MachineFacts, err = k.Facts.MachineFacts(ctx, turn.Access.Client, in.planned); err != nil {
		return nil, reconcile.Unread(err)
	}
	if in.azureMachine.Spec.ProviderID != nil && !in.planned.MachineFacts.VMExists {
		reportVMGone(in)
		return nil, reconcile.Stop(reconcile.UntilResync)
	}
	if !in.planned.MachineFacts.VMExists {
		if in.planned.BootstrapData, err = selfmanaged.BootstrapData(ctx, k.Client, in.azureMachine.Namespace, in.machine.Spec.Bootstrap.DataSecretName); err != nil {
			return nil, err
		}
		if in.planned.AzureMachine.Spec.OSDisk.OSType == infrav1.WindowsOS {
			in.planned.AdminPassword = k.passwords.Of(in.azureMachine.UID)
		}
		if errs := machine.Check(in.planned); len(errs) > 0 {
			return nil, reconcile.Refused(errs)
		}
	}
	graph, err := machine.Plan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &reconcile.Plan{Graph: graph, Sent: machine.Memory(in.planned)}, nil
}

// planInput is what the plan is computed from, without the facts. The objects are defaulted as the webhook does it, for
// those that were stored before a default existed. lent tells that the identity is of another namespace.
func (k *Kind) planInput(in *input, subscription string, lent bool) plan.MachineInput {
	azureCluster, azureMachine := in.azureCluster.DeepCopy(), in.azureMachine.DeepCopy()
	defaults.FillAzureCluster(azureCluster)
	if lent && !hasRoleElsewhere(azureMachine, azureCluster.Spec.ResourceGroup) {
		defaults.FillRoleScope(&azureMachine.Spec.ManagedIdentities, subscription, azureCluster.Spec.ResourceGroup)
	}
	defaults.FillAzureMachine(azureMachine, subscription)
	return plan.MachineInput{
		ClusterInput: plan.ClusterInput{
			Cluster:        in.cluster,
			AzureCluster:   azureCluster,
			SubscriptionID: subscription,
			Features:       k.Features,
			Facts:          plan.ClusterFacts{Zones: selfmanaged.Zones(in.azureCluster)},
		},
		Machine:      in.machine,
		AzureMachine: azureMachine,
		ControlPlane: util.IsControlPlaneMachine(in.machine),
	}
}

const roleAssignment = "Microsoft.Authorization/roleAssignments"

// hasRoleElsewhere tells whether a role was assigned to the machine's identity outside of a resource group, when its scope had another
// default. It stays the machine's.
func hasRoleElsewhere(azureMachine *infrav1.AzureMachine, group string) bool {
	return slices.ContainsFunc(inventory.Of("AzureMachine", azureMachine).Made, func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), roleAssignment) && !strings.EqualFold(id.ResourceGroup(), group)
	})
}
