package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.planned, err = aks.LoadPlanInput(ctx, k.Client, in.cluster, in.controlPlane, session.Access.SubscriptionID)
	return err
}

// FingerprintInputs implements reconcile.Input. Of the pools it includes the part that the cluster's own PUT depends on.
func (in *input) FingerprintInputs() []any {
	var pools []string
	for _, pool := range in.planned.Pools {
		version := ""
		if pool.MachinePool != nil {
			version = pool.MachinePool.Spec.Template.Spec.Version
		}
		pools = append(pools, strings.Join([]string{pool.AzurePool.Name, pool.AzurePool.Spec.Mode, version}, "/"))
	}
	return []any{clusterinfra.PlannedSpec(in.cluster), in.controlPlane.Spec, pools, aks.SecretValues(in.planned)}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.readFacts(ctx, session.Caller(), in); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	if errs := plan.CheckSpec(in.planned); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	wrongVersion := aks.CheckVersion(ctx, k.Facts, session.Caller(), in.planned.SubscriptionID, in.planned.ControlPlane.Spec.Location,
		field.NewPath("spec", "version"), in.planned.ControlPlane.Spec.Version, in.planned.Facts.Cluster)
	if len(wrongVersion) > 0 && len(in.planned.Facts.Cluster) == 0 {
		// This precedes the group and the network, which AKS would leave behind with its refusal.
		return nil, reconcile.RefuseSpec(wrongVersion)
	}
	graph, exports, err := plan.BuildPlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	in.exports = exports
	aks.DenyVersion(graph.Node(plan.ClusterID(in.planned)), wrongVersion)
	return &reconcile.Plan{Graph: graph, LastApplied: plan.LastApplied(in.planned)}, nil
}

// readFacts reads the facts of the plan.
func (k *Kind) readFacts(ctx context.Context, caller facts.Caller, in *input) (err error) {
	if err := k.Facts.CheckRegion(ctx, caller, in.planned.SubscriptionID, in.planned.ControlPlane.Spec.Location); err != nil {
		return err
	}
	// This read answers the following ones if the group does not exist. An error is reported by the node of the group.
	_, _ = k.Facts.ReadResource(ctx, caller, plan.ResourceGroupID(in.planned))
	key, value := plan.OwnerTag(in.planned)
	if in.planned.Facts.VNet, err = k.Facts.ReadVNet(ctx, caller, plan.VNetID(in.planned), key, value); err != nil {
		return err
	}
	if in.planned.Facts.Subnet, err = k.Facts.ReadResource(ctx, caller, plan.SubnetID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.Cluster, err = k.Facts.ReadResource(ctx, caller, plan.ClusterID(in.planned))
	return err
}
