package identity

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// secrets reads credential Secrets. A Secret whose metadata is watched is read once per version; the keys that its credential
// contains are cached while they are in use, and no others. Any other Secret is read each time.
type secrets struct {
	live client.Reader
	// metadata reads the watched metadata of Secrets; nil has none.
	metadata client.Reader
	read     *expiring.Cache[versioned] // by namespace and name
}

// versioned is a Secret with the latest version that the watch had delivered before it was read.
type versioned struct {
	version string
	secret  *corev1.Secret
}

// used are the keys of Secrets that credentials are made of.
var used = []string{
	keyClientSecret, keyCertificate, keyPassword,
	operatorSubscription, operatorTenant, operatorClient, operatorSecret, operatorCertificate, operatorPassword, operatorMode,
}

// getSecret reads a Secret. Do not change it.
func (s *secrets) getSecret(ctx context.Context, key types.NamespacedName) (*corev1.Secret, error) {
	version := WatchedSecretVersion(ctx, s.metadata, key)
	if version != "" {
		if kept, ok := s.read.Get(key.String()); ok && kept.version == version {
			return kept.secret, nil
		}
	}
	secret := &corev1.Secret{}
	if err := s.live.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	if version != "" {
		// The Secret may be newer than the version of the watch. Then it is read once more when the watch delivers its version.
		s.read.Set(key.String(), versioned{version, withCredentialKeysOnly(secret)})
	}
	return secret, nil
}

// WatchedSecretVersion returns the latest version of a Secret that the watch has delivered, or "" if the Secret is not watched. metadata
// reads the watched metadata of Secrets; nil has none.
func WatchedSecretVersion(ctx context.Context, metadata client.Reader, key types.NamespacedName) string {
	if metadata == nil {
		return ""
	}
	seen := &metav1.PartialObjectMetadata{}
	seen.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	// An error means that the Secret does not exist or that its namespace is not watched. Then it is read from the API server.
	if err := metadata.Get(ctx, key, seen); err != nil || seen.UID == "" || seen.ResourceVersion == "" {
		return ""
	}
	return string(seen.UID) + " " + seen.ResourceVersion
}

// withCredentialKeysOnly returns a Secret with only the keys that credentials are made of.
func withCredentialKeysOnly(secret *corev1.Secret) *corev1.Secret {
	out := &corev1.Secret{Data: map[string][]byte{}}
	out.Namespace, out.Name = secret.Namespace, secret.Name
	for _, key := range used {
		if value, ok := secret.Data[key]; ok {
			out.Data[key] = value
		}
	}
	out.Annotations = maps.Clone(secret.Annotations)
	maps.DeleteFunc(out.Annotations, func(key, _ string) bool { return key != infrav1.IdentityNamespacesAnnotation })
	return out
}
