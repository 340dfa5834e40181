package azuremachinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.planned = k.newPlanInput(in, session.Access.SubscriptionID, session.Access.LentGrants != nil)
	if in.planned.ClusterPools, err = k.listClusterPools(ctx, in); err != nil {
		return err
	}
	if in.planned.BootstrapData,
		err = k.bootstrap.Read(ctx, k.Client, k.Secrets, in.azurePool.Namespace,
		in.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName); err != nil {
		// azure.json, which the data may take from a Secret, cannot be written without the identity.
		if errs := k.findMissingIdentities(ctx, session, in); len(errs) > 0 {
			return reconcile.RefuseSpec(errs)
		}
		return err
	}
	if in.azurePool.Spec.Template.OSDisk.OSType == infrav1.WindowsOS {
		in.planned.AdminPassword = k.passwords.PasswordFor(in.azurePool.UID)
	}
	if err := k.loadMembers(ctx, in); err != nil {
		return err
	}
	in.countReady()
	return nil
}

// FingerprintInputs implements reconcile.Input. The content of bootstrap data is not included, because new data are only for future VMs.
// A pool to which others add VMs is reconciled every minute.
func (in *input) FingerprintInputs() []any {
	members := make([]memberState, 0, len(in.members))
	for _, m := range in.members {
		members = append(members, m.readState())
	}
	return []any{
		clusterinfra.PlannedSpec(in.cluster), in.infrastructure.Spec(), in.machinePool.Spec.Replicas, in.machinePool.Spec.FailureDomains, in.machinePool.Spec.Template,
		in.machinePool.Annotations, in.azurePool.Spec, in.planned.BootstrapData != nil, members,
	}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if errs := append(pool.UnsupportedFields(in.planned), pool.CheckScaleSetName(in.planned)...); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	if err := k.readFacts(ctx, session, in); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	in.power = session.Power
	in.applyPower()
	errs := pool.CheckSpec(in.planned)
	if !in.scaleSet.Exists {
		errs = append(errs, k.findMissingIdentities(ctx, session, in)...)
	}
	if len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	if err := k.decideRollout(ctx, session, in); err != nil {
		return nil, err
	}
	graph, err := pool.BuildPlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if in.denied = pool.IsDenied(in.planned, graph); in.denied {
		in.actions.Capacity = nil
	}
	return &reconcile.Plan{Graph: graph, LastApplied: pool.LastApplied(in.planned)}, nil
}

// findMissingIdentities returns an error for each identity of the VMs that does not exist.
func (k *Kind) findMissingIdentities(ctx context.Context, session reconcile.Session, in *input) field.ErrorList {
	return k.Facts.FindMissingIdentities(ctx, session.Caller(), field.NewPath("spec"), in.azurePool.Spec.UserAssignedIdentities)
}

// newPlanInput returns the input of the plan without facts. The objects are defaulted as by the webhooks, because they may have been
// stored before a default existed, or when the subscription was not known. lent is set if the identity belongs to another namespace.
func (k *Kind) newPlanInput(in *input, subscription string, lent bool) pool.Input {
	out := pool.Input{ClusterInput: in.infrastructure.PlanInput(in.cluster, subscription, k.Features), MachinePool: in.machinePool,
		AzureMachinePool: in.azurePool.DeepCopy()}
	group := in.infrastructure.ResourceGroup(out.ClusterInput)
	if lent && !applied.ReadInventory("AzureMachinePool", in.azurePool).HasRoleOutside(group) {
		defaults.FillRoleScope(&out.AzureMachinePool.Spec.ManagedIdentities, subscription, group)
	}
	defaults.FillAzureMachinePool(out.AzureMachinePool, subscription)
	return out
}

// readFacts reads the facts of the plan.
func (k *Kind) readFacts(ctx context.Context, session reconcile.Session, in *input) (err error) {
	known, caller := &in.planned.PoolFacts, session.Caller()
	if in.planned.ClusterInput, err = in.infrastructure.AddFacts(ctx, k.Facts, caller, in.planned.ClusterInput); err != nil {
		return err
	}
	if known.VMSize, known.NearestVMSizes,
		err = k.Facts.FindVMSize(ctx, caller, in.planned.ClusterInput, in.planned.AzureMachinePool.Spec.Template.VMSize); err != nil {
		return err
	}
	if known.VNet, err = k.Facts.ReadClusterVNet(ctx, caller, in.planned.ClusterInput); err != nil {
		return err
	}
	// The deletion of a VM lowers the capacity of the scale set, so an earlier read must not be reused.
	id := pool.ScaleSetID(in.planned)
	observed, err := k.Engine.Observe(ctx, caller.Client, []arm.ID{id}, true, session.Read)
	if err != nil {
		return err
	}
	if err := observed[id.Key()].Err; err != nil {
		return err
	}
	if in.scaleSet, err = facts.ParseScaleSet(id, observed[id.Key()].Body); err != nil {
		return err
	}
	known.ScaleSetExists, known.PrincipalID = in.scaleSet.Exists, in.scaleSet.PrincipalID
	known.ScaleSet = in.scaleSet.Body
	known.BootstrapDataHash = in.scaleSet.Tags[strings.ToLower(infrav1.CustomDataHashTag)]
	return nil
}

// decideRollout reads the VMs of an existing scale set, and decides which of them are deleted and how many there have to be. The
// decision is based on one list, read after the last deletion was sent to Azure.
func (k *Kind) decideRollout(ctx context.Context, session reconcile.Session, in *input) error {
	if !in.scaleSet.Exists {
		return nil
	}
	list, err := k.Facts.ListScaleSetVMs(ctx, session.Caller(), pool.ScaleSetID(in.planned), isFlexible(in))
	if err != nil {
		return reconcile.ReadFailed(err)
	}
	if in.vms, err = pool.ReadInstances(in.planned, session.Migration, list); err != nil {
		return reconcile.ReadFailed(err)
	}
	if err := k.recheckMissing(ctx, session, in, list); err != nil {
		return err
	}
	outdated, err := pool.IsOutdated(in.planned, session.Migration, in.scaleSet.Body)
	if err != nil {
		return reconcile.ReadFailed(err)
	}
	spec, err := in.rolloutSpec()
	if err != nil {
		return err
	}
	if in.fixed, err = pool.CheckFixedProperties(in.planned); err != nil {
		return reconcile.ReadFailed(err)
	}
	invalid, tags := pool.CheckKept(in.planned)
	in.fixed, in.keptTags = append(invalid, in.fixed...), tags
	cannotChange, newTemplate := len(in.fixed) > 0, false
	if spec.MaxModels > 0 && !cannotChange {
		if newTemplate, err = pool.ChangesTemplate(in.planned, session.Migration); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	templateKept := cannotChange
	if len(pool.CheckNewVMs(in.planned)) > 0 {
		// Azure would make no VM in exchange for one that goes, and the scale set does not get the new template.
		outdated, newTemplate, templateKept = true, false, false
	}
	in.wanted = spec
	in.stale = in.recheckIncomplete || k.requests.hasUnseen(session.Name, in.vms)
	in.actions = in.holdRollout(rollout.DecideActions(spec, rollout.Observed{
		Stale: in.stale, Outdated: outdated, NewTemplate: newTemplate, TemplateKept: templateKept,
		Capacity: in.scaleSet.Capacity, Updating: isBusy(in), Instances: in.rolloutInstances(),
	}))
	in.planned.KeepTemplate = in.actions.HoldTemplate || in.power.Stop || cannotChange
	azureAdds, err := pool.AzureAddsVMs(in.planned)
	if err != nil {
		return reconcile.ReadFailed(err)
	}
	in.othersAddVMs = azureAdds || in.isScaledElsewhere()
	// The token in the data that the scale set has ends, and VMs that others add would not join. A stopped pool gets no VMs.
	in.planned.SendBootstrapData = in.othersAddVMs && !in.power.Stop && !k.PlaceholderData && rollout.CanAddModel(spec, in.rolloutInstances())
	if !isFlexible(in) && k.requests.hasUnfinished(session.Name, in.vms) {
		// A uniform scale set runs one operation at a time; its end wakes the pool.
		in.actions.Capacity, in.planned.KeepTemplate = nil, newTemplate || cannotChange
		in.planned.SendBootstrapData = false
	}
	in.planned.Capacity = in.actions.Capacity
	return nil
}

// isBusy reports whether Azure is changing the scale set or creating VMs for it.
func isBusy(in *input) bool {
	switch strings.ToLower(in.scaleSet.State) {
	case "creating", "updating":
		return true
	}
	return slices.ContainsFunc(in.vms, func(vm pool.Instance) bool { return strings.EqualFold(vm.ProvisioningState, "Creating") })
}

func isFlexible(in *input) bool {
	return in.planned.AzureMachinePool.Spec.OrchestrationMode == infrav1.FlexibleOrchestration
}

// rolloutSpec returns the part of the spec about single VMs.
func (in *input) rolloutSpec() (rollout.Spec, error) {
	replicas := pool.WantedReplicas(in.planned)
	spec := rollout.Spec{Replicas: replicas, Policy: rollout.Oldest, ScaledByAutoscaler: in.isScaledElsewhere()}
	if !isFlexible(in) {
		spec.MaxModels = rollout.MaxModels
	}
	strategy := in.planned.AzureMachinePool.Spec.Strategy.RollingUpdate
	if strategy == nil {
		strategy = &infrav1.MachineRollingUpdateDeployment{}
	}
	if strategy.DeletePolicy != "" {
		spec.Policy = rollout.Policy(strategy.DeletePolicy)
	}
	var err error
	if spec.Limits, err = rollout.ResolveLimits(strategy.MaxSurge, strategy.MaxUnavailable, replicas); err != nil {
		path := field.NewPath("spec", "strategy", "rollingUpdate")
		return spec, reconcile.RefuseSpec(field.ErrorList{field.Invalid(path, strategy, err.Error())})
	}
	return spec, nil
}
