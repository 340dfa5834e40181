package rollout_test

import (
	"encoding/json"
	"net/http"
	"slices"
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
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const scaleSetPath = "resourceGroups/c1/providers/Microsoft.Compute/virtualMachineScaleSets/" + poolName

// loseTags takes all tags off the scale set: by a PUT as that of cloud-provider-azure, which has no tags, where such a PUT drops them, else by an
// edit in Azure.
func (w *world) loseTags() {
	w.t.Helper()
	if w.settings.dropsTags {
		w.putWithoutTags()
		return
	}
	id := "/subscriptions/" + w.Azure.SubscriptionID + "/" + scaleSetPath
	if err := w.Azure.AddFault(fault.Rule{Now: true, ID: id, Kind: fault.Edit, Patch: map[string]any{"tags": nil}}); err != nil {
		w.t.Fatal(err)
	}
	w.Azure.ClearFaults()
}

// putWithoutTags sends the PUT of cloud-provider-azure: location and network profile.
func (w *world) putWithoutTags() {
	w.t.Helper()
	var shown struct {
		Location   string            `json:"location"`
		Tags       map[string]string `json:"tags"`
		Properties struct {
			ProvisioningState string
			Profile           struct {
				Network any `json:"networkProfile"`
			} `json:"virtualMachineProfile"`
		} `json:"properties"`
	}
	read := func() {
		w.t.Helper()
		shown.Tags = nil
		if _, answer := w.SendAsUser(http.MethodGet, scaleSetPath, "2025-04-01", nil); json.Unmarshal(answer, &shown) != nil {
			w.t.Fatalf("%s", answer)
		}
	}
	w.waitUntil("no operation changes the scale set", func() bool {
		read()
		return shown.Properties.ProvisioningState == "Succeeded"
	})
	status, answer := w.SendAsUser(http.MethodPut, scaleSetPath, "2025-04-01", map[string]any{
		"location":   shown.Location,
		"properties": map[string]any{"virtualMachineProfile": map[string]any{"networkProfile": shown.Properties.Profile.Network}},
	})
	if read(); status > 299 || len(shown.Tags) > 0 {
		w.t.Fatalf("%d %s: the scale set has the tags %v", status, answer, shown.Tags)
	}
}

// scaleSetExists reports whether the scale set does.
func (w *world) scaleSetExists() bool {
	status, _ := w.SendAsUser(http.MethodGet, scaleSetPath, "2025-04-01", nil)
	return status == http.StatusOK
}

// usesGroup lets the cluster use a resource group that existed before.
func (w *world) usesGroup() {
	w.PutAsUser("resourceGroups/c1", "2021-04-01", map[string]any{"location": "eastus"})
}

// usesNetwork lets the cluster use a network of another owner, too.
func (w *world) usesNetwork() {
	w.usesGroup()
	w.PutAsUser("resourceGroups/hub", "2021-04-01", map[string]any{"location": "eastus"})
	w.PutAsUser("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub", "2025-05-01",
		map[string]any{"location": "eastus", "properties": map[string]any{
			"addressSpace": map[string]any{"addressPrefixes": []any{"10.0.0.0/8"}},
			"subnets": []any{
				map[string]any{"name": "cp", "properties": map[string]any{"addressPrefix": "10.0.0.0/16"}},
				map[string]any{"name": "nodes", "properties": map[string]any{"addressPrefix": "10.1.0.0/16"}},
			},
		}})
}

// inHub puts a cluster into the network of another owner.
func inHub(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{ResourceGroup: "hub", Name: "hub"}
	c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"10.0.0.0/16"}}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.1.0.0/16"}}},
	}
}

// readEvents returns the events since the last call.
func readEvents(recorder *events.FakeRecorder) (out []string) {
	for range len(recorder.Events) {
		out = append(out, <-recorder.Events)
	}
	return out
}

// TestLostTags removes the tags of the scale set of a pool that is complete. Where Azure proves the owner, the pool scales and is deleted
// as before. Otherwise its condition names the remedy, and it is not deleted while its VMs run. No source documents whether a PUT without
// tags removes them, so both are tried.
func TestLostTags(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		before func(*world)
		change func(*infrav1.AzureCluster)
		proven bool
	}{
		"group of the cluster":   {"the scale set would go with the group", func(*world) {}, nil, true},
		"network of the cluster": {"only the scale set's own document can have it use that", (*world).usesGroup, nil, true},
		"group and network of another owner": {"only the record proves that the pool created it, and users can write that", (*world).usesNetwork,
			inHub, false},
	} {
		for puts, drops := range map[string]bool{"PUTs keep tags": false, "PUTs drop tags": true} {
			t.Run(name+"/"+puts, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					three := three
					three.change, three.dropsTags = test.change, drops
					w := newWorld(t, three)
					recorder := events.NewFakeRecorder(1000)
					w.Recorder = recorder
					test.before(w)
					w.startWhole()
					w.rules.endChecks()
					scale := func(replicas int32) {
						w.settings.replicas = replicas
						harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
							func(p *clusterv1.MachinePool) { p.Spec.Replicas = &replicas })
					}
					azurePool := &infrav1.AzureMachinePool{}
					said := func() metav1.Condition {
						w.ReadObject(azurePool, poolName)
						return harness.FindCondition(azurePool, infrav1.ScaleSetRunningCondition)
					}
					w.loseTags()
					scale(4)
					if test.proven {
						w.waitUntil("the pool has scaled up", w.isWhole)
						w.loseTags()
						scale(2)
						w.waitUntil("the pool has scaled down", w.isWhole)
					} else {
						mark := w.Azure.MarkRequests()
						w.waitUntil("the pool reports it", func() bool { return said().Reason == infrav1.OwnershipTagLostReason })
						if message := said().Message; said().Status != metav1.ConditionFalse ||
							!strings.Contains(message, "az tag update --resource-id /subscriptions/"+w.Azure.SubscriptionID+"/"+scaleSetPath) {
							t.Errorf("%s: %+v", test.reason, said())
						}
						if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
							t.Errorf("%s: wrote %v", test.reason, writes)
						}
					}
					w.loseTags()
					mark := w.Azure.MarkRequests()
					w.ReadObject(azurePool, poolName)
					if err := w.Kubernetes.Delete(t.Context(), azurePool); err != nil {
						t.Fatal(err)
					}
					if !test.proven {
						virtual.WaitForSignal(nil, time.Hour)
						if said().Reason != infrav1.OwnershipTagLostReason || !w.scaleSetExists() || len(w.Azure.WritesSince(mark)) > 0 {
							t.Errorf("%s: the pool does not wait: %+v, %v", test.reason, said(), w.Azure.WritesSince(mark))
						}
						if !slices.ContainsFunc(readEvents(recorder),
							func(event string) bool { return strings.HasPrefix(event, "Warning "+infrav1.OwnershipTagLostReason) }) {
							t.Errorf("%s: no Warning tells of it", test.reason)
						}
						// The user follows the message.
						status, answer := w.SendAsUser(http.MethodPatch, scaleSetPath+"/providers/Microsoft.Resources/tags/default", types.TagsAPIVersion,
							map[string]any{
								"operation": "Merge", "properties": map[string]any{"tags": map[string]any{infrav1.ClusterTagKey("c1"): infrav1.TagOwned}}})
						if status > 299 {
							t.Fatalf("%d %s", status, answer)
						}
					}
					w.waitUntil("the pool is gone", func() bool {
						return apierrors.IsNotFound(w.Kubernetes.Get(t.Context(), client.ObjectKeyFromObject(azurePool), azurePool))
					})
					if w.scaleSetExists() {
						t.Errorf("%s: the pool is gone, and its scale set is not", test.reason)
					}
				})
			})
		}
	}
}
