package virtual

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
func (s *Scenario) InPlace(c *harness.ASOCluster) bool {
	s.T.Helper()
	cluster, controlPlane := &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}
	s.ReadObject(cluster, c.Infrastructure.Name)
	s.ReadObject(controlPlane, c.ControlPlane.Name)
	ready := func(object client.Object, status bool, condition metav1.Condition) bool {
		return status && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == object.GetGeneration()
	}
	all := ready(cluster, cluster.Status.Ready, harness.FindCondition(cluster, infrav1.ReadyCondition)) &&
		ready(controlPlane, controlPlane.Status.Ready, harness.FindCondition(controlPlane, infrav1.ReadyCondition))
	for _, each := range c.Pools {
		pool := &infrav1.AzureASOManagedMachinePool{}
		s.ReadObject(pool, each.Name)
		all = all && ready(pool, pool.Status.Ready, harness.FindCondition(pool, infrav1.ReadyCondition))
	}
	return all
}

// CreateASOCluster creates an AKS cluster of resource manifests.
func (s *Scenario) CreateASOCluster(c *harness.ASOCluster) {
	s.T.Helper()
	s.CreateManifests(c)
	s.WaitUntil("the documents are in place", func() bool { return s.InPlace(c) })
}

// DeleteManifests deletes an AKS cluster of documents in the order of Cluster API.
func (s *Scenario) DeleteManifests(c *harness.ASOCluster) {
	s.T.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: c.ControlPlane.Name}}
	s.DeleteObjects(cluster)
	for _, pool := range c.Pools {
		s.DeleteObjects(MachinePool(pool.Name), pool)
	}
	for _, pool := range c.Pools {
		s.WaitUntilGone(pool)
	}
	s.DeleteObjects(c.ControlPlane)
	s.WaitUntilGone(c.ControlPlane)
	s.DeleteObjects(c.Infrastructure)
	s.WaitUntilGone(c.Infrastructure)
}

func MachinePool(name string) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// DeleteObjects deletes objects, which may stay until their finalizers are gone.
func (s *Scenario) DeleteObjects(objects ...client.Object) {
	s.T.Helper()
	for _, object := range objects {
		object.SetNamespace(s.Namespace)
		if err := s.Kubernetes.Delete(s.T.Context(), object); err != nil {
			s.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
}

// WaitUntilGone waits until an object is gone, also if Hurry is set.
func (s *Scenario) WaitUntilGone(object client.Object) {
	s.T.Helper()
	s.waitPatiently(fmt.Sprintf("%T %s is gone", object, object.GetName()), func() bool {
		return apierrors.IsNotFound(s.Kubernetes.Get(s.T.Context(), client.ObjectKeyFromObject(object), object))
	})
}

// RemoveFinalizers removes the finalizers of an object, as Cluster API does once the objects that it owns are gone.
func (s *Scenario) RemoveFinalizers(object client.Object) {
	s.T.Helper()
	harness.ChangeObject(s.Stage, object, func(o client.Object) { o.SetFinalizers(nil) })
}
