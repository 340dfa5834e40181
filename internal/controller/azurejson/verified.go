package azurejson

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
)

// verifiedSecrets remembers the version of each Secret that had the desired content, so that an unchanged one is not read in every
// reconciliation. It holds only hashes. The zero value is empty.
type verifiedSecrets struct {
	mu       sync.Mutex
	versions map[client.ObjectKey]verifiedVersion
}

// verifiedVersion is the version of a Secret that had the desired content.
type verifiedVersion struct {
	uid     types.UID
	version string
	wanted  stable.Fingerprint
}

// isCurrent reports whether the watched Secret still is the verified version with the desired content.
func (c *verifiedSecrets) isCurrent(ctx context.Context, watched client.Reader, want *corev1.Secret) bool {
	if watched == nil {
		return false
	}
	wanted, err := secretFingerprint(want)
	if err != nil {
		return false
	}
	seen := &metav1.PartialObjectMetadata{}
	seen.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	// A Secret that is not watched is read from the API server.
	if err := watched.Get(ctx, client.ObjectKeyFromObject(want), seen); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.versions[client.ObjectKeyFromObject(want)] == verifiedVersion{seen.UID, seen.ResourceVersion, wanted}
}

// remember records that the stored Secret has the desired content.
func (c *verifiedSecrets) remember(stored, want *corev1.Secret) {
	wanted, err := secretFingerprint(want)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.versions == nil {
		c.versions = map[client.ObjectKey]verifiedVersion{}
	}
	c.versions[client.ObjectKeyFromObject(stored)] = verifiedVersion{stored.UID, stored.ResourceVersion, wanted}
}

// forget drops a Secret.
func (c *verifiedSecrets) forget(key client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.versions, key)
}

// secretFingerprint hashes the managed parts of a Secret.
func secretFingerprint(want *corev1.Secret) (stable.Fingerprint, error) {
	return stable.ComputeFingerprint(want.Data, want.Labels, want.OwnerReferences)
}
