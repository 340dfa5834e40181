package harness

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// PlayedPool names the two objects of a pool of an AKS cluster.
type PlayedPool struct{ MachinePool, AzurePool string }

// PlayManagedCluster plays Cluster API's part for a Cluster on AKS of a manifest, once the Cluster and the objects that it refers to
// exist: control plane and infrastructure get its label and owner.
func (s *Stage) PlayManagedCluster(name, controlPlane, infrastructure string) {
	s.T.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.ownObjects(cluster,
		&infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: controlPlane}},
		&infrav1.AzureManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: infrastructure}})
}

// PlayManagedPool does the same with a MachinePool.
func (s *Stage) PlayManagedPool(pool PlayedPool) {
	s.T.Helper()
	machinePool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool.MachinePool}}
	s.ownObjects(machinePool, &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool.AzurePool}})
}

// ownObjects keeps the owner until the harness releases it, and makes it own objects.
func (s *Stage) ownObjects(owner client.Object, objects ...client.Object) {
	s.T.Helper()
	ChangeObject(s, owner, func(o client.Object) { controllerutil.AddFinalizer(o, played) })
	for _, object := range objects {
		s.setOwner(owner, object)
	}
}

// EndManagedPool deletes a pool in the order of Cluster API.
func (s *Stage) EndManagedPool(pool PlayedPool) {
	s.T.Helper()
	s.deleteObject(&clusterv1.MachinePool{}, pool.MachinePool)
	s.deleteObject(&infrav1.AzureManagedMachinePool{}, pool.AzurePool)
	s.WaitGone(&infrav1.AzureManagedMachinePool{}, pool.AzurePool)
	s.removeFinalizer(&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool.MachinePool}})
}

// EndManagedCluster deletes an AKS cluster with its pools in the order of Cluster API: Cluster, pools, control plane,
// infrastructure.
func (s *Stage) EndManagedCluster(name, controlPlane, infrastructure string, pools ...PlayedPool) {
	s.T.Helper()
	s.deleteObject(&clusterv1.Cluster{}, name)
	for _, pool := range pools {
		s.EndManagedPool(pool)
	}
	s.deleteObject(&infrav1.AzureManagedControlPlane{}, controlPlane)
	s.WaitGone(&infrav1.AzureManagedControlPlane{}, controlPlane)
	s.deleteObject(&infrav1.AzureManagedCluster{}, infrastructure)
	s.WaitGone(&infrav1.AzureManagedCluster{}, infrastructure)
	s.removeFinalizer(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
}
