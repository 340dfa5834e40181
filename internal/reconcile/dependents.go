package reconcile

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// showPauseInDependents shows the pause of the object, or its end, in its dependents, which no controller reconciles.
func (p *reconciliation[O, I]) showPauseInDependents(ctx context.Context) error {
	kind := p.declaration.Dependents.Kind
	dependents, err := p.declaration.Dependents.List(ctx, p.object)
	if err != nil {
		return err
	}
	for _, dependent := range dependents {
		changes := patch.TrackRelatedChanges(p.Client, dependent)
		lifecycle.UpdatePausedCondition(dependent, kind, p.target.Cluster)
		if err := changes.Write(ctx); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// renewOwnerReferences updates the owner references of the Secrets and ConfigMaps that the object has published. A stable object
// publishes nothing.
func (p *reconciliation[O, I]) renewOwnerReferences(ctx context.Context) error {
	if !p.declaration.PublishesValues {
		return nil
	}
	return published.Publisher{
		Client: p.Client, Owner: p.object, Kind: p.declaration.Name, Cluster: p.target.Cluster.Name,
	}.RenewOwnerReferences(ctx)
}
