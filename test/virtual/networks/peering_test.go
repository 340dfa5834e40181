package networks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

type body = map[string]any

// The networks of the stories and their peerings.
const (
	vnet    = "Microsoft.Network/virtualNetworks/c1-vnet"
	hub     = "resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub"
	peering = vnet + "/virtualNetworkPeerings/c1-vnet-To-hub"
	back    = hub + "/virtualNetworkPeerings/hub-To-c1-vnet"
)

// applyPeered applies a cluster that is peered with the hub.
func applyPeered(s *virtual.Scenario) {
	s.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
		c.Spec.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "hub",
			RemoteVnetName: "hub", ForwardPeeringProperties: infrav1.VnetPeeringProperties{AllowForwardedTraffic: new(true)}}}}
	})
}

// TestDisconnectedPeering connects networks again whose peering lost its other side: Azure refuses the missing side until the other one was
// updated (hashicorp/terraform-provider-azurerm#14051).
func TestDisconnectedPeering(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		// before comes before the cluster exists, do when it is peered.
		before, do func(w *virtual.Scenario)
	}{
		"a new hub": {"the user deletes the network and creates it again", nil, func(w *virtual.Scenario) {
			w.RemoveResource(hub)
			w.Azure.PutNetwork("hub", "hub", "172.16.0.0/16", nil)
		}},
		"a new cluster": {"the hub still has the peering with the network of an earlier cluster", func(w *virtual.Scenario) {
			w.Azure.PutNetwork("c1", "c1-vnet", "10.0.0.0/8", nil)
			peer := func(path, with string) {
				w.PutResource(path, body{"properties": body{"remoteVirtualNetwork": body{"id": string(w.ResourceID(with))}}})
			}
			earlier := "resourceGroups/c1/providers/" + vnet
			peer(earlier+"/virtualNetworkPeerings/c1-vnet-To-hub", hub)
			peer(back, earlier)
			w.RemoveResource(earlier)
		}, nil},
		"the peering in the hub":   {"the owner of the hub deletes it", nil, func(w *virtual.Scenario) { w.RemoveResource(back) }},
		"the peering with the hub": {"a user deletes it", nil, func(w *virtual.Scenario) { w.RemoveResource(peering) }},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Play(t, func(w *virtual.Scenario) {
				w.Azure.PutNetwork("hub", "hub", "172.16.0.0/16", nil)
				if test.before != nil {
					test.before(w)
				}
				applyPeered(w)
				connected := func() bool {
					return w.FindProperty(peering, "properties.peeringState") == "Connected" &&
						w.FindProperty(back, "properties.peeringState") == "Connected"
				}
				w.WaitUntil("the networks are peered", connected)
				w.WaitReady(&infrav1.AzureCluster{}, "c1")
				if test.do == nil {
					return
				}
				w.WaitQuiet()
				mark := w.Azure.MarkRequests()
				test.do(w)
				if connected() {
					t.Fatalf("%s: nothing was disconnected", test.reason)
				}
				w.AdvanceClock(time.Hour)
				w.WaitUntil("the networks are peered again", connected)
				w.WaitReady(&infrav1.AzureCluster{}, "c1")
				for _, line := range w.Azure.WritesSince(mark) {
					if !strings.Contains(line, "virtualNetworkPeerings/") {
						t.Errorf("%s: wrote %s", test.reason, line)
					}
				}
			})
		})
	}
}

// TestPeeringFollowsAddressRanges: a peering keeps the address ranges of the other network until a PUT asks for the present ones
// (Azure/bicep#18379).
func TestPeeringFollowsAddressRanges(t *testing.T) {
	virtual.Play(t, func(w *virtual.Scenario) {
		w.Azure.PutNetwork("hub", "hub", "172.16.0.0/16", nil)
		applyPeered(w)
		inSync := func() bool {
			return w.FindProperty(peering, "properties.peeringSyncLevel") == "FullyInSync" &&
				w.FindProperty(back, "properties.peeringSyncLevel") == "FullyInSync"
		}
		w.WaitReady(&infrav1.AzureCluster{}, "c1")
		w.WaitUntil("the peerings are in sync", inSync)
		w.WaitQuiet()

		changed := time.Now()
		harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
			c.Spec.NetworkSpec.Vnet.CIDRBlocks = append(c.Spec.NetworkSpec.Vnet.CIDRBlocks, "192.168.0.0/16")
		})
		w.WaitUntil("the network has the range", func() bool {
			return strings.Contains(fmt.Sprint(w.FindProperty(vnet, "properties.addressSpace.addressPrefixes")), "192.168.0.0/16")
		})
		w.WaitUntil("the peerings follow the cluster's network", func() bool {
			return inSync() && strings.Contains(fmt.Sprint(w.FindProperty(back, "properties.remoteAddressSpace")), "192.168.0.0/16")
		})
		if took := time.Since(changed); took > 2*time.Minute {
			w.T.Errorf("the peerings took %s", took)
		}

		w.WaitQuiet()
		w.RewriteResource(hub, func(network map[string]any) {
			network["properties"].(body)["addressSpace"] = body{"addressPrefixes": []any{"172.16.0.0/16", "172.18.0.0/16"}}
		})
		if inSync() {
			w.T.Fatal("the hub's new range is in sync already")
		}
		w.AdvanceClock(time.Hour)
		w.WaitUntil("the peerings follow the hub", inSync)
	})
}
