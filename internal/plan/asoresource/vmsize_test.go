package asoresource

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// TestListVMSizes lists the VM sizes that resources ask for, with their fields.
func TestListVMSizes(t *testing.T) {
	group, pool := groupManifest, strings.Replace(poolManifest, "Standard_D2s_v3", "Size_2", 1)
	cluster := strings.Replace(aksManifest, "location: eastus", "location: eastus, agentPoolProfiles: [{name: a, vmSize: Size_1}, {name: b}]", 1)
	in := newInput(t, group, cluster, pool)
	ids := map[string]arm.ID{}
	for _, m := range in.Manifests() {
		id, err := in.ResourceID(m)
		if err != nil {
			t.Fatal(err)
		}
		ids[m.Kind] = id
	}
	other := in
	other.ObjectKey = "other"
	for name, test := range map[string]struct {
		reason string
		in     Input
		kind   string
		region string
		want   []agentpool.RequestedSize
	}{
		"cluster": {"AKS creates it with its pools", in, "ManagedCluster", "eastus", []agentpool.RequestedSize{
			{Field: "spec.resources[1].spec.agentPoolProfiles[0].vmSize", Size: "Size_1"}, {Field: "spec.resources[2].spec.vmSize", Size: "Size_2"}}},
		"pool": {"the other pools are not part of it", in, "ManagedClustersAgentPool", "eastus",
			[]agentpool.RequestedSize{{Field: "spec.resources[2].spec.vmSize", Size: "Size_2"}}},
		"pool of another object": {"the field of another object begins with that object", other, "ManagedClustersAgentPool", "eastus",
			[]agentpool.RequestedSize{{Field: in.ObjectKey + " spec.resources[2].spec.vmSize", Size: "Size_2"}}},
		"group": {"it has no VMs", in, "ResourceGroup", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			region, got := test.in.ListVMSizes(ids[test.kind])
			if diff := cmp.Diff(test.want, got); diff != "" || region != test.region {
				t.Errorf("%s: region %q (-want +got):\n%s", test.reason, region, diff)
			}
		})
	}
}
