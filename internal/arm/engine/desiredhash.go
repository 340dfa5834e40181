package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
)

// desiredHash identifies a desired state. It covers write-only values and is kept in memory only.
func desiredHash(want compare.Desired) string {
	raw, err := json.Marshal([]any{want.Body, want.OwnedPaths, want.DropTags})
	if err != nil {
		// Decoded JSON always marshals.
		return "unmarshallable"
	}
	return hashOf(raw)
}

// bodyHash identifies the body of an action. It is kept in memory only.
func bodyHash(body any) string {
	raw, err := json.Marshal(body)
	if err != nil {
		return "unmarshallable" // The client returns this error when it sends the action.
	}
	return hashOf(raw)
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
