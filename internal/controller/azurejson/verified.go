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

// verifiedSecrets remembers which version of a Secret was as it should be, so that one that nobody has changed is not read in every
// pass. It holds hashes, and forgets what is gone. The zero value remembers nothing yet.
type verifiedSecrets struct {
	mu       sync.Mutex
	versions map[client.ObjectKey]verifiedVersion
}

// verifiedVersion is a Secret that had what was wanted.
type verifiedVersion struct {
	uid     types.UID
	version string
	wanted  stable.Fingerprint
}

// isCurrent tells whether the Secret that is watched is the version that had what is wanted.
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
	// One that is not watched is read from the API server.
	if err := watched.Get(ctx, client.ObjectKeyFromObject(want), seen); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.versions[client.ObjectKeyFromObject(want)] == verifiedVersion{seen.UID, seen.ResourceVersion, wanted}
}

// remember remembers that the stored Secret has what is wanted.
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

// forget drops what is remembered of a Secret.
func (c *verifiedSecrets) forget(key client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.versions, key)
}

// secretFingerprint is of what is ours in a Secret.
func secretFingerprint(want *corev1.Secret) (stable.Fingerprint, error) {
	return stable.ComputeFingerprint(want.Data, want.Labels, want.OwnerReferences)
}
