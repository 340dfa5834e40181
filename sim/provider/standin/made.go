package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// deriveDigits returns hexadecimal digits that depend only on a resource's ID and on their purpose.
func deriveDigits(id, purpose string, length int) string {
	sum := sha256.Sum256([]byte(store.Key(id) + " " + purpose))
	return hex.EncodeToString(sum[:])[:length]
}

// madeGUID returns a GUID that depends only on a resource's ID and on its purpose.
func madeGUID(id, purpose string) string {
	h := deriveDigits(id, purpose, 32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:]
}

func createdTime(it *provider.Item) string {
	return timeOf(it, func(r *store.Resource) time.Time { return r.Created })
}
func changedTime(it *provider.Item) string {
	return timeOf(it, func(r *store.Resource) time.Time { return r.Changed })
}

func timeOf(it *provider.Item, which func(*store.Resource) time.Time) string {
	if it.Resource == nil {
		return ""
	}
	return which(it.Resource).UTC().Format("2006-01-02T15:04:05.0000000Z")
}

// showValues sets values below the properties of a shown resource.
func showValues(it *provider.Item, values map[string]any) {
	for path, value := range values {
		body.Set(it.Body, "properties."+path, value)
	}
}

// showNulls shows absent values as null.
func showNulls(of body.Object, keys ...string) {
	for _, key := range keys {
		if _, there := of[key]; !there {
			of[key] = nil
		}
	}
}
