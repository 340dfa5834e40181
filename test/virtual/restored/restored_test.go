package restored_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// world has a self-managed cluster c1 with machines and a pool, an AKS cluster aks1, and an AKS cluster c2 of resource manifests.
type world struct {
	*virtual.Scenario
	documents *harness.ASOCluster
	manager   *virtual.Manager
}

// newWorld returns a world in which all objects are Ready.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Scenario: virtual.New(t)}
	w.documents = w.BuildASOCluster("c2", "pool0")
	w.playClusterAPI(w.Scenario)
	w.manager = w.StartProvider()
	w.ApplyNetwork("c1", nil)
	w.ApplyMachine("c1", "m1", harness.ControlPlane)
	w.ApplyMachine("c1", "m2", harness.Worker)
	w.ApplyPool("c1", "pool", 2)
	w.ApplyAKSCluster("aks1", 1)
	w.CreateManifests(w.documents)
	waitReady(w.Scenario)
	return w
}

// playClusterAPI has Cluster API act in a management cluster while something is waited for.
func (w *world) playClusterAPI(s *virtual.Scenario) {
	player := &harness.PoolPlayer{Client: s.Kubernetes, Namespace: s.Namespace}
	s.Meanwhile = func() {
		player.PlayOnce(s.T.Context())
		owner, azureCluster := &clusterv1.Cluster{}, &infrav1.AzureCluster{}
		key := client.ObjectKey{Namespace: s.Namespace, Name: "c1"}
		if s.Kubernetes.Get(s.T.Context(), key, owner) != nil || s.Kubernetes.Get(s.T.Context(), key, azureCluster) != nil {
			return
		}
		if azureCluster.Status.Initialization.Provisioned != nil && owner.Status.Initialization.InfrastructureProvisioned == nil {
			s.CopyInfrastructure(owner.Name)
		}
	}
}

// azureKinds are the kinds with resources in Azure.
var azureKinds = []string{"AzureCluster", "AzureMachine", "AzureMachinePool", "AzureManagedControlPlane", "AzureManagedMachinePool",
	"AzureASOManagedCluster", "AzureASOManagedControlPlane", "AzureASOManagedMachinePool"}

// waitReady waits until each object with resources in Azure is Ready, and then some minutes more.
func waitReady(s *virtual.Scenario) {
	s.T.Helper()
	s.WaitUntil("all objects are Ready", func() bool { return listUnready(s) == "" }, func() string { return listUnready(s) })
	s.AdvanceClock(10 * time.Minute)
}

// listUnready describes the objects with resources in Azure that are not Ready.
func listUnready(s *virtual.Scenario) (out string) {
	for _, object := range s.TakeSnapshot() {
		kind := kindOf(s, object)
		if !slices.Contains(azureKinds, kind) {
			continue
		}
		ready := harness.FindCondition(object.(harness.Conditioned), infrav1.ReadyCondition)
		if ready.Status != metav1.ConditionTrue || ready.Reason == infrav1.LastSeenReason {
			out += fmt.Sprintf("%s %s: %+v\n", kind, object.GetName(), ready)
		}
	}
	return out
}

// kindOf returns the kind of an object.
func kindOf(s *virtual.Scenario, object client.Object) string {
	return mustKind(s, object).Kind
}

// mustKind returns the kind of an object with group and version.
func mustKind(s *virtual.Scenario, object client.Object) schema.GroupVersionKind {
	kind, err := apiutil.GVKForObject(object, s.Kubernetes.Scheme())
	if err != nil {
		s.T.Fatal(err)
	}
	return kind
}

// TestBackupOfEtcd restores a backup of etcd of some hours before. Meanwhile a machine was deleted and another one created, of which the
// restored objects do not know. Nothing is written to Azure: the deleted VM is not created again, and the new one is left alone.
func TestBackupOfEtcd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held := w.TakeSnapshot()
		w.DeleteMachine("m2")
		w.ApplyMachine("c1", "m3", harness.Worker)
		w.WaitMachineProvisioned("m3")
		w.AdvanceClock(3 * time.Hour)
		w.manager.StopManager()
		before, mark := w.Azure.ListResources(), w.Azure.MarkRequests()
		w.RestoreSnapshot(held)
		w.playClusterAPI(w.Scenario)
		w.StartProvider()
		gone := &infrav1.AzureMachine{}
		w.WaitUntil("the machine without a VM reports that", func() bool {
			w.ReadObject(gone, "m2")
			return harness.FindCondition(gone, infrav1.ReadyCondition).Reason == infrav1.VMDeletedReason
		})
		w.AdvanceClock(2 * time.Hour)
		requireUnchanged(w, before, mark)
	})
}

// TestBackupInFiles restores objects without their status and with other UIDs, as clusterctl move does from a directory and Velero from its
// storage, into another management cluster. Nothing is written to Azure, and all objects become Ready.
func TestBackupInFiles(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		// renewed is set if owner references get the UIDs of the new owners.
		renewed bool
	}{
		"clusterctl move": {"clusterctl sets the owner references", true},
		"Velero":          {"Velero leaves the owner references as they were", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				held := w.TakeSnapshot()
				w.AdvanceClock(3 * time.Hour)
				w.manager.StopManager()
				before, mark := w.Azure.ListResources(), w.Azure.MarkRequests()
				other := w.NewManagementCluster()
				w.playClusterAPI(other)
				restoreFiles(other, held, test.renewed)
				other.StartProvider()
				waitReady(other)
				other.AdvanceClock(2 * time.Hour)
				requireUnchanged(w, before, mark)
			})
		})
	}
}

// restoreFiles creates the objects without what an API server sets.
func restoreFiles(s *virtual.Scenario, held virtual.Snapshot, renewed bool) {
	s.T.Helper()
	uids := map[types.UID]types.UID{}
	var restored []client.Object
	for _, object := range held {
		kind := kindOf(s, object)
		if kind == "Namespace" {
			continue
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			s.T.Fatal(err)
		}
		delete(content, "status")
		unstructured.RemoveNestedField(content, "metadata", "uid")
		unstructured.RemoveNestedField(content, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(content, "metadata", "generation")
		fresh, err := s.Kubernetes.Scheme().New(mustKind(s, object))
		if err != nil {
			s.T.Fatal(err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, fresh); err != nil {
			s.T.Fatal(err)
		}
		out := fresh.(client.Object)
		if err := s.Kubernetes.Create(s.T.Context(), out); err != nil {
			s.T.Fatalf("%s %s: %v", kind, object.GetName(), err)
		}
		uids[object.GetUID()] = out.GetUID()
		restored = append(restored, out)
	}
	if !renewed {
		return
	}
	for _, object := range restored {
		before := object.DeepCopyObject().(client.Object)
		owners := object.GetOwnerReferences()
		for i := range owners {
			owners[i].UID = uids[owners[i].UID]
		}
		object.SetOwnerReferences(owners)
		if err := s.Kubernetes.Patch(s.T.Context(), object, client.MergeFrom(before)); err != nil {
			s.T.Fatal(err)
		}
	}
}

// requireUnchanged fails if Azure has other resources than before, or was written to since the mark.
func requireUnchanged(w *world, before []string, mark harness.Mark) {
	w.T.Helper()
	var writes []string
	for _, write := range w.Azure.WritesSince(mark) {
		if !strings.Contains(write, "/list") {
			writes = append(writes, write)
		}
	}
	if len(writes) > 0 {
		w.T.Errorf("written to Azure after the restore: %v", writes)
	}
	if diff := cmp.Diff(before, w.Azure.ListResources()); diff != "" {
		w.T.Errorf("resources (-before +after the restore):\n%s", diff)
	}
}
