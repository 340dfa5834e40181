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

// PlanDeletion plans the deletion of the resources that the manifests of an object may have created. Agent pools are deleted with the
// cluster if withCluster is set.
func PlanDeletion(ctx context.Context, f *facts.Facts, session reconcile.Session, in plan.Input, withCluster,
	deleteWholeGroups bool) (*reconcile.Plan, error) {
	if err := readCreationTimes(ctx, f, session, &in); err != nil {
		return nil, reconcile.ReadFailedFor(infrav1.ResourcesReadyCondition, err)
	}
	dropDeleted(ctx, f, session, &in)
	graph, err := plan.BuildDeletePlan(in, withCluster)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	migrated, _ := plan.SplitMigrated(in)
	return &reconcile.Plan{Graph: graph, LastApplied: plan.LastApplied(in), IsOthers: in.IsDeclaredElsewhere, IgnoreInventory: in.UsesLentIdentity(),
		DeleteWholeGroups: deleteWholeGroups, Migrated: migrated}, nil
}

// DescribeResources describes the resources that an object may have created in Azure. shown is set if the object's own fields show that
// it created some.
func (m *Members) DescribeResources(kind string, obj client.Object, subscription string, shown bool) deletion.Resources {
	request := m.AccessRequest(kind, obj)
	out := deletion.Resources{
		NothingCreated: !shown && plan.NothingCreated(obj),
		User:           kind + " " + obj.GetName(), Identity: "Secret " + obj.GetNamespace() + "/" + request.Secret,
		AzureResources: fmt.Sprintf("the resources of its spec.resources in subscription %s that carry the tag %s=%s",
			cmp.Or(subscription, "of its credential"), infrav1.ClusterTagKey(m.Cluster.Name), infrav1.TagOwned),
	}
	if request.Secret == "" {
		out.Identity = deletion.DescribeIdentity(request.IdentityRef, obj.GetNamespace())
	}
	return out
}
