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

// InPlace reports whether all objects of an AKS cluster of documents are Ready as they are stored.
func (w *World) InPlace(c *harness.DocumentCluster) bool {
	w.T.Helper()
	cluster, controlPlane := &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}
	w.ReadObject(cluster, c.Infrastructure.Name)
	w.ReadObject(controlPlane, c.ControlPlane.Name)
	ready := func(object client.Object, status bool, condition metav1.Condition) bool {
		return status && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == object.GetGeneration()
	}
	all := ready(cluster, cluster.Status.Ready, harness.FindCondition(cluster, infrav1.ReadyCondition)) &&
		ready(controlPlane, controlPlane.Status.Ready, harness.FindCondition(controlPlane, infrav1.ReadyCondition))
	for _, each := range c.Pools {
		pool := &infrav1.AzureASOManagedMachinePool{}
		w.ReadObject(pool, each.Name)
		all = all && ready(pool, pool.Status.Ready, harness.FindCondition(pool, infrav1.ReadyCondition))
	}
	return all
}

// MakeDocuments makes an AKS cluster of documents.
func (w *World) MakeDocuments(c *harness.DocumentCluster) {
	w.T.Helper()
	w.CreateDocuments(c)
	w.WaitUntil("the documents are in place", func() bool { return w.InPlace(c) })
}

// DeleteDocuments deletes an AKS cluster of documents in the order of Cluster API.
func (w *World) DeleteDocuments(c *harness.DocumentCluster) {
	w.T.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: c.ControlPlane.Name}}
	w.DeleteObjects(cluster)
	for _, pool := range c.Pools {
		w.DeleteObjects(MachinePool(pool.Name), pool)
	}
	for _, pool := range c.Pools {
		w.WaitUntilGone(pool)
	}
	w.DeleteObjects(c.ControlPlane)
	w.WaitUntilGone(c.ControlPlane)
	w.DeleteObjects(c.Infrastructure)
	w.WaitUntilGone(c.Infrastructure)
}

func MachinePool(name string) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// DeleteObjects deletes objects, which may stay until their finalizers are gone.
func (w *World) DeleteObjects(objects ...client.Object) {
	w.T.Helper()
	for _, object := range objects {
		object.SetNamespace(w.Namespace)
		if err := w.Kubernetes.Delete(w.T.Context(), object); err != nil {
			w.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
}

// WaitUntilGone waits until an object is.
func (w *World) WaitUntilGone(object client.Object) {
	w.T.Helper()
	w.WaitUntil(fmt.Sprintf("%T %s is gone", object, object.GetName()), func() bool {
		return apierrors.IsNotFound(w.Kubernetes.Get(w.T.Context(), client.ObjectKeyFromObject(object), object))
	})
}

// RemoveFinalizers takes the finalizers off an object, as Cluster API does once what it owns is gone.
func (w *World) RemoveFinalizers(object client.Object) {
	w.T.Helper()
	harness.ChangeObject(w.Stage, object, func(o client.Object) { o.SetFinalizers(nil) })
}
