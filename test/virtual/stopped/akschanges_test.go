package stopped_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestAKSChangesWhileStopped changes control plane and MachinePool of a stopped cluster: nothing is sent, the objects wait and are not
// stalled, and both changes are made soon after the start.
func TestAKSChangesWhileStopped(t *testing.T) {
	for name, stop := range map[string]struct{ stop, start func(f family) }{
		"by annotation": {func(f family) { f.annotateCluster("true") }, func(f family) { f.annotateCluster("") }},
		"by a user":     {func(f family) { f.PostAction(aksPath, "stop") }, func(f family) { f.PostAction(aksPath, "start") }},
	} {
		t.Run(name, func(t *testing.T) {
			eachFamily(t, func(t *testing.T, f family) {
				stop.stop(f)
				f.WaitUntil("the cluster is stopped", func() bool { return f.powerStates()["0"] == "Stopped" })
				f.AdvanceClock(time.Hour)
				mark := f.Azure.MarkRequests()
				f.changeTier()
				harness.ChangeObject(f.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "c1-pool1"}},
					func(m *clusterv1.MachinePool) { m.Spec.Replicas = new(int32(3)) })
				if message := f.waitReason(f.pool(), "c1-pool1", infrav1.WaitingReason); !strings.Contains(message, "az aks start") {
					t.Error(message)
				}
				f.AdvanceClock(2 * time.Hour)
				if writes := f.specWrites(mark); len(writes) > 0 {
					t.Errorf("written to a stopped cluster: %v", writes)
				}
				f.ReadObject(f.controlPlane.(client.Object), f.cluster)
				for _, object := range []harness.Conditioned{f.controlPlane, f.read("c1-pool1")} {
					ready := harness.FindCondition(object, infrav1.ReadyCondition)
					if ready.Status != metav1.ConditionFalse || status.NeedsAction(ready.Reason) || harness.FindCondition(object, infrav1.StalledCondition).Type != "" {
						t.Errorf("%T: Ready is %+v", object, ready)
					}
				}
				stop.start(f)
				f.WaitUntil("the cluster runs", func() bool { return f.powerStates()["0"] == "Running" })
				started := time.Now()
				f.WaitUntil("both changes are sent", func() bool {
					writes := f.specWrites(mark)
					return slices.ContainsFunc(writes, func(w string) bool { return strings.HasSuffix(w, "/managedClusters/c1") }) &&
						slices.ContainsFunc(writes, func(w string) bool { return strings.HasSuffix(w, "/agentPools/pool1") })
				})
				if late := time.Since(started); late > time.Minute {
					t.Errorf("both were sent %s after the start", late)
				}
				f.waitPool("c1-pool1", metav1.ConditionTrue, "")
				f.waitControlPlane(false)
				writes := f.specWrites(mark) // AKS refuses one while the other is in progress, and it is repeated.
				slices.Sort(writes)
				if writes = slices.Compact(writes); len(writes) != 2 {
					t.Errorf("writes: %v", writes)
				}
			})
		})
	}
}

// changeTier changes a value of the control plane.
func (f family) changeTier() {
	f.T.Helper()
	f.ReadObject(f.controlPlane.(client.Object), f.cluster)
	harness.ChangeObject(f.Stage, f.controlPlane.(client.Object), func(o client.Object) {
		switch o := o.(type) {
		case *infrav1.AzureManagedControlPlane:
			o.Spec.SKU = &infrav1.AKSSku{Tier: "Standard"}
		case *infrav1.AzureASOManagedControlPlane:
			for i, r := range o.Spec.Resources {
				o.Spec.Resources[i].Raw = []byte(strings.Replace(string(r.Raw), `"spec":{`, `"spec":{"sku":{"name":"Base","tier":"Standard"},`, 1))
			}
		}
	})
}

// TestAKSExtensionAddedWhileStopped adds an extension to a stopped cluster that has no other change: it is sent soon after the start, and not
// before, because AKS would refuse it.
func TestAKSExtensionAddedWhileStopped(t *testing.T) {
	eachFamily(t, func(t *testing.T, f family) {
		f.PostAction(aksPath, "stop")
		f.WaitUntil("the cluster is stopped", func() bool { return f.powerStates()["0"] == "Stopped" })
		f.AdvanceClock(time.Hour)
		mark := f.Azure.MarkRequests()
		f.addExtension()
		f.AdvanceClock(2 * time.Hour)
		if writes := f.specWrites(mark); len(writes) > 0 {
			t.Errorf("written to a stopped cluster: %v", writes)
		}
		f.PostAction(aksPath, "start")
		f.WaitUntil("the cluster runs", func() bool { return f.powerStates()["0"] == "Running" })
		f.AdvanceClock(time.Minute)
		if writes := f.specWrites(mark); len(writes) != 1 || !strings.HasSuffix(writes[0], "/extensions/flux") {
			t.Errorf("written in the minute after the start: %v", writes)
		}
		f.waitControlPlane(false)
	})
}

// addExtension adds an extension to the cluster.
func (f family) addExtension() {
	f.T.Helper()
	f.ReadObject(f.controlPlane.(client.Object), f.cluster)
	harness.ChangeObject(f.Stage, f.controlPlane.(client.Object), func(o client.Object) {
		switch o := o.(type) {
		case *infrav1.AzureManagedControlPlane:
			o.Spec.Extensions = []infrav1.AKSExtension{{Name: "flux", ExtensionType: new("microsoft.flux")}}
		case *infrav1.AzureASOManagedControlPlane:
			o.Spec.Resources = append(o.Spec.Resources, f.ParseManifest(extensionManifest))
		}
	})
}

const extensionManifest = `
apiVersion: kubernetesconfiguration.azure.com/v1api20241101
kind: Extension
metadata:
  name: flux
spec:
  owner: {group: containerservice.azure.com, kind: ManagedCluster, name: c1}
  extensionType: microsoft.flux
`
