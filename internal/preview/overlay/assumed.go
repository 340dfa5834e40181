package overlay

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Assumed is a resource that users or other programs bring. Without the live Azure, a plan assumes that it exists, with its group.
type Assumed struct {
	ID string
	// Location is the region; "" for resources of which only the ID is known. No write depends on theirs.
	Location string
	// Properties are those that are known.
	Properties map[string]any
}

// assumedOrigin has the assumed resources.
type assumedOrigin []Assumed

// assumedLocation is the region of resources whose region is not known.
const assumedLocation = "eastus"

// ReadResource implements server.Origin.
func (o assumedOrigin) ReadResource(id string) map[string]any {
	for _, known := range o {
		resource := arm.ID(known.ID)
		location := cmp.Or(known.Location, assumedLocation)
		switch {
		case strings.EqualFold(known.ID, id):
			properties := map[string]any{"provisioningState": "Succeeded",
				"principalId": guidOf("principal", known.ID), "clientId": guidOf("client", known.ID), "tenantId": guidOf("tenant", "")}
			maps.Copy(properties, known.Properties)
			return map[string]any{"id": known.ID, "location": location, "properties": properties}
		case arm.ResourceGroupID(resource.Subscription(), resource.ResourceGroup()).Equal(arm.ID(id)):
			return map[string]any{"id": id, "location": location, "properties": map[string]any{"provisioningState": "Succeeded"}}
		}
	}
	return nil
}

// ListResources implements server.Origin.
func (assumedOrigin) ListResources(string, string) []map[string]any { return nil }

// guidOf returns the same GUID for the same resource.
func guidOf(of, id string) string {
	sum := sha256.Sum256([]byte(of + strings.ToLower(id)))
	return fmt.Sprintf("%x-%x-4%03x-8%03x-%x", sum[0:4], sum[4:6], int(sum[6])<<4&0xfff, int(sum[7])<<4&0xfff, sum[10:16])
}
