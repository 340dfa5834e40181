package webhook

import (
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestNetworkWarnings are about networks that users bring, as far as a spec tells.
func TestNetworkWarnings(t *testing.T) {
	cluster := func(group, name string) *infrav1.AzureCluster {
		c := &infrav1.AzureCluster{}
		c.Spec.ResourceGroup = "c1"
		c.Spec.NetworkSpec.Vnet.ResourceGroup, c.Spec.NetworkSpec.Vnet.Name = group, name
		return c
	}
	for name, tc := range map[string]struct {
		reason string
		old, c *infrav1.AzureCluster
		warns  bool
	}{
		"own":             {reason: "the network is the cluster's", c: cluster("c1", "c1-vnet")},
		"own, other case": {reason: "groups compare without case", c: cluster("C1", "c1-vnet")},
		"group":           {reason: "a network elsewhere is most likely there already", c: cluster("shared", "hub"), warns: true},
		"unchanged":       {reason: "what was said is not said at every update", old: cluster("shared", "hub"), c: cluster("shared", "hub")},
		"renamed":         {reason: "the other name may be wrong, too", old: cluster("shared", "hbu"), c: cluster("shared", "hub"), warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := networkWarnings(tc.old, tc.c)
			if (len(got) == 1) != tc.warns {
				t.Fatalf("%s: got %q", tc.reason, got)
			}
			if vnet := tc.c.Spec.NetworkSpec.Vnet; tc.warns && (!strings.Contains(got[0], vnet.Name) || !strings.Contains(got[0], vnet.ResourceGroup)) {
				t.Errorf("the warning names both: %q", got[0])
			}
		})
	}
	managed := &infrav1.AzureManagedControlPlane{}
	managed.Spec.ResourceGroupName = "c1"
	managed.Spec.VirtualNetwork.ResourceGroup, managed.Spec.VirtualNetwork.Name = "shared", "hub"
	if got := managedNetworkWarnings(managed); len(got) != 1 || !strings.HasPrefix(got[0], "spec.virtualNetwork: ") {
		t.Errorf("AKS clusters have networks, too: %q", got)
	}
}
