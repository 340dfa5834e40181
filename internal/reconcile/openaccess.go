package reconcile

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// openAccess gives the reconciliation access to Azure.
func (a *azureReconciliation[O, I]) openAccess(ctx context.Context) error {
	ctx, span := tracing.StartStage(ctx, "open")
	opened, err := a.Access.Open(ctx, a.target.Identity)
	endStage(span, err)
	if err != nil {
		return err
	}
	if a.observing.isOn() {
		// No place in the code decides about writes alone: this client sends none.
		opened.Client = opened.Client.ReadOnly()
	}
	a.session = Session{Name: a.nameInEngine(a.key), Access: opened, Now: a.Now, Wake: a.wake.wakeFunc(a.key),
		Store: a.storeChanges, RunAction: a.runAction, Observing: a.observing.isOn(), Intend: a.intend, Power: &Power{}}
	return nil
}

// addIdentityFinalizer keeps the AzureClusterIdentity from being deleted before the object.
func (a *azureReconciliation[O, I]) addIdentityFinalizer(ctx context.Context) error {
	if a.declaration.IdentityUsers == nil {
		return nil
	}
	err := a.Access.AddFinalizer(ctx, a.session.Access, a.declaration.Finalizer, a.object)
	if identity.CodeOf(err) != "" {
		return ReadFailed(err)
	}
	if err != nil {
		return fmt.Errorf("add the finalizer to the identity: %w", err)
	}
	return nil
}
