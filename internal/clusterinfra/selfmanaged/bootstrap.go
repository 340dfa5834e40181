package selfmanaged

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

const (
	// bootstrapTTL is how long bootstrap data stay in memory after their last use. A machine that waits for Azure is reconciled more often.
	bootstrapTTL = time.Minute
	// maxBootstraps bounds the bootstrap data in memory. Azure accepts at most 64 KiB for a VM.
	maxBootstraps = 256
)

// BootstrapSecrets reads the data that VMs boot with. A machine that waits reads each version of its Secret once. A timer removes the data
// from memory, because they contain keys and tokens: an expiring.Cache would keep expired values until its next call. The zero value is empty.
type BootstrapSecrets struct {
	mu    sync.Mutex
	byKey map[client.ObjectKey]*bootstrapData
}

// bootstrapData are the data of a Secret with the latest version that the watch had delivered before it was read.
type bootstrapData struct {
	version string
	data    []byte
	// drop removes the data from memory.
	drop *time.Timer
}

// Read returns the data of a Secret, which must not be changed: nil if no Secret is named yet or the Secret is gone. live reads the Secret,
// metadata its watched metadata. With nil, the Secret is read each time.
func (b *BootstrapSecrets) Read(ctx context.Context, live, metadata client.Reader, namespace string, name *string) ([]byte, error) {
	if name == nil || *name == "" {
		return nil, nil
	}
	key := client.ObjectKey{Namespace: namespace, Name: *name}
	version := identity.WatchedSecretVersion(ctx, metadata, key)
	if data, ok := b.get(key, version); ok {
		return data, nil
	}
	secret := &corev1.Secret{}
	if err := live.Get(ctx, key, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get bootstrap data secret %s: %w", key, err)
	}
	data, ok := secret.Data["value"]
	if !ok {
		return nil, fmt.Errorf("bootstrap data secret %s has no key \"value\"", key)
	}
	if version != "" {
		// The Secret may be newer than the version of the watch. Then it is read once more when the watch delivers its version.
		b.set(key, version, data)
	}
	return data, nil
}

func (b *BootstrapSecrets) get(key client.ObjectKey, version string) ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.byKey[key]
	if found == nil || found.version != version {
		return nil, false
	}
	found.drop.Reset(bootstrapTTL)
	return found.data, true
}

func (b *BootstrapSecrets) set(key client.ObjectKey, version string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	former := b.byKey[key]
	if former != nil {
		former.drop.Stop()
	} else if len(b.byKey) >= maxBootstraps {
		return
	}
	if b.byKey == nil {
		b.byKey = map[client.ObjectKey]*bootstrapData{}
	}
	kept := &bootstrapData{version: version, data: data}
	kept.drop = time.AfterFunc(bootstrapTTL, func() { b.forget(key, kept) })
	b.byKey[key] = kept
}

func (b *BootstrapSecrets) forget(key client.ObjectKey, kept *bootstrapData) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byKey[key] == kept {
		delete(b.byKey, key)
	}
}
