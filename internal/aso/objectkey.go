package aso

// The functions of this file check the keys of Secrets and ConfigMaps in patches and resource manifests. They are always in the namespace
// of the object that names them. No message contains a value, because it may be a password in the wrong field.

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalidNameReason returns why a text is not the name of a Secret or ConfigMap, such as a path to another namespace; ""
// if it is a valid name.
func invalidNameReason(kind, name string) string {
	if len(validation.IsDNS1123Subdomain(name)) == 0 {
		return ""
	}
	return "is not a valid name of a " + kind + ": use lower-case letters, digits, '-' and '.'. The " + kind + " must be in the object's own namespace"
}

// invalidKeyReason returns why a text is not a key of a Secret or ConfigMap; "" if it is a valid key.
func invalidKeyReason(kind, key string) string {
	if len(validation.IsConfigMapKey(key)) == 0 {
		return ""
	}
	return "is not a valid key of a " + kind + ": use letters, digits, '-', '_' and '.'"
}

// CheckObjectName rejects an invalid name of a Secret or ConfigMap.
func CheckObjectName(path *field.Path, kind, name string) *field.Error {
	return toFieldError(path, invalidNameReason(kind, name))
}

// CheckObjectKey rejects an invalid key of a Secret or ConfigMap.
func CheckObjectKey(path *field.Path, kind, key string) *field.Error {
	return toFieldError(path, invalidKeyReason(kind, key))
}

func toFieldError(path *field.Path, reason string) *field.Error {
	if reason == "" {
		return nil
	}
	return field.Invalid(path, "", reason)
}

// KubeconfigSecretName returns the name of a Cluster's kubeconfig Secret, which Cluster API reads.
func KubeconfigSecretName(cluster string) string { return cluster + "-kubeconfig" }

// KubeconfigKey is the key of the kubeconfig in its Secret.
const KubeconfigKey = "value"

// IsKubeconfigKey returns true for the key of the Secret in which Cluster API reads the kubeconfig of a Cluster.
func IsKubeconfigKey(cluster string, at KeyRef) bool {
	return at.Name == KubeconfigSecretName(cluster) && at.Key == KubeconfigKey
}

// IsReservedKey returns true for keys of Secrets that the provider itself writes for a Cluster. The kubeconfig in the Secret
// that Cluster API reads is not reserved, because manifests may provide it.
func IsReservedKey(cluster, name, key string) bool {
	secret := KubeconfigSecretName(cluster)
	return name == secret && key != KubeconfigKey || name == secret+"-user" || name == cluster+"-ca"
}
