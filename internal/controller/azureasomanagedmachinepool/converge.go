package azureasomanagedmachinepool

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.planned, err = in.members.LoadPlanInput(ctx, k.Client, session, k.Features.UncheckedASOKinds, asoresources.MachinePoolKind, in.object)
	in.planned.PowerState = power.PoolState(session.Power)
	return err
}

// FingerprintInputs implements reconcile.Input. The status of the control plane shows upgrades, stops and starts of the
// cluster.
func (in *input) FingerprintInputs() []any {
	inputs := asoresources.FingerprintInputs(in.planned)
	if controlPlane := in.members.ControlPlane; controlPlane != nil {
		inputs = append(inputs, controlPlane.Status.Version, aks.StoppedStatus(controlPlane))
	}
	return inputs
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	manifest, ok := in.planned.AgentPool()
	if !ok {
		return nil, reconcile.RefuseSpec(field.ErrorList{field.Required(field.NewPath("spec", "resources"),
			"a resource manifest of kind ManagedClustersAgentPool, group containerservice.azure.com")})
	}
	if errs := power.CheckPool(session.Power, manifest.Spec["mode"] == infrav1.NodePoolModeSystem); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	return in.members.PlanResources(ctx, k.Facts, session, &in.planned)
}
