package overlay

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// assumedOrigin has resources of which only the IDs are known: without the live Azure, the resources that users bring are assumed to
// exist, with their group.
type assumedOrigin []string

// assumedLocation is the region of assumed resources. No write depends on it.
const assumedLocation = "eastus"

// ReadResource implements server.Origin.
func (o assumedOrigin) ReadResource(id string) map[string]any {
	for _, known := range o {
		resource := arm.ID(known)
		switch {
		case strings.EqualFold(known, id):
			return map[string]any{"id": known, "location": assumedLocation, "properties": map[string]any{"provisioningState": "Succeeded",
				"principalId": guidOf("principal", known), "clientId": guidOf("client", known), "tenantId": guidOf("tenant", "")}}
		case arm.ResourceGroupID(resource.Subscription(), resource.ResourceGroup()).Equal(arm.ID(id)):
			return map[string]any{"id": id, "location": assumedLocation, "properties": map[string]any{"provisioningState": "Succeeded"}}
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
