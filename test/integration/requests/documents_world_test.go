package requests_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// inPlace tells whether all objects of an AKS cluster of documents are Ready as they are stored.
func (w *world) inPlace(c *harness.DocumentCluster) bool {
	w.T.Helper()
	cluster, controlPlane := &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}
	w.Get(cluster, c.Infrastructure.Name)
	w.Get(controlPlane, c.ControlPlane.Name)
	ready := func(object client.Object, status bool, condition metav1.Condition) bool {
		return status && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == object.GetGeneration()
	}
	all := ready(cluster, cluster.Status.Ready, harness.Condition(cluster, infrav1.ReadyCondition)) &&
		ready(controlPlane, controlPlane.Status.Ready, harness.Condition(controlPlane, infrav1.ReadyCondition))
	for _, each := range c.Pools {
		pool := &infrav1.AzureASOManagedMachinePool{}
		w.Get(pool, each.Name)
		all = all && ready(pool, pool.Status.Ready, harness.Condition(pool, infrav1.ReadyCondition))
	}
	return all
}

// makeDocuments makes an AKS cluster of documents.
func (w *world) makeDocuments(c *harness.DocumentCluster) {
	w.T.Helper()
	w.CreateDocuments(c)
	w.until("the documents are in place", func() bool { return w.inPlace(c) })
}

// deleteDocuments deletes an AKS cluster of documents in the order of Cluster API.
func (w *world) deleteDocuments(c *harness.DocumentCluster) {
	w.T.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: c.ControlPlane.Name}}
	w.remove(cluster)
	for _, pool := range c.Pools {
		w.remove(machinePool(pool.Name), pool)
	}
	for _, pool := range c.Pools {
		w.gone(pool)
	}
	w.remove(c.ControlPlane)
	w.gone(c.ControlPlane)
	w.remove(c.Infrastructure)
	w.gone(c.Infrastructure)
}

func machinePool(name string) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// remove deletes objects, which may stay until their finalizers are gone.
func (w *world) remove(objects ...client.Object) {
	w.T.Helper()
	for _, object := range objects {
		object.SetNamespace(w.Namespace)
		if err := w.Kubernetes.Delete(w.T.Context(), object); err != nil {
			w.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
}

// gone waits until an object is.
func (w *world) gone(object client.Object) {
	w.T.Helper()
	w.until(fmt.Sprintf("%T %s is gone", object, object.GetName()), func() bool {
		return apierrors.IsNotFound(w.Kubernetes.Get(w.T.Context(), client.ObjectKeyFromObject(object), object))
	})
}

// wrote holds what was written to Azure since a mark against what is to be, sorted.
func (w *world) wrote(what string, mark harness.Mark, want ...string) {
	w.T.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, harness.Changes(w.Azure.Writes(mark))); diff != "" {
		w.T.Errorf("%s: writes (-want +got):\n%s", what, diff)
	}
}

// left holds what there is in Azure against what is to be left.
func (w *world) left(want ...string) {
	w.T.Helper()
	if diff := cmp.Diff(want, w.Azure.Resources()); diff != "" {
		w.T.Errorf("resources left (-want +got):\n%s", diff)
	}
}

// with gives the spec of a document more properties, in JSON.
func with(t testing.TB, document runtime.RawExtension, more string) runtime.RawExtension {
	t.Helper()
	var decoded, added map[string]any
	for raw, into := range map[string]*map[string]any{string(document.Raw): &decoded, more: &added} {
		if err := json.Unmarshal([]byte(raw), into); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range added {
		decoded["spec"].(map[string]any)[key] = value
	}
	raw, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}
