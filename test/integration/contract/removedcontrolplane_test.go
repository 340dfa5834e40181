package contract_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPoolOfRemovedControlPlane removes the finalizer of a control plane while its Cluster exists, and then deletes a pool of it. It expects
// that the pool goes with a Warning: nothing else names its agent pool.
func TestPoolOfRemovedControlPlane(t *testing.T) {
	for kind, row := range map[string]struct{ controlPlane, pool string }{
		"AzureManaged":    {"aks1", "aks1-pool1"},
		"AzureASOManaged": {"aks2", "aks2-pool1"},
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				w.ApplyAKSCluster("aks1", 2)
				w.CreateManifests(w.BuildASOCluster("aks2", "pool0", "pool1"))
				var warnings []string
				w.EventRecorded = func(event virtual.Event) {
					if event.Reason == infrav1.LeftBehindInAzureReason {
						warnings = append(warnings, event.Name+": "+event.Note)
					}
				}
				w.StartProvider()
				w.WaitAllReady()
				controlPlane, pool := newObject(w, kind+"ControlPlane", row.controlPlane), newObject(w, kind+"MachinePool", row.pool)
				w.PauseCluster(row.controlPlane, true)
				virtual.WaitForSignal(nil, time.Minute)
				if err := w.Client.Delete(t.Context(), controlPlane); err != nil {
					t.Fatal(err)
				}
				w.RemoveFinalizers(controlPlane)
				w.PauseCluster(row.controlPlane, false)
				virtual.WaitForSignal(nil, time.Minute)
				if err := w.Client.Delete(t.Context(), pool); err != nil {
					t.Fatal(err)
				}
				w.WaitUntilGone(pool)
				if len(warnings) != 1 || !strings.HasPrefix(warnings[0], row.pool+": ") || !strings.Contains(warnings[0], "agent pool pool1") ||
					!strings.Contains(warnings[0], kind+"ControlPlane") {
					t.Errorf("got the Warnings %q", warnings)
				}
			})
		})
	}
}
