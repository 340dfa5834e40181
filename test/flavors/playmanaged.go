package flavors

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// ManagedCluster is an AKS cluster that a manifest has. Its objects need not have its name.
type ManagedCluster struct {
	Name, ControlPlane, Infrastructure string
	Pools                              []ManagedPool
}

// ManagedPool is one of its pools.
type ManagedPool struct {
	harness.PlayedPool
	Replicas int
	// objects are the two that the manifest has.
	objects []*unstructured.Unstructured
}

// UpManaged applies the objects of an AKS cluster, and again before they are reconciled, and waits until control plane and pools are Ready.
func UpManaged(stage *harness.Stage, objects []*unstructured.Unstructured) *ManagedCluster {
	stage.T.Helper()
	SetNamespace(stage, objects)
	cluster := &ManagedCluster{}
	for _, object := range objects {
		mustApply(stage, object)
		switch object.GetKind() {
		case "Cluster":
			cluster.Name = object.GetName()
			cluster.ControlPlane, cluster.Infrastructure = FieldString(object, "spec.controlPlaneRef.name"),
				FieldString(object, "spec.infrastructureRef.name")
		case "MachinePool":
			cluster.Pools = append(cluster.Pools, poolOf(objects, object))
		}
	}
	stage.PlayManagedCluster(cluster.Name, cluster.ControlPlane, cluster.Infrastructure)
	for _, pool := range cluster.Pools {
		stage.PlayManagedPool(pool.PlayedPool)
	}
	applyEarly(stage, objects)
	cluster.WaitReady(stage)
	return cluster
}

// WaitReady waits until the control plane and all machines of all pools are Ready.
func (c *ManagedCluster) WaitReady(stage *harness.Stage) {
	stage.T.Helper()
	stage.WaitControlPlaneReady(c.ControlPlane)
	for _, pool := range c.Pools {
		stage.WaitPoolReady(pool.AzurePool, pool.Replicas)
	}
}

// ReplacePool adds a pool beside one of the cluster's, as it is but for its name and version, and then deletes the old one.
func (c *ManagedCluster) ReplacePool(stage *harness.Stage, i int, name, version string) {
	stage.T.Helper()
	old := c.Pools[i]
	var objects []*unstructured.Unstructured
	for _, object := range old.objects {
		object = object.DeepCopy()
		object.SetName(c.Name + "-" + name)
		if object.GetKind() == "MachinePool" {
			setField(object, c.Name+"-"+name, "spec", "template", "spec", "infrastructureRef", "name")
			setField(object, version, "spec", "template", "spec", "version")
		} else {
			setField(object, name, "spec", "name")
		}
		mustApply(stage, object)
		objects = append(objects, object)
	}
	c.Pools[i] = poolOf(objects, objects[slices.IndexFunc(objects, isKind("MachinePool"))])
	stage.PlayManagedPool(c.Pools[i].PlayedPool)
	stage.WaitPoolReady(c.Pools[i].AzurePool, c.Pools[i].Replicas)
	stage.EndManagedPool(old.PlayedPool)
}

// TearDown deletes the cluster in Cluster API's order and fails the test when Azure is not as it was before the cluster.
func (c *ManagedCluster) TearDown(stage *harness.Stage, before map[string]any) {
	stage.T.Helper()
	var pools []harness.PlayedPool
	for _, pool := range c.Pools {
		pools = append(pools, pool.PlayedPool)
	}
	stage.EndManagedCluster(c.Name, c.ControlPlane, c.Infrastructure, pools...)
	expectAsBefore(stage, before)
}

// poolOf reads the pool of a MachinePool from the objects of its manifest.
func poolOf(objects []*unstructured.Unstructured, machinePool *unstructured.Unstructured) ManagedPool {
	pool := ManagedPool{
		PlayedPool: harness.PlayedPool{MachinePool: machinePool.GetName(),
			AzurePool: FieldString(machinePool, "spec.template.spec.infrastructureRef.name")},
		Replicas: int(replicasOf(machinePool)), objects: []*unstructured.Unstructured{machinePool},
	}
	for _, object := range objects {
		if object.GetKind() == "AzureManagedMachinePool" && object.GetName() == pool.AzurePool {
			pool.objects = append(pool.objects, object)
		}
	}
	return pool
}
