package leftovers_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestRequests counts the lists that looking for leftovers costs a deletion in a group of the user's. Each reconciliation lists the group's resources twice:
// once to see what carries the cluster's tags, and once to look for leftovers. So half of these lists is the number of reconciliations. The
// group and the network are read by the deletion in any case.
func TestRequests(t *testing.T) {
	const lists = "GET resourceGroups/c1/"
	for name, test := range map[string]struct {
		reason       string
		asked, left  bool
		lists, disks int // per reconciliation
	}{
		"nothing left":       {"the list of resources is enough", false, false, 0, 0},
		"nothing, but asked": {"the list of resources is enough", true, false, 0, 0},
		"volume":             {"load balancers and addresses are read whole", false, true, 1, 0},
		"volume, and asked":  {"disks are read whole, too", true, true, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &volumeWorld{Scenario: virtual.New(t)}
				w.StartProvider()
				w.PutAsUser("resourceGroups/c1", "2021-04-01", body{"location": "eastus"})
				w.ApplyNetwork("c1", nil)
				azureCluster := &infrav1.AzureCluster{}
				w.WaitReady(azureCluster, "c1")
				if test.left {
					w.createDisk("pvc-2", nil)
				}
				if test.asked {
					w.requestDeletion()
				}
				mark := w.Azure.MarkRequests()
				w.DeleteObjects(azureCluster)
				w.WaitUntilGone(azureCluster)
				requests := w.Azure.RequestsSince(mark)
				reconciliations := countRequests(requests, lists+"resources") / 2
				want := map[string]int{"load balancers": test.lists * reconciliations, "disks": test.disks * reconciliations}
				got := map[string]int{"load balancers": countRequests(requests, lists+"Microsoft.Network/loadBalancers"),
					"disks": countRequests(requests, disksRequest)}
				if diff := cmp.Diff(want, got); diff != "" || reconciliations == 0 {
					t.Errorf("%s: lists in %d reconciliations (-want +got):\n%s", test.reason, reconciliations, diff)
				}
			})
		})
	}
}
