package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// FindBySecret returns copies of the identities whose credential is in a Secret.
func FindBySecret(ctx context.Context, kubernetes client.Reader, secret types.NamespacedName) ([]infrav1.AzureClusterIdentity, error) {
	list := &infrav1.AzureClusterIdentityList{}
	if err := kubernetes.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureClusterIdentities: %w", err)
	}
	var out []infrav1.AzureClusterIdentity
	for i := range list.Items {
		if key, ok := SecretOf(&list.Items[i]); ok && key == secret {
			out = append(out, *list.Items[i].DeepCopy())
		}
	}
	return out, nil
}

// IsUser returns true if a finalizer of an identity belongs to an object that uses the identity.
func IsUser(finalizer string) bool {
	return slices.ContainsFunc([]string{infrav1.ClusterFinalizer, infrav1.ManagedControlPlaneFinalizer, infrav1.ASOManagedFinalizer},
		func(kind string) bool {
			return strings.HasPrefix(finalizer, kind+"/")
		})
}
