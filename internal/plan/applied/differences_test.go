package applied

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		"tag of an extension":     {"extensions have none there", extension, "tags.a", `"b"`, "(absent)", true},
		"setting of an extension": {"one that exists is never updated there", extension, "properties.settings.a", `"b"`, `"c"`, true},
		"tag of a VM": {"tags of VMs follow the spec there, so it was changed since", id(types.VirtualMachine), "tags.a", `"b"`,
			`"c"`, false},
		"name of a VM": {"it is written once there", id(types.VirtualMachine), "tags.Name", `"x"`, `"y"`, true},
		"role of a VM": {"it is written once there", id(types.VirtualMachine), "tags.sigs.k8s.io_cluster-api-provider-azure_role", `"node"`,
			`"control-plane"`, true},
		"owner of a VM": {"a VM without the tag is not the cluster's", id(types.VirtualMachine),
			"tags.sigs.k8s.io_cluster-api-provider-azure_cluster_c1", `"owned"`, `"shared"`, false},
		"name of a group":  {"it may be another one there", id(types.ResourceGroup), "tags.Name", `"My_Net"`, `"my-net"`, true},
		"tag of a group":   {"those of groups, too", id(types.ResourceGroup), "tags.a", `"b"`, `"c"`, false},
		"tag of a network": {"it gets its tags when it is made", id(types.VirtualNetwork), "tags.a", `"b"`, "(absent)", true},
		"range of a network": {"it is kept in line", id(types.VirtualNetwork), "properties.addressSpace.addressPrefixes", `["a"]`, `["b"]`,
			false},
		"rule that is missing": {"rules are added there", id(types.NetworkSecurityGroup), "properties.securityRules[a]", `{}`, "(absent)",
			false},
		"priority of a rule": {"a rule that exists is not changed there", id(types.NetworkSecurityGroup),
			"properties.securityRules[a].properties.priority", "100", "200", true},
		"part of a rule": {"an absent property of a rule is no absent rule", id(types.NetworkSecurityGroup),
			"properties.securityRules[a].properties.sourceAddressPrefix", `"*"`, "(absent)", true},
		"pool of an interface": {"interfaces are made once", id(types.NetworkInterface),
			"properties.ipConfigurations[a].properties.loadBalancerBackendAddressPools[b]", "{}", "(absent)", true},
		"port of a load balancer": {"load balancers are kept in line", id(types.LoadBalancer), "properties.loadBalancingRules[a]", "{}",
			"(absent)", false},
		"frontend that is missing": {"frontends are added there", id(types.LoadBalancer), "properties.frontendIPConfigurations[a]", "{}",
			"(absent)", false},
		"frontend of an earlier spec": {"no frontend is removed there", id(types.LoadBalancer), "properties.frontendIPConfigurations[a]",
			"(absent)", "{}", true},
		"addresses of an outbound rule": {"a rule that exists is not changed there, and clients see the addresses", id(types.LoadBalancer),
			"properties.outboundRules[OutboundNATAllProtocols].properties.frontendIPConfigurations", `["b"]`, `["a"]`, true},
		"tag of a load balancer": {"it gets its tags when it is made", id(types.LoadBalancer), "tags.a", `"b"`, "(absent)", true},
		"types in another case": {"Azure does not keep the case of types",
			arm.ID("/subscriptions/s/resourcegroups/g/providers/microsoft.network/ROUTETABLES/x"), "tags.a", `"b"`, "(absent)", true},
		"image of a scale set": {"it follows the spec there", id(types.ScaleSet),
			"properties.virtualMachineProfile.storageProfile.imageReference.communityGalleryImageId", `"b"`, `"c"`, false},
		"image of one of its VMs": {"VMs are old by their image there", id(types.ScaleSet),
			"properties.storageProfile.imageReference.communityGalleryImageId", `"b"`, `"c"`, false},
		"size of a scale set":        {"it follows the spec there", id(types.ScaleSet), "sku.name", `"b"`, `"c"`, false},
		"number of its VMs":          {"it follows the replicas there", id(types.ScaleSet), "sku.capacity", "3", "2", false},
		"hash of its bootstrap data": {"it comes with the data", id(types.ScaleSet), "tags." + infrav1.CustomDataHashTag, `"a"`, `"b"`, false},
		"size of one of its VMs": {"but no VM is old by its size", id(types.ScaleSet), "properties.hardwareProfile.vmSize", `"b"`, `"c"`,
			true},
		"disk of a scale set": {"it waits for another image there", id(types.ScaleSet),
			"properties.virtualMachineProfile.storageProfile.osDisk.diskSizeGB", "30", "60", true},
		"something of AKS clusters": {"AKS clusters are kept in line", id(types.ManagedCluster), "tags.a", `"b"`, "(absent)", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			first := ReadDifferences(nil)
			if got := first.KeepsDifference(test.id, test.path, test.want, test.have); got != test.left {
				t.Errorf("%s: at first left %t", test.reason, got)
			}
			stored := first.Migration(arm.Outcome{})
			later := readStored(stored)
			if got := later.KeepsDifference(test.id, test.path, test.want, `"changed outside"`); got != test.left && test.have != absent {
				t.Errorf("%s: later left %t", test.reason, got)
			}
			if later.KeepsDifference(test.id, test.path, `"changed in the spec"`, test.have) {
				t.Error("a later change of the spec is applied")
			}
			if diff := cmp.Diff(stored, later.Migration(arm.Outcome{})); diff != "" {
				t.Errorf("the recorded differences stay (-stored +later):\n%s", diff)
			}
			if readStored(&Migration{}).KeepsDifference(test.id, test.path, test.want, test.have) {
				t.Error("no record is left for an object that was created here")
			}
		})
	}
}

// readStored returns the differences of an object with a result of the migration.
func readStored(migration *Migration) *Differences {
	obj := &metav1.ObjectMeta{}
	Content{Migration: migration}.Store(obj)
	return ReadDifferences(obj.Annotations)
}

func TestReadDifferences(t *testing.T) {
	tests := map[string]struct {
		reason             string
		stored             string
		madeHere, migrated bool
	}{
		"new":             {"made under this provider", `{"migration":{}}`, true, false},
		"first":           {"it may have been migrated", "", false, false},
		"nothing is left": {"migrated without a difference", `{"migration":{"kept":{}}}`, false, true},
		"something is":    {"migrated with a difference", `{"migration":{"kept":{"a":["b"]}}}`, false, true},
		"broken":          {"an unreadable annotation leaves nothing, so that everything is kept in line", "x", true, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := ReadDifferences(map[string]string{infrav1.AppliedAnnotation: test.stored})
			if found.IsCreatedHere() != test.madeHere || found.IsMigrated() != test.migrated {
				t.Errorf("%s: created here %t, migrated %t", test.reason, found.IsCreatedHere(), found.IsMigrated())
			}
		})
	}
}

// TestMigrationIsStored ends a first reconciliation in several ways.
func TestMigrationIsStored(t *testing.T) {
	tests := map[string]struct {
		reason string
		result arm.Result
		want   bool
	}{
		"read":     {"every resource was read", arm.Result{State: arm.Ready, Observed: []byte("{}")}, true},
		"created":  {"an absent resource is being created", arm.Result{State: arm.Creating}, true},
		"unread":   {"a resource that could not be read may differ", arm.Result{State: arm.Waiting, Err: errors.New("503")}, false},
		"unlooked": {"so may one that waits for it", arm.Result{State: arm.Blocked}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var want *Migration
			if test.want {
				want = &Migration{Kept: map[string][]string{}}
			}
			if diff := cmp.Diff(want, ReadDifferences(nil).Migration(arm.Outcome{Results: []arm.Result{test.result}})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
