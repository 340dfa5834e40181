package identity

import (
	"crypto/sha256"
	"encoding/hex"
)

// FinalizerKey returns the finalizer that an object which uses an identity puts on it: prefix, a slash, and the hex SHA-224 of
// "<namespace>-<name>" of the object. The hash keeps it within the 63 characters that a finalizer's name may have.
func FinalizerKey(prefix, namespace, name string) string {
	sum := sha256.Sum224([]byte(namespace + "-" + name))
	return prefix + "/" + hex.EncodeToString(sum[:])
}

// LegacyFinalizerKey returns the finalizer that releases 1.4.4 and 1.5.1 of the established provider wrote. It is only removed.
func LegacyFinalizerKey(prefix, namespace, name string) string {
	return prefix + "/" + namespace + "-" + name
}
