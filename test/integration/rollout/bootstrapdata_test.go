package rollout_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// untilRenewal is the time between two renewals of bootstrap data, half of the 15 minutes of a token.
const untilRenewal = 8 * time.Minute

// TestBootstrapDataOfVMsAddedInAzure renews the bootstrap data of a pool at rest, as Cluster API does when half of the time of the token in them
// is over. If Azure or an autoscaler adds VMs, the scale set gets each version with one PUT, which touches no VM, and a VM that is added later
// boots with the last one. A scale set to which only the provider adds VMs is not written.
func TestBootstrapDataOfVMsAddedInAzure(t *testing.T) {
	const renewals = 4
	repaired := func(w *world) {
		w.EditResource(scaleSetPath, map[string]any{"properties": map[string]any{"automaticRepairsPolicy": map[string]any{"enabled": true}}})
	}
	for name, test := range map[string]struct {
		reason string
		mode   infrav1.OrchestrationMode
		// othersAdd has others than the provider add VMs; nil does not.
		othersAdd func(*world)
		puts      int
	}{
		"autoscaled":          {"an autoscaler sets the capacity in Azure", infrav1.UniformOrchestration, setAutoscaled, renewals},
		"autoscaled flexible": {"an autoscaler sets the capacity in Azure", infrav1.FlexibleOrchestration, setAutoscaled, renewals},
		"automatic repairs":   {"Azure replaces VMs", infrav1.UniformOrchestration, repaired, renewals},
		"own":                 {"the provider adds each VM, with the data of that time", infrav1.UniformOrchestration, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, three)
				w.StartProvider()
				w.createNetwork()
				azurePool := w.AzureMachinePool("c1", poolName)
				azurePool.Spec.OrchestrationMode = test.mode
				w.CreatePool(azurePool, 3)
				w.waitUntil("the pool is whole", w.isWhole)
				if test.othersAdd != nil {
					test.othersAdd(w)
				}
				virtual.WaitForSignal(nil, time.Hour)

				mark, boots := w.Azure.MarkRequests(), w.listBoots()
				for n := range renewals {
					w.renewBootstrapData(n)
					virtual.WaitForSignal(nil, untilRenewal)
				}
				virtual.WaitForSignal(nil, 2*time.Hour)
				writes := countCalls(w.Azure, mark)
				maps.DeleteFunc(writes, func(call string, _ int) bool { return strings.HasPrefix(call, "GET ") })
				want := map[string]int{}
				if test.puts > 0 {
					want["PUT"] = test.puts
				}
				if diff := cmp.Diff(want, writes); diff != "" {
					t.Errorf("%s: writes (-want +got):\n%s", test.reason, diff)
				}
				if diff := cmp.Diff(boots, w.listBoots()); diff != "" {
					t.Errorf("%s: VMs were replaced or booted anew (-before +after):\n%s", test.reason, diff)
				}
				if !w.isWhole() {
					t.Errorf("%s: the pool is not as wanted any more", test.reason)
				}
				if test.othersAdd == nil {
					return
				}
				w.PatchResource(scaleSetPath, capacity(4))
				added := 0
				for _, guest := range w.listGuests() {
					if boots[guest.VMID] != "" {
						continue
					}
					added++
					if guest.CustomData != bootstrapData(renewals-1) {
						t.Errorf("%s: a VM that was added booted with %q", test.reason, guest.CustomData)
					}
				}
				if added == 0 {
					t.Errorf("%s: no VM was added", test.reason)
				}
			})
		})
	}
}

// TestAutoscalerAddsVMsOfManyModels lets an autoscaler add one VM after each renewal of the bootstrap data, twelve times. It expects that
// each VM boots with the data of its time, that Azure refuses no write, because VMs get the latest model in place before they are of ten,
// and that no VM is replaced or restarted.
func TestAutoscalerAddsVMsOfManyModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const times = 12
		s := three
		s.replicas = 1
		w := newWorld(t, s)
		w.startWhole()
		w.rules.endChecks()
		setAutoscaled(w)
		models, mark := w.watchModels(), w.Azure.MarkRequests()
		boots := w.listBoots()
		for n := range times {
			w.renewBootstrapData(n)
			virtual.WaitForSignal(nil, untilRenewal)
			w.PatchResource(scaleSetPath, capacity(n+2))
			w.settings.replicas++
			w.waitUntil("the VM of the autoscaler is Ready", w.isWhole)
			for _, guest := range w.listGuests() {
				if want := bootstrapData(n); boots[guest.VMID] == "" && guest.CustomData != want {
					t.Errorf("VM %d booted with %q, want %q", n, guest.CustomData, want)
				}
				if before := boots[guest.VMID]; before != "" && before != guest.BootID {
					t.Errorf("%s booted anew", guest.VMID)
				}
				boots[guest.VMID] = guest.BootID
			}
		}
		asked := countCalls(w.Azure, mark)
		if len(boots) != times+1 || models.maxModels() >= rollout.MaxModels {
			t.Errorf("%d VMs were seen, want %d; they were of %d models", len(boots), times+1, models.maxModels())
		}
		if asked["PUT"] != times || asked["PATCH"] > 0 || asked["PUT refused"]+asked["POST refused"] > 0 || asked["POST"] == 0 {
			t.Errorf("writes: %s", formatFigures(asked))
		}
	})
}

func setAutoscaled(w *world) {
	harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}}, func(p *clusterv1.MachinePool) {
		p.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "cluster-autoscaler"}
	})
}

// capacity is the body with which an autoscaler changes the number of VMs.
func capacity(n int) map[string]any {
	return map[string]any{"sku": map[string]any{"name": "Standard_D2s_v3", "tier": "Standard", "capacity": n}}
}

// bootstrapData returns the data that renewBootstrapData(n) sets, as a VM gets them.
func bootstrapData(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "#cloud-config token %d", n))
}
