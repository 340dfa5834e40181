package identity

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// secrets reads the Secrets that credentials are made of. One whose metadata is watched is read once for each of its versions:
// what its credential holds anyway is kept as long as it is used, and nothing else of it. Any other is read each time.
type secrets struct {
	live client.Reader
	// metadata shows the metadata of Secrets as the manager watches them; nil shows none.
	metadata client.Reader
	read     *recent[versioned] // by namespace and name
}

// versioned is a Secret and the version that the watch had told of before it was read.
type versioned struct {
	version string
	secret  *corev1.Secret
}

// used are the keys that credentials are made of.
var used = []string{
	keyClientSecret, keyCertificate, keyPassword,
	operatorSubscription, operatorTenant, operatorClient, operatorSecret, operatorCertificate, operatorPassword, operatorMode,
}

// get reads a Secret. Do not change it.
func (s *secrets) get(ctx context.Context, key types.NamespacedName) (*corev1.Secret, error) {
	version := s.version(ctx, key)
	if version != "" {
		if kept, ok := s.read.find(key.String()); ok && kept.version == version {
			return kept.secret, nil
		}
	}
	secret := &corev1.Secret{}
	if err := s.live.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	if version != "" {
		// It may be a later version than the watch has told of. Then it is read once more when that is told.
		s.read.keep(key.String(), versioned{version, bare(secret)})
	}
	return secret, nil
}

// version names what the watch has told of last; "" is that it tells nothing of the Secret.
func (s *secrets) version(ctx context.Context, key types.NamespacedName) string {
	if s.metadata == nil {
		return ""
	}
	seen := &metav1.PartialObjectMetadata{}
	seen.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	// An error is that there is none, or that Secrets of its namespace are not watched. The API server has the answer.
	if err := s.metadata.Get(ctx, key, seen); err != nil || seen.UID == "" || seen.ResourceVersion == "" {
		return ""
	}
	return string(seen.UID) + " " + seen.ResourceVersion
}

// bare is a Secret without what no credential is made of.
func bare(secret *corev1.Secret) *corev1.Secret {
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
