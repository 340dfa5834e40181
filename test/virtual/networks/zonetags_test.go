package networks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestTagsOfPrivateDNS creates a private cluster with tags that Azure does not take on DNS zones and links: Azure/bicep-registry-modules#1541.
func TestTagsOfPrivateDNS(t *testing.T) {
	virtual.PlayUnmanaged(t, func(w *virtual.Scenario) {
		var mu sync.Mutex
		var warned []string
		w.EventRecorded = func(event virtual.Event) {
			mu.Lock()
			defer mu.Unlock()
			if event.Reason == infrav1.IgnoredReason {
				warned = append(warned, event.Note)
			}
		}
		w.StartProvider()
		tags := infrav1.Tags{"Cost Center": "7"}
		for i := range 16 {
			tags[fmt.Sprintf("tag%02d", i)] = "x"
		}
		w.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
			c.Spec.AdditionalTags = tags
			c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
		})
		w.WaitReady(&infrav1.AzureCluster{}, "c1")
		zone, _ := w.FindProperty("Microsoft.Network/privateDnsZones/c1.capz.io", "tags").(map[string]any)
		if len(zone) != 15 || zone["tag00"] != "x" || zone[infrav1.ClusterTagKey("c1")] != infrav1.TagOwned {
			w.T.Errorf("the zone has the tags %v", zone)
		}
		w.WaitQuiet()
		mark := w.Azure.MarkRequests()
		w.AdvanceClock(2 * time.Hour)
		w.WaitQuiet()
		if sent := w.Azure.WritesSince(mark); len(sent) > 0 {
			w.T.Errorf("the tags are taken for a difference: %q", sent)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(warned) != 1 || !strings.Contains(warned[0], "Cost Center, tag13, tag14, tag15") {
			w.T.Errorf("one event names the tags that the zone does not get: %q", warned)
		}
	})
}
