package leftovers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestRefusedLists deletes a cluster in a group of the user's whose identity may not list resources of a type. The deletion continues
// with the results of the other lists. It deletes nothing that is not proven, and the condition and the event name the list that Azure
// refused.
func TestRefusedLists(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		list   string // of the path in the resource group
		named  string
		want   []string // leftovers that stay
	}{
		"all resources": {"without it nothing shows that there is no other cluster of this name", "resources", "list resources",
			[]string{"loadBalancers/c1", "publicIPAddresses/c1-a1", "disks/pvc-1"}},
		"load balancers": {"only the list of load balancers shows their frontends", "providers/microsoft.network/loadbalancers",
			"list Microsoft.Network/loadBalancers", []string{"loadBalancers/c1", "publicIPAddresses/c1-a1"}},
		"addresses": {"the tags of an address are in the list of all resources", "providers/microsoft.network/publicipaddresses",
			"list Microsoft.Network/publicIPAddresses", []string{"publicIPAddresses/c1-a1"}},
		"disks": {"the list of all resources does not show that a disk is not shared", "providers/microsoft.compute/disks",
			"list Microsoft.Compute/disks", []string{"disks/pvc-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &volumeWorld{Scenario: virtual.New(t)}
				w.recorder = events.NewFakeRecorder(1000)
				w.Recorder = w.recorder
				w.StartProvider()
				w.PutAsUser("resourceGroups/c1", "2021-04-01", body{"location": "eastus"})
				w.ApplyNetwork("c1", nil)
				azureCluster := &infrav1.AzureCluster{}
				w.WaitReady(azureCluster, "c1")
				createServices(w.Scenario)
				w.sendRequest(http.MethodDelete, path+"loadBalancers/c1-internal", version, nil)
				w.createDisk("pvc-1", body{"kubernetes.io-created-for-pvc-name": "data", infrav1.VolumeTag: ownerOf(w, path+"virtualNetworks/c1-vnet")})
				w.requestDeletion()
				rule := fault.Rule{Method: http.MethodGet, ID: "*/resourcegroups/c1/" + test.list, Count: -1, Kind: fault.Status,
					Status: http.StatusForbidden, Code: "AuthorizationFailed"}
				if err := w.Azure.AddFault(rule); err != nil {
					t.Fatal(err)
				}
				w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, azureCluster)
				said := ""
				w.WaitUntil("the cluster is gone", func() bool {
					err := w.Kubernetes.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "c1"}, azureCluster)
					if message := harness.FindCondition(azureCluster, infrav1.LeftoversCondition).Message; err == nil && message != "" {
						said = message
					}
					return apierrors.IsNotFound(err)
				})
				var stay []string
				for _, one := range append(listLeft(w.Scenario), w.listDisks()...) {
					if one == "pvc-1" {
						one = "disks/pvc-1"
					}
					stay = append(stay, one)
				}
				if diff := cmp.Diff(test.want, stay); diff != "" {
					t.Errorf("%s: other leftovers stay (-want +got):\n%s\n%s", test.reason, diff, said)
				}
				events := w.readEvents()
				for _, want := range append(test.want, "Azure refused to "+test.named+" in it") {
					if !strings.Contains(said, want) || !strings.Contains(events, want) {
						t.Errorf("%s: the condition or the event does not have %q:\n%s\n%s", test.reason, want, said, events)
					}
				}
			})
		})
	}
}

// ownerOf returns the value of the tag that names the owner of a resource.
func ownerOf(w *volumeWorld, resource string) string {
	w.T.Helper()
	_, answer := w.SendAsUser(http.MethodGet, resource, version, nil)
	var shown struct{ Tags map[string]string }
	if err := json.Unmarshal(answer, &shown); err != nil || shown.Tags[infrav1.OwnerTag] == "" {
		w.T.Fatalf("%s has no owner: %v %s", resource, err, answer)
	}
	return shown.Tags[infrav1.OwnerTag]
}
