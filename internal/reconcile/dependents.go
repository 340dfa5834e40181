package reconcile

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
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

// releaseDependents removes the finalizer of dependents that are being deleted although the object is gone, for example because users removed
// its finalizers during a pause. No other controller removes it, and until then the dependents, their Machines and the namespace stay.
func (p *reconciliation[O, I]) releaseDependents(ctx context.Context) error {
	of := p.declaration.Dependents
	if of == nil {
		return nil
	}
	p.object.SetNamespace(p.key.Namespace)
	p.object.SetName(p.key.Name)
	dependents, err := of.List(ctx, p.object)
	if err != nil {
		return err
	}
	for _, dependent := range dependents {
		if dependent.GetDeletionTimestamp().IsZero() || annotations.HasPaused(dependent) {
			continue
		}
		removed, err := patch.RemoveFinalizer(ctx, p.Client, dependent, of.Finalizer)
		if err != nil {
			return fmt.Errorf("%s: %w", of.Kind, err)
		}
		if removed {
			deletion.RecordAbandoned(ctx, p.eventRecorder, dependent, p.declaration.Name+" "+p.key.Name+" is gone", of.DescribeResource(dependent))
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
