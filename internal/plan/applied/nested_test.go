package applied_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// newScaleSet returns a scale set whose template has one interface, in these backend pools.
func newScaleSet(pools ...any) map[string]any {
	out := newTags()
	out["properties"] = map[string]any{
		"virtualMachineProfile": map[string]any{"networkProfile": map[string]any{"networkInterfaceConfigurations": []any{
			map[string]any{"name": "nic", "properties": map[string]any{"ipConfigurations": []any{
				map[string]any{"name": "ip.0", "properties": map[string]any{"loadBalancerBackendAddressPools": pools}}}}}}}}}
	return out
}

// TestOmittedCapacityIsNotReset: a plan without the capacity of a scale set does not reset the capacity.
func TestOmittedCapacityIsNotReset(t *testing.T) {
	const set = group + "/providers/Microsoft.Compute/virtualMachineScaleSets/pool"
	scope := applied.Scope{SubscriptionID: "s", Types: applied.Types{types.ScaleSet: ""}}
	sized := newTags()
	sized["sku"] = map[string]any{"capacity": 3}
	before := newGraph(arm.Node{ID: set, Body: sized})
	annotations := annotationsWith(applied.ReadState(nil, scope).PathsBefore(before))
	after := newGraph(arm.Node{ID: set, Body: newTags()})
	applied.ReadState(annotations, scope).AddRemovals(after)
	if owned := after.Node(set).OwnedPaths; len(owned) > 0 {
		t.Errorf("owned paths %v", owned)
	}
}

// TestNestedLists makes sure that a backend pool in a template goes when the spec wants it no more, although other programs add theirs to the
// same list. The annotation cannot name more than elements of such lists.
func TestNestedLists(t *testing.T) {
	const (
		set    = group + "/providers/Microsoft.Compute/virtualMachineScaleSets/pool"
		ours   = lb + "/backendAddressPools/out"
		list   = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[nic].properties.ipConfigurations[ip.0].properties.loadBalancerBackendAddressPools"
		forged = `{"g/providers/Microsoft.Compute/virtualMachineScaleSets/pool":["/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations[nic]","/properties/virtualMachineProfile/storageProfile","/properties/virtualMachineProfile/extensionProfile/extensions[e]"]}`
	)
	scope := applied.Scope{SubscriptionID: "s", Types: applied.Types{types.ScaleSet: ""}}
	before := newGraph(arm.Node{ID: set, Body: newScaleSet(map[string]any{"id": ours})})
	stored := annotationsWith(applied.ReadState(nil, scope).PathsBefore(before))
	for name, test := range map[string]struct {
		reason string
		stored map[string]string
		body   map[string]any
		want   []string
	}{
		"same": {"the spec wants the pool", stored, newScaleSet(map[string]any{"id": ours}), nil},
		"gone": {"the spec had the pool", stored, newScaleSet(), []string{list + "[" + ours + "]"}},
		"forged": {"interfaces and disks are not shared with other programs", storedAnnotations(forged), newScaleSet(),
			[]string{"properties.virtualMachineProfile.extensionProfile.extensions[e]"}},
	} {
		t.Run(name, func(t *testing.T) {
			after := newGraph(arm.Node{ID: set, Body: test.body})
			applied.ReadState(test.stored, scope).AddRemovals(after)
			if diff := cmp.Diff(test.want, after.Node(set).OwnedPaths); diff != "" {
				t.Errorf("%s: owned paths (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
