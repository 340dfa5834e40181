package restored_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestPoolsResizedSinceBackup restores a backup of etcd from before pools of all kinds were resized.
func TestPoolsResizedSinceBackup(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		// observed and corrected are what the user does before the manager starts: observe it, and set spec.replicas.
		observed, corrected bool
		// writes are resources that are written.
		writes []string
	}{
		"observed":     {reason: "the manager shows what it would do, and writes nothing", observed: true},
		"replicas set": {reason: "the objects are as Azure is", corrected: true},
		"left alone":   {reason: "the pools get the restored number of VMs", writes: []string{"virtualMachineScaleSets/pool", "managedClusters/aks1/agentPools/pool0", "managedClusters/c2/agentPools/pool0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				held := w.TakeSnapshot()
				w.setReplicas(3)
				w.AdvanceClock(time.Hour)
				waitReady(w.Scenario)
				w.manager.StopManager()
				before, mark := w.Azure.ListResources(), w.Azure.MarkRequests()
				w.RestoreSnapshot(held)
				w.playClusterAPI(w.Scenario)
				if test.corrected {
					w.setReplicas(3)
				}
				w.Observe = test.observed
				w.StartProvider()
				w.AdvanceClock(2 * time.Hour)
				if len(test.writes) == 0 {
					requireUnchanged(w, before, mark)
				} else {
					requireWritten(w, mark, test.writes)
				}
				if !test.observed {
					waitReady(w.Scenario)
					return
				}
				requireDrift(w, map[string]string{
					"AzureMachinePool pool":               "drain and delete virtualMachines/",
					"AzureManagedMachinePool aks1-pool0":  "update agentPools/pool0 (properties.count)",
					"AzureASOManagedMachinePool c2-pool0": "update agentPools/pool0 (properties.count)",
				})
			})
		})
	}
}

// setReplicas resizes all pools.
func (w *world) setReplicas(replicas int32) {
	w.T.Helper()
	pools := &clusterv1.MachinePoolList{}
	if err := w.Kubernetes.List(w.T.Context(), pools); err != nil || len(pools.Items) != 3 {
		w.T.Fatalf("%d MachinePools: %v", len(pools.Items), err)
	}
	for i := range pools.Items {
		harness.ChangeObject(w.Stage, &pools.Items[i], func(p *clusterv1.MachinePool) { p.Spec.Replicas = &replicas })
	}
}

// TestClustersDeletedSinceBackup restores a backup of etcd from before the resource groups of clusters of all kinds were deleted.
func TestClustersDeletedSinceBackup(t *testing.T) {
	created := []string{"resourceGroups/c1", "resourceGroups/aks1", "resourceGroups/c2", "Microsoft.Network/", "virtualMachineScaleSets/pool",
		"managedClusters/aks1", "managedClusters/c2"}
	for name, test := range map[string]struct {
		reason string
		// observed and deleted are what the user does before the manager starts: observe it, and delete the objects.
		observed, deleted bool
		writes            []string
	}{
		"observed":        {reason: "the manager shows what it would create, and writes nothing", observed: true},
		"objects deleted": {reason: "their deletion finds nothing in Azure", deleted: true},
		"left alone":      {reason: "the clusters and pools are created again, but no machine", writes: created},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				held := w.TakeSnapshot()
				w.manager.StopManager()
				for _, group := range []string{"c1", "aks1", "c2"} {
					if status, answer := w.SendAsUser(http.MethodDelete, "resourceGroups/"+group, "2021-04-01", nil); status > 299 {
						t.Fatalf("delete %s: %d %s", group, status, answer)
					}
				}
				w.AdvanceClock(time.Hour)
				before, mark := w.Azure.ListResources(), w.Azure.MarkRequests()
				if len(before) > 0 {
					t.Fatalf("left in Azure: %v", before)
				}
				w.RestoreSnapshot(held)
				w.playClusterAPI(w.Scenario)
				if test.deleted {
					w.deleteAll()
				}
				w.Observe = test.observed
				w.StartProvider()
				w.AdvanceClock(2 * time.Hour)
				if len(test.writes) == 0 {
					requireUnchanged(w, before, mark)
				} else {
					requireWritten(w, mark, test.writes)
				}
				switch {
				case test.deleted:
					for _, object := range w.TakeSnapshot() {
						if slices.Contains(azureKinds, kindOf(w.Scenario, object)) {
							t.Errorf("%s: %s %s stays: %+v", test.reason, kindOf(w.Scenario, object), object.GetName(),
								harness.FindCondition(object.(harness.Conditioned), infrav1.ReadyCondition))
						}
					}
					return
				case test.observed:
					requireDrift(w, map[string]string{
						"AzureCluster c1":               "create loadBalancers/c1-public-lb",
						"AzureMachinePool pool":         "create virtualMachineScaleSets/pool",
						"AzureManagedControlPlane aks1": "create managedClusters/aks1",
						"AzureASOManagedCluster c2":     "create resourceGroups/c2",
					})
				}
				for _, name := range []string{"m1", "m2"} {
					machine := &infrav1.AzureMachine{}
					w.ReadObject(machine, name)
					if ready := harness.FindCondition(machine, infrav1.ReadyCondition); ready.Reason != infrav1.VMDeletedReason {
						t.Errorf("%s: Ready of machine %s is %+v", test.reason, name, ready)
					}
				}
			})
		})
	}
}

// deleteAll asks for the deletion of all objects.
func (w *world) deleteAll() {
	w.T.Helper()
	for _, object := range w.TakeSnapshot() {
		kind := mustKind(w.Scenario, object)
		if kind.Group != infrav1.GroupVersion.Group && kind.Group != clusterv1.GroupVersion.Group || kind.Kind == "AzureClusterIdentity" {
			continue
		}
		if err := w.Kubernetes.Delete(w.T.Context(), object); client.IgnoreNotFound(err) != nil {
			w.T.Fatal(err)
		}
	}
}

// requireDrift fails unless the objects, by kind and name, show what the manager would do.
func requireDrift(w *world, want map[string]string) {
	w.T.Helper()
	found := 0
	for _, object := range w.TakeSnapshot() {
		name := fmt.Sprintf("%s %s", kindOf(w.Scenario, object), object.GetName())
		if want[name] == "" {
			continue
		}
		found++
		drifted := harness.FindCondition(object.(harness.Conditioned), infrav1.DriftedCondition)
		if drifted.Status != metav1.ConditionTrue || !strings.Contains(drifted.Message, want[name]) {
			w.T.Errorf("Drifted of %s is %+v, want %q", name, drifted, want[name])
		}
	}
	if found != len(want) {
		w.T.Errorf("%d of %d objects", found, len(want))
	}
}

// requireWritten fails unless each part of want is in a write since the mark, and each write has one of the parts.
func requireWritten(w *world, mark harness.Mark, want []string) {
	w.T.Helper()
	missing := slices.Clone(want)
	for _, write := range w.Azure.WritesSince(mark) {
		if strings.Contains(write, "/list") {
			continue
		}
		if !slices.ContainsFunc(want, func(part string) bool { return strings.Contains(write, part) }) {
			w.T.Errorf("unwanted write: %s", write)
		}
		missing = slices.DeleteFunc(missing, func(part string) bool { return strings.Contains(write, part) })
	}
	if len(missing) > 0 {
		w.T.Errorf("not written: %v", missing)
	}
}
