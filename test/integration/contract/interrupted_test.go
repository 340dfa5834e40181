package contract_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const deleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"

// TestInterruptedMove interrupts clusterctl move after it has deleted the objects of all kinds, and before it has removed their finalizers,
// and ends the pause of the Clusters. It expects that nothing is deleted in Azure, that the objects show why, and that the deletion goes on
// without the annotation.
func TestInterruptedMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		askForAllKinds(w)
		w.ApplyMachine("c1", "machine", harness.ControlPlane)
		w.ApplyPool("c1", "pool", 1)
		player := harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
		w.Meanwhile = func() { player.PlayOnce(t.Context()) }
		w.StartProvider()
		w.WaitReady(&infrav1.AzureCluster{}, "c1")
		w.CopyInfrastructure("c1")
		w.WaitAllReady()
		w.Meanwhile = nil
		pauseClusters(w, true)
		moved := map[string]string{}
		for kind, objects := range listStored(w) {
			for _, object := range objects {
				if len(object.GetFinalizers()) == 0 || kind == "AzureClusterIdentity" {
					continue
				}
				moved[kind] = object.GetName()
				changeObject(w, kind, object.GetName(), func(object client.Object) {
					annotations := object.GetAnnotations()
					if annotations == nil {
						annotations = map[string]string{}
					}
					annotations[deleteForMove] = ""
					object.SetAnnotations(annotations)
				})
				if err := w.Client.Delete(t.Context(), newObject(w, kind, object.GetName())); err != nil {
					t.Fatal(err)
				}
			}
		}
		since := len(w.Azure.WritesSince(0))
		pauseClusters(w, false)
		virtual.WaitForSignal(nil, time.Hour)
		if writes := w.Azure.WritesSince(0)[since:]; len(writes) > 0 {
			t.Errorf("written for moved objects: %q", writes)
		}
		for _, kind := range reconciled {
			name, held := moved[kind]
			if !held {
				if kind != "AzureManagedCluster" {
					t.Errorf("no %s was moved", kind)
				}
				continue
			}
			object := newObject(w, kind, name)
			if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			if kind == "AzureMachinePoolMachine" {
				continue // Its pool has the condition.
			}
			ready := conditions.Get(object.(conditions.Getter), infrav1.ReadyCondition)
			if ready == nil || ready.Reason != infrav1.MovedReason || !strings.Contains(ready.Message, deleteForMove) ||
				!strings.Contains(ready.Message, "kubectl patch") {
				t.Errorf("%s shows %v", kind, ready)
			}
		}

		changeObject(w, "AzureManagedMachinePool", moved["AzureManagedMachinePool"], func(object client.Object) {
			annotations := object.GetAnnotations()
			delete(annotations, deleteForMove)
			object.SetAnnotations(annotations)
		})
		w.WaitUntilGone(newObject(w, "AzureManagedMachinePool", moved["AzureManagedMachinePool"]))
	})
}

// pauseClusters pauses the Clusters of askForAllKinds, or ends their pause.
func pauseClusters(w *virtual.Scenario, paused bool) {
	w.T.Helper()
	for _, name := range []string{"c1", "aks1", "aks2"} {
		w.PauseCluster(name, paused)
	}
	virtual.WaitForSignal(nil, time.Minute)
}
