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

// current remembers which version of a Secret was as it should be, so that one that nobody has changed is not read in every
// pass. It holds hashes, and forgets what is gone. The zero value remembers nothing yet.
type current struct {
	mu sync.Mutex
	of map[client.ObjectKey]version
}

// version is a Secret that had what was wanted.
type version struct {
	uid     types.UID
	version string
	wanted  stable.Input
}

// is tells whether the Secret that is watched is the version that had what is wanted.
func (c *current) is(ctx context.Context, watched client.Reader, want *corev1.Secret) bool {
	if watched == nil {
		return false
	}
	wanted, err := fingerprint(want)
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
	return c.of[client.ObjectKeyFromObject(want)] == version{seen.UID, seen.ResourceVersion, wanted}
}

// note remembers that the stored Secret has what is wanted.
func (c *current) note(stored, want *corev1.Secret) {
	wanted, err := fingerprint(want)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[client.ObjectKey]version{}
	}
	c.of[client.ObjectKeyFromObject(stored)] = version{stored.UID, stored.ResourceVersion, wanted}
}

// forget drops what is remembered of a Secret.
func (c *current) forget(key client.ObjectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, key)
}

// fingerprint is of what is ours in a Secret.
func fingerprint(want *corev1.Secret) (stable.Input, error) {
	return stable.Fingerprint(want.Data, want.Labels, want.OwnerReferences)
}
