package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"strings"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Prepare implements reconcile.Kind.
func (k *Kind) Prepare(ctx context.Context, turn reconcile.Turn, in *input) (err error) {
	in.planned, err = aks.Input(ctx, k.Client, in.cluster, in.controlPlane, turn.Access.SubscriptionID)
	return err
}

// Inputs implements reconcile.Kind. Of the pools it is what the cluster's own PUT depends on.
func (k *Kind) Inputs(in *input) []any {
	var pools []string
	for _, pool := range in.planned.Pools {
		version := ""
		if pool.MachinePool != nil {
			version = pool.MachinePool.Spec.Template.Spec.Version
		}
		pools = append(pools, strings.Join([]string{pool.AzurePool.Name, pool.AzurePool.Spec.Mode, version}, "/"))
	}
	return []any{in.cluster.Spec, in.controlPlane.Spec, pools, aks.SecretValues(in.planned)}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if err := k.ask(ctx, turn.Access.Client, in); err != nil {
		return nil, reconcile.Unread(err)
	}
	if errs := plan.CheckSpec(in.planned); len(errs) > 0 {
		return nil, reconcile.Refused(errs)
	}
	graph, exports, err := plan.BuildPlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	in.exports = exports
	return &reconcile.Plan{Graph: graph, Sent: plan.LastApplied(in.planned)}, nil
}

// ask fills in what the plan wants to know of Azure.
func (k *Kind) ask(ctx context.Context, c *armclient.Client, in *input) (err error) {
	if err := k.Facts.CheckRegion(ctx, c, in.planned.SubscriptionID, in.planned.ControlPlane.Spec.Location); err != nil {
		return err
	}
	// While there is no group, nothing in it need be asked for. Why the group cannot be read is told of the group.
	_, _ = k.Facts.ReadResource(ctx, c, plan.ResourceGroupID(in.planned))
	key, value := plan.OwnerTag(in.planned)
	if in.planned.Facts.VNet, err = k.Facts.ReadVNet(ctx, c, plan.VNetID(in.planned), key, value); err != nil {
		return err
	}
	if in.planned.Facts.Subnet, err = k.Facts.ReadResource(ctx, c, plan.SubnetID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.Cluster, err = k.Facts.ReadResource(ctx, c, plan.ClusterID(in.planned))
	return err
}
