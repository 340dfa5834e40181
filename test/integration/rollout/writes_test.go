package rollout_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestKilledAtEveryWrite makes, rolls and deletes a pool, and kills the manager at each write to Azure: once before Azure gets it,
// and once after. The next manager ends the work, makes nothing twice, and leaves nothing behind.
func TestKilledAtEveryWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := three
		s.replicas = 1
		w := newWorld(t, s)
		m := w.StartProvider()
		w.createNetwork()
		m.StopManager()
		before := w.Azure.ListResources()
		writes := w.playLife(0, false)
		t.Logf("an undisturbed life is %d writes", writes)
		for k := 1; k <= writes; k++ {
			for _, unsent := range []bool{true, false} {
				w.playLife(k, unsent)
				w.rules.checkRollout(fmt.Sprintf("killed at write %d", k))
				if diff := cmp.Diff(before, w.Azure.ListResources()); diff != "" {
					t.Fatalf("killed at write %d (-before +after):\n%s", k, diff)
				}
			}
		}
	})
}

// playLife makes, rolls and deletes a pool with a manager that is killed at its kth write to Azure, 0 for never, and returns how many
// writes there were.
func (w *world) playLife(k int, unsent bool) (writes int) {
	w.t.Helper()
	mark := w.Azure.MarkRequests()
	m := w.StartProvider()
	m.DieAtWrite(k, unsent)
	restarted := k == 0
	w.meanwhile = func() {
		select {
		case <-m.Killed:
			m.StopManager()
			m, restarted = w.StartProvider(), true
		default:
		}
	}
	w.createPool()
	w.rules.beginChecks()
	w.rollPool()
	w.waitUntil("the pool is rolled", w.isWhole)
	w.rules.endChecks()
	azurePool := &infrav1.AzureMachinePool{}
	w.ReadObject(azurePool, poolName)
	if err := w.Kubernetes.Delete(w.t.Context(), azurePool); err != nil {
		w.t.Fatal(err)
	}
	w.waitUntil("the pool is gone", func() bool {
		return apierrors.IsNotFound(w.Kubernetes.Get(w.t.Context(), client.ObjectKeyFromObject(azurePool), azurePool))
	})
	w.checkReleased()
	w.meanwhile = nil
	m.StopManager()
	if !restarted {
		w.t.Errorf("write %d was not sent", k)
	}
	w.collectGarbage()
	return len(w.Azure.WritesSince(mark))
}

// checkReleased checks that the pool has released the objects for its VMs: an object with the provider's finalizer would stay for ever.
func (w *world) checkReleased() {
	w.t.Helper()
	vms := &infrav1.AzureMachinePoolMachineList{}
	if err := w.Kubernetes.List(w.t.Context(), vms); err != nil {
		w.t.Fatal(err)
	}
	for _, vm := range vms.Items {
		if controllerutil.ContainsFinalizer(&vm, infrav1.MachinePoolMachineFinalizer) {
			w.t.Errorf("the pool is gone, and AzureMachinePoolMachine %s cannot go", vm.Name)
		}
	}
}

// collectGarbage deletes the objects that the API server's garbage collector and Cluster API would delete.
func (w *world) collectGarbage() {
	w.t.Helper()
	for _, list := range []client.ObjectList{&infrav1.AzureMachinePoolMachineList{}, &clusterv1.MachineList{}, &clusterv1.MachinePoolList{}} {
		if err := w.Kubernetes.List(w.t.Context(), list); err != nil {
			w.t.Fatal(err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			before := object.DeepCopyObject().(client.Object)
			object.SetFinalizers(nil)
			if err := w.Kubernetes.Patch(w.t.Context(), object, client.MergeFrom(before)); err != nil {
				return client.IgnoreNotFound(err)
			}
			return client.IgnoreNotFound(w.Kubernetes.Delete(w.t.Context(), object))
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	secret := &corev1.Secret{}
	w.ReadObject(secret, poolName)
	if err := w.Kubernetes.Delete(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}
