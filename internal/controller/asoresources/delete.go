package asoresources

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// PlanDeletion names what the documents of an object may have made. With the cluster its agent pools go.
func PlanDeletion(ctx context.Context, f *facts.Facts, turn reconcile.Turn, in plan.Input, withCluster, wholeGroups bool) (*reconcile.Plan, error) {
	if err := date(ctx, f, turn, &in); err != nil {
		return nil, reconcile.UnreadFor(infrav1.ResourcesReadyCondition, err)
	}
	if err := dropDeleted(ctx, f, turn, &in); err != nil {
		return nil, reconcile.UnreadFor(infrav1.ResourcesReadyCondition, err)
	}
	graph, err := plan.BuildDeletePlan(in, withCluster)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	migrated, _ := plan.SplitMigrated(in)
	return &reconcile.Plan{Graph: graph, Sent: plan.LastApplied(in), TagsOnly: in.UsesLentIdentity(), WholeGroups: wholeGroups, Migrated: migrated}, nil
}

// Held is what a person has to know who wants an object to go.
func (m *Members) Held(kind string, obj client.Object, subscription string) deletion.Held {
	request := m.Identity(kind, obj)
	held := deletion.Held{User: kind + " " + obj.GetName(), Identity: "Secret " + obj.GetNamespace() + "/" + request.Secret}
	if request.Secret == "" {
		held.Identity = deletion.Identity(request.Ref, obj.GetNamespace())
	}
	held.Azure = fmt.Sprintf("the resources of its spec.resources in subscription %s that carry the tag %s=%s",
		cmp.Or(subscription, "of its credential"), infrav1.ClusterTagKey(m.Cluster.Name), infrav1.TagOwned)
	return held
}
