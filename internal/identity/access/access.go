// Package access gives reconcilers their access to Azure: the client and credential of a cluster's identity, and the subscription. It
// also keeps the identity from being deleted while a cluster depends on it.
package access

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
)

// Access is the access to one Azure subscription as one identity.
type Access struct {
	*identity.Resolved
	Client         *armclient.Client
	SubscriptionID string
	// LentGrants are the grants of an identity of another namespace, which its owner gives. They are nil for an identity of the
	// object's own namespace, and if tenants are trusted.
	LentGrants *lent.Grants
}

// Request selects the identity and the subscription.
type Request struct {
	// IdentityRef is spec.identityRef, Namespace the namespace of the object.
	IdentityRef *corev1.ObjectReference
	Namespace   string
	// Environment is spec.azureEnvironment, SubscriptionID is spec.subscriptionID; both may be "".
	Environment    string
	SubscriptionID string
	// Secret is the name of a Secret of the namespace in the format of the Azure Service Operator. It takes precedence over
	// IdentityRef, and its subscription over SubscriptionID.
	Secret string
	// APIVersions replaces the default api-versions of resource types.
	APIVersions map[string]string
}

// RequestForAzureCluster returns the request of a self-managed cluster.
func RequestForAzureCluster(azureCluster *infrav1.AzureCluster) Request {
	spec := azureCluster.Spec
	return Request{
		IdentityRef: spec.IdentityRef, Namespace: azureCluster.Namespace, Environment: spec.AzureEnvironment, SubscriptionID: spec.SubscriptionID,
	}
}

// Opener resolves identityRefs to clients of Azure.
type Opener struct {
	Client client.Client
	// APIReader reads from the API server, while Client may read from a cache.
	APIReader  client.Reader
	Identities *identity.Provider
	Clients    *identity.Clients

	// finalizers serializes changes of the finalizers of identities.
	finalizers lock
}

// Open resolves the identity. An error that a person has to act on is an *identity.Error.
func (o *Opener) Open(ctx context.Context, request Request) (*Access, error) {
	resolved, subscription, err := o.resolveIdentity(ctx, request)
	if err != nil {
		return nil, err
	}
	c, err := o.Clients.ClientFor(resolved)
	if err != nil {
		return nil, err
	}
	c = c.ForTenant(request.Namespace)
	for resourceType, version := range request.APIVersions {
		c = c.WithAPIVersion(resourceType, version)
	}
	return &Access{Resolved: resolved, Client: c, SubscriptionID: subscription, LentGrants: o.lentGrants(resolved, request.Namespace)}, nil
}

// lentGrants returns the grants of an identity to objects of a namespace, or nil if the identity is not lent.
func (o *Opener) lentGrants(resolved *identity.Resolved, namespace string) *lent.Grants {
	of := resolved.Identity
	if resolved.OfSecret || of.Namespace == namespace || o.Identities.TrustsTenants() {
		return nil
	}
	return &lent.Grants{
		Identity: identity.Kind + " " + of.Namespace + "/" + of.Name, Resources: lent.ParseIDs(of.Spec.AllowedResources),
		RoleScopes: lent.ParseIDs(of.Spec.AllowedRoleScopes),
	}
}

// GetTokenToPublish returns a token of the identity for a Secret of the object's namespace. It returns none of a lent identity: readers of
// the Secret could use it wherever the identity has rights, also in clusters of others.
func (a *Access) GetTokenToPublish(ctx context.Context, scope string) (azcore.AccessToken, error) {
	if a.LentGrants != nil {
		return azcore.AccessToken{}, &identity.Error{Code: identity.NotAllowedByTenancy, Message: fmt.Sprintf(
			"%s is in another namespace, and its token is valid for all AKS clusters that accept it, so the token is not written into a Secret of this namespace. Use an %s of this namespace, or enable local accounts of the AKS cluster",
			a.LentGrants.Identity, identity.Kind)}
	}
	return a.Credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
}

// resolveIdentity returns the identity and its subscription.
func (o *Opener) resolveIdentity(ctx context.Context, request Request) (*identity.Resolved, string, error) {
	if request.Secret != "" {
		return o.Identities.ResolveSecret(ctx, client.ObjectKey{Namespace: request.Namespace, Name: request.Secret}, request.Environment)
	}
	resolved, err := o.Identities.Resolve(ctx, request.IdentityRef, request.Namespace, request.Environment)
	if err != nil {
		return nil, "", err
	}
	subscription, err := o.Identities.ResolveSubscription(request.SubscriptionID)
	return resolved, subscription, err
}

// ResolveSubscription returns the specified subscription or the manager's default; "" if there is neither.
func (o *Opener) ResolveSubscription(specified string) string {
	subscription, _ := o.Identities.ResolveSubscription(specified) // Open returns this error.
	return subscription
}

// AddFinalizer puts the finalizer of owner on the identity, so that the identity is not deleted before owner's resources, and removes
// it from identities that owner named before. prefix is the finalizer of the owner's kind. It returns an *identity.Error for an
// identity that is being deleted and does not have the finalizer yet: the API server accepts no new finalizers then.
func (o *Opener) AddFinalizer(ctx context.Context, access *Access, prefix string, owner client.Object) error {
	if access.OfSecret {
		return o.RemoveFinalizers(ctx, prefix, client.ObjectKeyFromObject(owner))
	}
	current := identity.FinalizerKey(prefix, owner.GetNamespace(), owner.GetName())
	legacy := identity.LegacyFinalizerKey(prefix, owner.GetNamespace(), owner.GetName())
	refused := false
	err := o.patchFinalizers(ctx, access.Identity, func(object client.Object) bool {
		if !object.GetDeletionTimestamp().IsZero() {
			// The finalizer of the established provider counts as well.
			refused = !controllerutil.ContainsFinalizer(object, current) && !controllerutil.ContainsFinalizer(object, legacy)
			return false
		}
		added := controllerutil.AddFinalizer(object, current)
		return controllerutil.RemoveFinalizer(object, legacy) || added
	})
	if err != nil {
		return err
	}
	if refused {
		return &identity.Error{Code: identity.IdentityBeingDeleted, Message: fmt.Sprintf(
			"spec.identityRef: %s %s is being deleted, so nothing new can use it. Name another identity, or create it again once it is gone",
			identity.Kind, client.ObjectKeyFromObject(access.Identity))}
	}
	return o.removeFinalizersExcept(ctx, prefix, client.ObjectKeyFromObject(owner), client.ObjectKeyFromObject(access.Identity))
}

// RemoveFinalizers removes the finalizer of owner from every identity that has it: the one in its spec, and former ones. It needs no
// access, because the identity may have lost its credential.
func (o *Opener) RemoveFinalizers(ctx context.Context, prefix string, owner client.ObjectKey) error {
	return o.removeFinalizersExcept(ctx, prefix, owner, client.ObjectKey{})
}

// removeFinalizersExcept is RemoveFinalizers without the identity keep.
func (o *Opener) removeFinalizersExcept(ctx context.Context, prefix string, owner, keep client.ObjectKey) error {
	current := identity.FinalizerKey(prefix, owner.Namespace, owner.Name)
	legacy := identity.LegacyFinalizerKey(prefix, owner.Namespace, owner.Name)
	list := &infrav1.AzureClusterIdentityList{}
	// All identities of the cache are searched, and patchFinalizers changes copies.
	if err := o.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list AzureClusterIdentities: %w", err)
	}
	for i := range list.Items {
		held := &list.Items[i]
		if client.ObjectKeyFromObject(held) == keep ||
			!controllerutil.ContainsFinalizer(held, current) && !controllerutil.ContainsFinalizer(held, legacy) {
			continue
		}
		shared, err := o.sharesFinalizer(ctx, prefix, owner, held)
		if err != nil {
			return err
		}
		if shared {
			continue
		}
		err = o.patchFinalizers(ctx, held, func(object client.Object) bool {
			removed := controllerutil.RemoveFinalizer(object, current)
			return controllerutil.RemoveFinalizer(object, legacy) || removed
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sharesFinalizer reports whether another user of an identity has the same finalizer on it as owner: that of a-b/c is that of a/b-c.
func (o *Opener) sharesFinalizer(ctx context.Context, prefix string, owner client.ObjectKey, held *infrav1.AzureClusterIdentity) (bool, error) {
	legacy := identity.LegacyFinalizerKey(prefix, owner.Namespace, owner.Name)
	for _, users := range UsersOfAllKinds(o.Client) {
		if users.Finalizer != prefix {
			continue
		}
		list, err := users.List(ctx)
		if err != nil {
			return false, err
		}
		for _, obj := range list {
			if client.ObjectKeyFromObject(obj) != owner && users.refersTo(obj, held) &&
				identity.LegacyFinalizerKey(prefix, obj.GetNamespace(), obj.GetName()) == legacy {
				return true, nil
			}
		}
	}
	return false, nil
}

// patchFinalizers changes the finalizers of an identity. Many clusters may do so at once: writes of this process are serialized and
// begin with the version of the API server, so that none reverts another. Conflicts with other writers are retried.
func (o *Opener) patchFinalizers(ctx context.Context, held *infrav1.AzureClusterIdentity, change func(client.Object) bool) error {
	if !change(held.DeepCopy()) {
		return nil
	}
	key := client.ObjectKeyFromObject(held)
	if err := o.finalizers.acquire(ctx); err != nil {
		return fmt.Errorf("finalizers of AzureClusterIdentity %s: %w", key, err)
	}
	defer o.finalizers.release()
	// Managers of other shards write the same identity. The intervals are of 10 ms.
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		stored := held.DeepCopy()
		if err := o.APIReader.Get(ctx, key, stored); err != nil {
			return err
		}
		changed := stored.DeepCopy()
		if !change(changed) {
			return nil
		}
		return o.Client.Patch(ctx, changed, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("finalizers of AzureClusterIdentity %s: %w", key, err)
	}
	return nil
}
