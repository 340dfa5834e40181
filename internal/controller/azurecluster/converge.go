package azurecluster

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.controlPlaneSize, err = k.findControlPlaneSize(ctx, in.cluster)
	in.planned = k.newPlanInput(in, session.Access.SubscriptionID)
	return err
}

// FingerprintInputs implements reconcile.Input.
func (in *input) FingerprintInputs() []any {
	return []any{clusterinfra.PlannedSpec(in.cluster), in.azureCluster.Spec, in.controlPlaneSize}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if errs := cluster.UnsupportedFields(in.planned); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	var err error
	superseded := make(chan struct{})
	zones := func() {
		close(superseded)
		session.Wake()
	}
	if in.planned.Facts, err = k.Facts.ClusterFacts(ctx, session.Caller(), in.planned, zones); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	// A missing list of zones may delay an existing network, but not the creation of a new one, unless the spec names zones. An
	// existing network must not look unfinished.
	provisioned := in.azureCluster.Status.Initialization.Provisioned != nil
	if in.planned.Facts.ZonesPending && (provisioned || cluster.HasZones(in.planned)) {
		return nil, reconcile.WaitForFacts()
	}
	if errs := cluster.CheckSpec(in.planned); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	graph, err := cluster.BuildPlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &reconcile.Plan{Graph: graph, Superseded: superseded, LastApplied: cluster.LastApplied(in.planned),
		Ignored: cluster.IgnoredTags(in.planned)}, nil
}

// newPlanInput returns the input of the plan without facts. The object is defaulted as by the webhook, because it may have been stored
// before a default existed.
func (k *Kind) newPlanInput(in *input, subscription string) plan.ClusterInput {
	defaulted := in.azureCluster.DeepCopy()
	defaults.FillAzureCluster(defaulted)
	return plan.ClusterInput{
		Cluster:          in.cluster,
		AzureCluster:     defaulted,
		SubscriptionID:   subscription,
		ControlPlaneSize: in.controlPlaneSize,
		Features:         k.Features,
	}
}
