// Package access gives reconcilers what they ask Azure with in the name of a cluster: the identity's credential and
// client, and the subscription. It also keeps the identity from being deleted while a cluster depends on it.
package access

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// Access is the right to ask Azure as one identity in one subscription.
type Access struct {
	*identity.Resolved
	Client         *armclient.Client
	SubscriptionID string
}

// Request says whose identity is wanted and for what.
type Request struct {
	// Ref is spec.identityRef, Namespace that of the object.
	Ref       *corev1.ObjectReference
	Namespace string
	// Environment is spec.azureEnvironment, SubscriptionID spec.subscriptionID; either may be "".
	Environment    string
	SubscriptionID string
}

// Gate opens accesses.
type Gate struct {
	Kubernetes client.Client
	// Fresh reads from the API server, where Kubernetes may read from a cache.
	Fresh      client.Reader
	Identities *identity.Provider
	Clients    *identity.Clients

	// finalizers is held while those of an identity are changed.
	finalizers sync.Mutex
}

// Open resolves the identity. Errors that a person has to act on are *identity.Error.
func (g *Gate) Open(ctx context.Context, request Request) (*Access, error) {
	resolved, err := g.Identities.Resolve(ctx, request.Ref, request.Namespace, request.Environment)
	if err != nil {
		return nil, err
	}
	subscription, err := g.Identities.Subscription(request.SubscriptionID)
	if err != nil {
		return nil, err
	}
	c, err := g.Clients.For(resolved)
	if err != nil {
		return nil, err
	}
	return &Access{Resolved: resolved, Client: c, SubscriptionID: subscription}, nil
}

// Hold puts the finalizer of owner on the identity, so that it outlives what it is needed to delete. prefix is the
// finalizer of the owner's kind.
func (g *Gate) Hold(ctx context.Context, access *Access, prefix string, owner client.Object) error {
	return g.patch(ctx, access, func(object client.Object) bool {
		added := controllerutil.AddFinalizer(object, identity.FinalizerKey(prefix, owner.GetNamespace(), owner.GetName()))
		removed := controllerutil.RemoveFinalizer(object, identity.LegacyFinalizerKey(prefix, owner.GetNamespace(), owner.GetName()))
		return added || removed
	})
}

// Release takes the finalizer of owner away.
func (g *Gate) Release(ctx context.Context, access *Access, prefix string, owner client.Object) error {
	return g.patch(ctx, access, func(object client.Object) bool {
		current := controllerutil.RemoveFinalizer(object, identity.FinalizerKey(prefix, owner.GetNamespace(), owner.GetName()))
		legacy := controllerutil.RemoveFinalizer(object, identity.LegacyFinalizerKey(prefix, owner.GetNamespace(), owner.GetName()))
		return current || legacy
	})
}

// patch changes the identity's finalizers. Many clusters may do so at once: those of this process take turns, and each
// begins with what the API server has, so that none undoes what another one did. Somebody else who is faster is answered by
// another turn.
func (g *Gate) patch(ctx context.Context, access *Access, change func(client.Object) bool) error {
	if !change(access.Identity.DeepCopy()) {
		return nil
	}
	g.finalizers.Lock()
	defer g.finalizers.Unlock()
	key := client.ObjectKeyFromObject(access.Identity)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stored := access.Identity.DeepCopy()
		if err := g.Fresh.Get(ctx, key, stored); err != nil {
			return err
		}
		changed := stored.DeepCopy()
		if !change(changed) {
			return nil
		}
		return g.Kubernetes.Patch(ctx, changed, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("finalizers of AzureClusterIdentity %s: %w", key, err)
	}
	return nil
}
