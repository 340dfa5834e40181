package adoption

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/manifest"
)

// ClusterObjects are the objects of one cluster, of AzureManaged kinds or of AzureASOManaged kinds.
type ClusterObjects struct {
	Cluster *clusterv1.Cluster

	Infrastructure *infrav1.AzureManagedCluster
	ControlPlane   *infrav1.AzureManagedControlPlane
	Pools          []Pool

	ASO *ASOObjects
}

// Pool is an agent pool of an AzureManagedControlPlane.
type Pool struct {
	MachinePool *clusterv1.MachinePool
	AzurePool   *infrav1.AzureManagedMachinePool
}

// ASOObjects are the objects with resource manifests.
type ASOObjects struct {
	Infrastructure *infrav1.AzureASOManagedCluster
	ControlPlane   *infrav1.AzureASOManagedControlPlane
	Pools          []ASOPool
}

// ASOPool is an agent pool of resource manifests.
type ASOPool struct {
	MachinePool *clusterv1.MachinePool
	AzurePool   *infrav1.AzureASOManagedMachinePool
}

// listObjects returns all objects in the order to apply them: the Cluster last, when the objects that it refers to exist.
func (m ClusterObjects) listObjects() []runtime.Object {
	var out []runtime.Object
	if m.ControlPlane != nil {
		out = append(out, m.Infrastructure, m.ControlPlane)
	}
	for _, pool := range m.Pools {
		out = append(out, pool.AzurePool, pool.MachinePool)
	}
	if d := m.ASO; d != nil {
		out = append(out, d.Infrastructure, d.ControlPlane)
		for _, pool := range d.Pools {
			out = append(out, pool.AzurePool, pool.MachinePool)
		}
	}
	return append(out, m.Cluster)
}

// YAML returns the objects as users apply them.
func (m ClusterObjects) YAML() ([]byte, error) { return manifest.EncodeYAML(m.listObjects()) }

// objectNames are the namespace and the Cluster's name of the objects.
type objectNames struct{ namespace, cluster string }

func (n objectNames) newMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: n.namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: n.cluster}}
}

func newTypeMeta(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: infrav1.GroupVersion.String(), Kind: name}
}

func newReference(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
}

func (n objectNames) newCluster(infrastructure, controlPlane, name string) *clusterv1.Cluster {
	out := &clusterv1.Cluster{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"}}
	out.Namespace, out.Name = n.namespace, n.cluster
	out.Spec.InfrastructureRef, out.Spec.ControlPlaneRef = newReference(infrastructure, n.cluster), newReference(controlPlane, name)
	return out
}

// newMachinePool returns the MachinePool of a pool. managedBy is the value of the annotation replicas-managed-by while AKS's
// autoscaler is enabled.
func (n objectNames) newMachinePool(kind, name string, shown poolProperties, managedBy string) *clusterv1.MachinePool {
	out := &clusterv1.MachinePool{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool"},
		ObjectMeta: n.newMeta(name)}
	if shown.EnableAutoScaling {
		out.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: managedBy}
	}
	out.Spec.ClusterName, out.Spec.Replicas = n.cluster, new(shown.Count)
	out.Spec.Template.Spec = clusterv1.MachineSpec{
		ClusterName: n.cluster, Version: shown.machinePoolVersion(), InfrastructureRef: newReference(kind, name),
		// AKS boots the machines itself.
		Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")},
	}
	return out
}
