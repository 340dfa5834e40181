// Package leftovers_test deletes clusters in resource groups that users brought, in virtual time, after Services have left load balancers
// and addresses there, as cloud-provider-azure makes them.
package leftovers_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

type body = map[string]any

const (
	version = "2025-05-01"
	path    = "resourceGroups/c1/providers/Microsoft.Network/"
)

// createServices creates the resources that three Services leave: one with an address, one in the cluster's network, and a volume.
func createServices(w *virtual.Scenario) {
	subscription := "/subscriptions/" + w.Azure.SubscriptionID + "/"
	w.PutAsUser(path+"publicIPAddresses/c1-a1", version,
		body{"location": "eastus", "sku": body{"name": "Standard"},
			"tags":       body{"k8s-azure-cluster-name": "c1", "k8s-azure-service": "default/web"},
			"properties": body{"publicIPAllocationMethod": "Static"}})
	balancer := func(name string, frontend body) {
		w.PutAsUser(path+"loadBalancers/"+name, version, body{"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{
			"frontendIPConfigurations": []any{body{"name": "a1", "properties": frontend}},
			"backendAddressPools":      []any{body{"name": "c1"}},
		}})
	}
	balancer("c1", body{"publicIPAddress": body{"id": subscription + path + "publicIPAddresses/c1-a1"}})
	balancer("c1-internal", body{"privateIPAllocationMethod": "Dynamic",
		"subnet": body{"id": subscription + path + "virtualNetworks/c1-vnet/subnets/c1-node-subnet"}})
	w.PutAsUser("resourceGroups/c1/providers/Microsoft.Compute/disks/pvc-1", "2025-01-02",
		body{"location": "eastus", "sku": body{"name": "Premium_LRS"},
			"tags":       body{"kubernetes.io-created-for-pvc-name": "data"},
			"properties": body{"creationData": body{"createOption": "Empty"}, "diskSizeGB": 8}})
}

func listLeft(w *virtual.Scenario) (out []string) {
	for _, short := range []string{"loadBalancers/c1", "loadBalancers/c1-internal", "publicIPAddresses/c1-a1"} {
		if status, _ := w.SendAsUser(http.MethodGet, path+short, version, nil); status == http.StatusOK {
			out = append(out, short)
		}
	}
	return out
}

// TestLeftovers deletes a cluster in a group of the user's: the provider reports resources that Services left, and deletes them where the
// user asks for it.
func TestLeftovers(t *testing.T) {
	for name, test := range map[string]struct {
		reason    string
		requested bool
		shared    bool
		want      int
	}{
		"asked for":       {"all of it is proven to be the cluster's", true, false, 0},
		"not asked for":   {"the provider only reports it", false, false, 2},
		"with a namesake": {"it may be that of the other cluster", true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				recorder := events.NewFakeRecorder(1000)
				w.Recorder = recorder
				w.StartProvider()
				w.PutAsUser("resourceGroups/c1", "2021-04-01", body{"location": "eastus"})
				w.ApplyNetwork("c1", nil)
				azureCluster := &infrav1.AzureCluster{}
				w.WaitReady(azureCluster, "c1")
				createServices(w)
				if test.shared {
					w.PutAsUser(path+"networkSecurityGroups/theirs", version,
						body{"location": "eastus", "tags": body{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: "other/c1/2"}})
				}
				if test.requested {
					harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
						c.Annotations[infrav1.DeleteLeftoversAnnotation] = "true"
					})
				}
				w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, azureCluster)
				said := metav1.Condition{}
				gone := func() bool {
					err := w.Kubernetes.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "c1"}, azureCluster)
					if err == nil {
						if now := harness.FindCondition(azureCluster, infrav1.LeftoversCondition); now.Message != "" {
							said = now
						}
					}
					return apierrors.IsNotFound(err)
				}
				if !test.requested || test.shared {
					// The load balancer in the cluster's network keeps that until a user deletes it.
					w.WaitUntil("the condition lists the leftovers", func() bool { return !gone() && said.Reason == infrav1.LeftBehindInAzureReason })
					for _, want := range []string{"loadBalancers/c1", "loadBalancers/c1-internal", "publicIPAddresses/c1-a1", "disks/pvc-1",
						"az resource delete --ids "} {
						if !strings.Contains(said.Message, want) {
							t.Errorf("%s: the condition lacks %s: %s", test.reason, want, said.Message)
						}
					}
					if strings.Contains(said.Message, "kubectl annotate") == test.shared {
						t.Errorf("%s: %s", test.reason, said.Message)
					}
					if len(listLeft(w)) != 3 {
						t.Errorf("%s: left are %v", test.reason, listLeft(w))
					}
					if status, answer := w.SendAsUser(http.MethodDelete, path+"loadBalancers/c1-internal", version, nil); status > 299 {
						t.Fatalf("%d %s", status, answer)
					}
				}
				w.WaitUntil("the cluster is gone", gone)
				virtual.WaitForSignal(nil, time.Minute)
				if got := listLeft(w); len(got) != test.want {
					t.Errorf("%s: left are %v, want %d", test.reason, got, test.want)
				}
				events := ""
				for range len(recorder.Events) {
					events += <-recorder.Events + "\n"
				}
				if !strings.Contains(events, "Warning "+infrav1.LeftBehindInAzureReason) || !strings.Contains(events, "disks/pvc-1") {
					t.Errorf("%s: no event lists the leftovers:\n%s", test.reason, events)
				}
			})
		})
	}
}
