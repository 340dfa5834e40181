package access_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestIdentitiesAreNotCopied searches the identities of a cache whose lists are no copies: each event of a Secret and each reconciliation
// of a cluster does so. The results are copies.
func TestIdentitiesAreNotCopied(t *testing.T) {
	uses := func(name, secret string) *infrav1.AzureClusterIdentity {
		out := identityOf(name, "other/finalizer")
		out.Spec.Type, out.Spec.ClientSecret = infrav1.ServicePrincipal, corev1.SecretReference{Name: secret}
		return out
	}
	used := uses("id", "secret")
	cache := storetest.NewSharedCache(used, uses("other", "other"))
	t.Run("by Secret", func(t *testing.T) {
		found, err := identity.FindBySecret(t.Context(), cache, types.NamespacedName{Namespace: storetest.Namespace, Name: "secret"})
		if err != nil || len(found) != 1 || found[0].Name != "id" {
			t.Fatalf("got %v, %v", found, err)
		}
		found[0].Finalizers[0] = "changed"
		if used.Finalizers[0] != "other/finalizer" {
			t.Error("the result is the object of the cache")
		}
	})
	t.Run("by finalizer", func(t *testing.T) {
		gate := &access.Opener{Client: listing{storetest.NewClient(t), cache}}
		if err := gate.RemoveFinalizers(t.Context(), prefix, client.ObjectKey{Namespace: storetest.Namespace, Name: "c1"}); err != nil {
			t.Fatal(err)
		}
	})
}

// listing is a client that lists from a cache.
type listing struct {
	client.Client
	cache client.Reader
}

func (l listing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return l.cache.List(ctx, list, options...)
}
