// Package objectkey checks the keys of Secrets and ConfigMaps that patches and documents name. They are always in the namespace of the object
// that names them. No message tells a value: it may be a password that stands where a name belongs.
//
// It is pure.
package objectkey

import (
	"k8s.io/apimachinery/pkg/util/validation"
)

// InvalidNameReason says why a text is not the name of a Secret or ConfigMap, as a path to one of another namespace, "" if it is.
func InvalidNameReason(kind, name string) string {
	if len(validation.IsDNS1123Subdomain(name)) == 0 {
		return ""
	}
	return "is no name of a " + kind + ": name one of the object's own namespace, by lower-case letters, digits, '-' and '.'"
}

// InvalidKeyReason says why a text is not a key of a Secret or ConfigMap, "" if it is.
func InvalidKeyReason(kind, key string) string {
	if len(validation.IsConfigMapKey(key)) == 0 {
		return ""
	}
	return "is no key of a " + kind + ": those have letters, digits, '-', '_' and '.'"
}

// KubeconfigSecretName is the name of the Secret of a Cluster that Cluster API reads, and KubeconfigKey its key.
func KubeconfigSecretName(cluster string) string { return cluster + "-kubeconfig" }

// KubeconfigKey is the key of the kubeconfig in its Secret.
const KubeconfigKey = "value"

// IsReserved tells whether a key of a Secret is one that the provider writes for a Cluster by itself. A kubeconfig in the Secret that Cluster API reads is
// what is there already.
func IsReserved(cluster, name, key string) bool {
	secret := KubeconfigSecretName(cluster)
	return name == secret && key != KubeconfigKey || name == secret+"-user" || name == cluster+"-ca"
}
