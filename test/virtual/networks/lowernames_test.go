package networks_test

import (
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestNamesOfPrivateDNS creates a private cluster in a group and a network whose names have upper-case letters. Private DNS answers with lower-case
// ones, which are no difference: nothing is written again, and the deletion leaves nothing, also where a group of the user stays.
func TestNamesOfPrivateDNS(t *testing.T) {
	for name, brought := range map[string]bool{"own group": false, "group of the user": true} {
		t.Run(name, func(t *testing.T) { playPrivateCluster(t, brought) })
	}
}

func playPrivateCluster(t *testing.T, groupIsBrought bool) {
	virtual.Play(t, func(s *virtual.Scenario) {
		if groupIsBrought {
			s.PutAsUser("resourceGroups/Mixed-Group", "2021-04-01", body{"location": "eastus"})
		}
		s.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
			c.Spec.ResourceGroup, c.Spec.NetworkSpec.Vnet.Name = "Mixed-Group", "My-Network"
			c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
		})
		s.WaitReady(&infrav1.AzureCluster{}, "c1")
		links := 0
		for _, id := range s.Azure.ListResources() {
			if strings.Contains(id, "/virtualNetworkLinks/") {
				links++
			}
		}
		if links != 1 {
			t.Fatalf("%d links to the network, want 1", links)
		}
		s.WaitQuiet()
		mark := s.Azure.MarkRequests()
		s.AdvanceClock(3 * time.Hour)
		s.WaitQuiet()
		if sent := s.Azure.WritesSince(mark); len(sent) > 0 {
			t.Errorf("other letters are taken for a difference: %q", sent)
		}
		s.DeleteCluster("c1")
		for _, id := range s.Azure.ListResources() {
			if strings.Contains(id, "/Microsoft.Network") {
				t.Errorf("the deletion left %s", id)
			}
		}
		if _, isLeft := s.FindResource("resourceGroups/Mixed-Group"); isLeft != groupIsBrought {
			t.Errorf("the group exists: %v, want %v", isLeft, groupIsBrought)
		}
	})
}
