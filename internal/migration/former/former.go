// Package former finds the credentials that the clusters of the established provider sign in with. It only reads from the API server,
// in pages, and returns credentials without their secrets.
package former

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
)

// ListUsed returns the credentials that objects of a namespace name; "" is all namespaces. It calls unreadable for a Secret that it may
// not read and leaves it out.
func ListUsed(ctx context.Context, c client.Reader, namespace string,
	unreadable func(secret client.ObjectKey, err error)) ([]identity.Former, error) {
	var out []identity.Former
	err := pages.ForEach(ctx, c, &infrav1.AzureClusterIdentityList{}, func(object client.Object) error {
		out = append(out, identity.FormerOf(object.(*infrav1.AzureClusterIdentity)))
		return nil
	}, client.InNamespace(namespace))
	if ignoreNoMatch(err) != nil {
		return nil, err
	}
	read := map[client.ObjectKey]bool{}
	for _, list := range []client.ObjectList{&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{},
		&infrav1.AzureASOManagedMachinePoolList{}} {
		err := pages.ForEach(ctx, c, list, func(object client.Object) error {
			for _, name := range asoresources.CredentialNames(object) {
				key := client.ObjectKey{Namespace: object.GetNamespace(), Name: name}
				if read[key] {
					continue
				}
				read[key] = true
				secret := &corev1.Secret{}
				switch err := c.Get(ctx, key, secret); {
				case apierrors.IsForbidden(err):
					unreadable(key, err)
					continue
				case client.IgnoreNotFound(err) != nil:
					return fmt.Errorf("get Secret %s: %w", key, err)
				}
				if former, ok := identity.FormerOfSecret(secret); ok {
					out = append(out, former)
				}
			}
			return nil
		}, client.InNamespace(namespace))
		if ignoreNoMatch(err) != nil {
			return nil, err
		}
	}
	return out, nil
}

// ForEachMissing calls missing for each Secret that the manager will sign in with for the resource manifests of a Cluster, and that does not
// exist. A Secret that the caller may not read is left out.
func ForEachMissing(ctx context.Context, c client.Reader, missing func(secret, cluster client.ObjectKey)) error {
	err := pages.ForEach(ctx, c, &clusterv1.ClusterList{}, func(object client.Object) error {
		cluster := object.(*clusterv1.Cluster)
		if cluster.Spec.InfrastructureRef.Kind != asoresources.ClusterKind && cluster.Spec.ControlPlaneRef.Kind != asoresources.ControlPlaneKind {
			return nil
		}
		members, err := asoresources.GatherMembers(ctx, c, cluster)
		if err != nil {
			return ignoreNoMatch(err)
		}
		for name := range members.CredentialSecrets() {
			key := client.ObjectKey{Namespace: cluster.Namespace, Name: name}
			switch err := c.Get(ctx, key, &corev1.Secret{}); {
			case apierrors.IsNotFound(err):
				missing(key, client.ObjectKeyFromObject(cluster))
			case err != nil && !apierrors.IsForbidden(err):
				return fmt.Errorf("get Secret %s: %w", key, err)
			}
		}
		return nil
	})
	return ignoreNoMatch(err)
}

// ignoreNoMatch returns nil for the error of a kind without a definition, which has no objects.
func ignoreNoMatch(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}
