package requests_test

import (
	"fmt"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestDefaultCluster is the default flavor: three control plane machines and two workers, made and deleted. How many reads it takes
// depends on which of its operations got which of Azure's durations: 75 to 120, and 11, were seen.
func TestDefaultCluster(t *testing.T) {
	reads := 0
	playDraws(t, 8, func(w *world) {
		begun := time.Now()
		w.BuildCluster("c1", 2)
		made := w.countSince(0)
		reads += made.reads
		w.T.Logf("Ready after %s: %s", time.Since(begun).Round(time.Second), made)
		if made.writes != 24 {
			w.T.Errorf("%d writes, want 24", made.writes)
		}
		infrastructure := &infrav1.AzureCluster{}
		infrastructure.Name = "c1"
		var owners, machines []client.Object
		for _, name := range []string{"c1-control-plane-0", "c1-control-plane-1", "c1-control-plane-2", "c1-md-0-0", "c1-md-0-1"} {
			owner, machine := &clusterv1.Machine{}, &infrav1.AzureMachine{}
			owner.Name, machine.Name = name, name
			owners, machines = append(owners, owner), append(machines, machine)
		}
		w.countDeletion("c1", owners, machines, 20, infrastructure)
	})
	if reads > 8*100 {
		t.Errorf("%d reads on average, want at most 100", reads/8)
	}
}

// TestManagedCluster is AKS with a system pool and another one, made and deleted: 23 to 31 and 14 to 16 reads were seen.
func TestManagedCluster(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		begun := time.Now()
		w.BuildAKSCluster("aks1", 2)
		made := w.countSince(0)
		w.T.Logf("Ready after %s: %s", time.Since(begun).Round(time.Second), made)
		if made.writes != 4 || made.reads > 34 {
			w.T.Errorf("%d writes and %d reads, want 4 and at most 34", made.writes, made.reads)
		}
		controlPlane, infrastructure := &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedCluster{}
		controlPlane.Name, infrastructure.Name = "aks1", "aks1"
		var owners, pools []client.Object
		for i := range 2 {
			pool := &infrav1.AzureManagedMachinePool{}
			pool.Name = fmt.Sprintf("aks1-pool%d", i)
			owners, pools = append(owners, virtual.MachinePool(pool.Name)), append(pools, pool)
		}
		w.countDeletion("aks1", owners, pools, 20, controlPlane, infrastructure)
	})
}

// countDeletion deletes a cluster in the order of Cluster API, and counts the requests: its workers with their owners, then one after the
// other the objects that come after them. All of it is deleted with its resource group, which is one write.
func (w *world) countDeletion(name string, owners, workers []client.Object, reads int, after ...client.Object) {
	w.T.Helper()
	begun, mark := time.Now(), w.Azure.MarkRequests()
	owner := &clusterv1.Cluster{}
	owner.Name, owner.Namespace = name, w.Namespace
	harness.ChangeObject(w.Stage, owner, func(c *clusterv1.Cluster) { c.Finalizers = append(c.Finalizers, clusterv1.ClusterFinalizer) })
	w.DeleteObjects(owner)
	w.DeleteObjects(owners...)
	w.DeleteObjects(workers...)
	for _, object := range workers {
		w.WaitUntilGone(object)
	}
	for _, object := range after {
		w.DeleteObjects(object)
		w.WaitUntilGone(object)
	}
	deleted := w.countSince(mark)
	w.T.Logf("gone after %s: %s", time.Since(begun).Round(time.Second), deleted)
	if deleted.writes != 1 || deleted.reads > reads {
		w.T.Errorf("deleting it takes %d writes and %d reads, want 1 and at most %d", deleted.writes, deleted.reads, reads)
	}
}
