package applied_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// TestKeptSettings records the settings of a scale set that Azure keeps when a PUT leaves them out. A later plan without them drops them,
// and leaves their removal to the body.
func TestKeptSettings(t *testing.T) {
	const set = arm.ID("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p")
	scope := applied.Scope{SubscriptionID: "s", Types: applied.Types{types.ScaleSet: ""}}
	node := func(profile map[string]any) *arm.Graph {
		return newGraph(arm.Node{ID: set, Policy: arm.Repair, Body: map[string]any{"sku": map[string]any{"name": "size"},
			"properties": map[string]any{"overprovision": false, "zoneBalance": true, "virtualMachineProfile": profile}}})
	}
	profile := map[string]any{
		"securityProfile": map[string]any{"encryptionAtHost": true},
		"osProfile":       map[string]any{"customData": "secret", "adminUsername": "capi"},
		"storageProfile": map[string]any{"dataDisks": []any{map[string]any{"name": "d", "managedDisk": map[string]any{
			"diskEncryptionSet": map[string]any{"id": "/e"}}}}},
		"networkProfile":   map[string]any{"networkInterfaceConfigurations": []any{map[string]any{"name": "n", "properties": map[string]any{"primary": true}}}},
		"extensionProfile": map[string]any{"extensions": []any{map[string]any{"name": "e", "properties": map[string]any{"type": "t"}}}},
	}
	paths := applied.ReadState(nil, scope).PathsBefore(node(profile))
	const at = "?/properties/virtualMachineProfile/"
	want := applied.Paths{"g/providers/Microsoft.Compute/virtualMachineScaleSets/p": {
		at + "extensionProfile/extensions[e]", at + "osProfile/adminUsername", at + "securityProfile/encryptionAtHost",
		at + "storageProfile/dataDisks[d]/managedDisk/diskEncryptionSet/id", at + "storageProfile/dataDisks[d]/name", "?/properties/zoneBalance"}}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	state := applied.ReadState(annotationsWith(paths), scope)
	delete(profile, "securityProfile")
	later := node(profile)
	if diff := cmp.Diff([]string{"/properties/virtualMachineProfile/securityProfile/encryptionAtHost"},
		state.DroppedPaths(later.Node(set))); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	state.AddRemovals(later)
	if owned := later.Node(set).OwnedPaths; len(owned) > 0 {
		t.Errorf("null would change nothing: %v", owned)
	}
}
