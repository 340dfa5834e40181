package applied

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

func TestKeepsDifference(t *testing.T) {
	id := func(resourceType string) arm.ID { return arm.NewID("s", "G", resourceType, "x") }
	extension := id(types.VirtualMachine).Child("extensions", "custom")
	tests := map[string]struct {
		reason           string
		id               arm.ID
		path, want, have string
		left             bool
	}{
		"tag of an extension":       {"extensions have none there", extension, "tags.a", `"b"`, "(absent)", true},
		"setting of an extension":   {"one that exists is never updated there", extension, "properties.settings.a", `"b"`, `"c"`, true},
		"tag of a VM":               {"tags of VMs follow the spec there, so it was changed since", id(types.VirtualMachine), "tags.a", `"b"`, `"c"`, false},
		"tag of a group":            {"those of groups, too", id(types.ResourceGroup), "tags.a", `"b"`, `"c"`, false},
		"tag of a network":          {"it gets its tags when it is made", id(types.VirtualNetwork), "tags.a", `"b"`, "(absent)", true},
		"range of a network":        {"it is kept in line", id(types.VirtualNetwork), "properties.addressSpace.addressPrefixes", `["a"]`, `["b"]`, false},
		"rule that is missing":      {"rules are added there", id(types.NetworkSecurityGroup), "properties.securityRules[a]", `{}`, "(absent)", false},
		"priority of a rule":        {"a rule that exists is not changed there", id(types.NetworkSecurityGroup), "properties.securityRules[a].properties.priority", "100", "200", true},
		"part of a rule":            {"what is absent within a rule is no rule", id(types.NetworkSecurityGroup), "properties.securityRules[a].properties.sourceAddressPrefix", `"*"`, "(absent)", true},
		"pool of an interface":      {"interfaces are made once", id(types.NetworkInterface), "properties.ipConfigurations[a].properties.loadBalancerBackendAddressPools[b]", "{}", "(absent)", true},
		"port of a load balancer":   {"load balancers are kept in line", id(types.LoadBalancer), "properties.loadBalancingRules[a]", "{}", "(absent)", false},
		"types in another case":     {"Azure does not keep the case of types", arm.ID("/subscriptions/s/resourcegroups/g/providers/microsoft.network/ROUTETABLES/x"), "tags.a", `"b"`, "(absent)", true},
		"image of a scale set":      {"it follows the spec there", id(types.ScaleSet), "properties.virtualMachineProfile.storageProfile.imageReference.communityGalleryImageId", `"b"`, `"c"`, false},
		"image of one of its VMs":   {"VMs are old by their image there", id(types.ScaleSet), "properties.storageProfile.imageReference.communityGalleryImageId", `"b"`, `"c"`, false},
		"size of a scale set":       {"it follows the spec there", id(types.ScaleSet), "sku.name", `"b"`, `"c"`, false},
		"size of one of its VMs":    {"but no VM is old by its size", id(types.ScaleSet), "properties.hardwareProfile.vmSize", `"b"`, `"c"`, true},
		"disk of a scale set":       {"it waits for another image there", id(types.ScaleSet), "properties.virtualMachineProfile.storageProfile.osDisk.diskSizeGB", "30", "60", true},
		"something of AKS clusters": {"AKS clusters are kept in line", id(types.ManagedCluster), "tags.a", `"b"`, "(absent)", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			first := ReadDifferences(nil)
			if got := first.KeepsDifference(test.id, test.path, test.want, test.have); got != test.left {
				t.Errorf("%s: at first left %t", test.reason, got)
			}
			stored := first.AnnotationValue(arm.Outcome{})
			later := ReadDifferences(map[string]string{infrav1.TakenOverAnnotation: stored})
			if got := later.KeepsDifference(test.id, test.path, test.want, `"changed outside"`); got != test.left && test.have != absent {
				t.Errorf("%s: later left %t", test.reason, got)
			}
			if later.KeepsDifference(test.id, test.path, `"changed in the spec"`, test.have) {
				t.Error("what the spec changes from then on is brought in line")
			}
			if diff := cmp.Diff(stored, later.AnnotationValue(arm.Outcome{})); diff != "" {
				t.Errorf("what was found stays (-stored +later):\n%s", diff)
			}
			if ReadDifferences(map[string]string{infrav1.TakenOverAnnotation: CreatedHere}).KeepsDifference(test.id, test.path, test.want, test.have) {
				t.Error("nothing is left of what was made here")
			}
		})
	}
}

func TestReadDifferences(t *testing.T) {
	tests := map[string]struct {
		reason              string
		annotations         map[string]string
		madeHere, takenOver bool
	}{
		"new":             {"made under this provider", map[string]string{infrav1.TakenOverAnnotation: CreatedHere}, true, false},
		"first":           {"it may have been taken over", nil, false, false},
		"nothing is left": {"taken over without a difference", map[string]string{infrav1.TakenOverAnnotation: `{"left":{}}`}, false, true},
		"something is":    {"taken over with one", map[string]string{infrav1.TakenOverAnnotation: `{"left":{"a":["b"]}}`}, false, true},
		"broken":          {"an unreadable annotation leaves nothing, so that everything is kept in line", map[string]string{infrav1.TakenOverAnnotation: "x"}, true, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := ReadDifferences(test.annotations)
			if found.IsCreatedHere() != test.madeHere || found.IsMigrated() != test.takenOver {
				t.Errorf("%s: made here %t, taken over %t", test.reason, found.IsCreatedHere(), found.IsMigrated())
			}
		})
	}
}

// TestSettled has a first pass end in several ways.
func TestDifferencesValue(t *testing.T) {
	tests := map[string]struct {
		reason string
		result arm.Result
		want   string
	}{
		"read":     {"everything was looked at", arm.Result{State: arm.Ready, Observed: []byte("{}")}, `{"left":{}}`},
		"made":     {"what was not there is being made", arm.Result{State: arm.Creating}, `{"left":{}}`},
		"unread":   {"what could not be read may still differ", arm.Result{State: arm.Waiting, Err: errors.New("503")}, ""},
		"unlooked": {"so may what waits for it", arm.Result{State: arm.Blocked}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ReadDifferences(nil).AnnotationValue(arm.Outcome{Results: []arm.Result{test.result}}); got != test.want {
				t.Errorf("%s: %q", test.reason, got)
			}
		})
	}
}
