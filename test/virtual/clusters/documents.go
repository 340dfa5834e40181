package clusters

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// InPlace tells whether all objects of an AKS cluster of documents are Ready as they are stored.
func (w *World) InPlace(c *harness.DocumentCluster) bool {
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

// MakeDocuments makes an AKS cluster of documents.
func (w *World) MakeDocuments(c *harness.DocumentCluster) {
	w.T.Helper()
	w.CreateDocuments(c)
	w.Until("the documents are in place", func() bool { return w.InPlace(c) })
}

// DeleteDocuments deletes an AKS cluster of documents in the order of Cluster API.
func (w *World) DeleteDocuments(c *harness.DocumentCluster) {
	w.T.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: c.ControlPlane.Name}}
	w.Remove(cluster)
	for _, pool := range c.Pools {
		w.Remove(MachinePool(pool.Name), pool)
	}
	for _, pool := range c.Pools {
		w.Gone(pool)
	}
	w.Remove(c.ControlPlane)
	w.Gone(c.ControlPlane)
	w.Remove(c.Infrastructure)
	w.Gone(c.Infrastructure)
}

func MachinePool(name string) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// Remove deletes objects, which may stay until their finalizers are gone.
func (w *World) Remove(objects ...client.Object) {
	w.T.Helper()
	for _, object := range objects {
		object.SetNamespace(w.Namespace)
		if err := w.Kubernetes.Delete(w.T.Context(), object); err != nil {
			w.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
}

// Gone waits until an object is.
func (w *World) Gone(object client.Object) {
	w.T.Helper()
	w.Until(fmt.Sprintf("%T %s is gone", object, object.GetName()), func() bool {
		return apierrors.IsNotFound(w.Kubernetes.Get(w.T.Context(), client.ObjectKeyFromObject(object), object))
	})
}

// Release takes the finalizers off an object, as Cluster API does once what it owns is gone.
func (w *World) Release(object client.Object) {
	w.T.Helper()
	harness.Change(w.Stage, object, func(o client.Object) { o.SetFinalizers(nil) })
}
