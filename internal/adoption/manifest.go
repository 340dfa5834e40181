package adoption

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Manifest are the objects of one cluster. It has those of one of the two sets of kinds.
type Manifest struct {
	Cluster *clusterv1.Cluster

	Infrastructure *infrav1.AzureManagedCluster
	ControlPlane   *infrav1.AzureManagedControlPlane
	Pools          []Pool

	Documents *Documents
}

// Pool is an agent pool of an AzureManagedControlPlane.
type Pool struct {
	MachinePool *clusterv1.MachinePool
	AzurePool   *infrav1.AzureManagedMachinePool
}

// Documents are the objects with documents.
type Documents struct {
	Infrastructure *infrav1.AzureASOManagedCluster
	ControlPlane   *infrav1.AzureASOManagedControlPlane
	Pools          []DocumentPool
}

// DocumentPool is an agent pool of documents.
type DocumentPool struct {
	MachinePool *clusterv1.MachinePool
	AzurePool   *infrav1.AzureASOManagedMachinePool
}

// objects are all objects, in the order in which they are best applied: the Cluster last, when what it names is there.
func (m Manifest) objects() []runtime.Object {
	var out []runtime.Object
	if m.ControlPlane != nil {
		out = append(out, m.Infrastructure, m.ControlPlane)
	}
	for _, pool := range m.Pools {
		out = append(out, pool.AzurePool, pool.MachinePool)
	}
	if d := m.Documents; d != nil {
		out = append(out, d.Infrastructure, d.ControlPlane)
		for _, pool := range d.Pools {
			out = append(out, pool.AzurePool, pool.MachinePool)
		}
	}
	return append(out, m.Cluster)
}

// YAML is the manifest as users apply it.
func (m Manifest) YAML() ([]byte, error) {
	var documents [][]byte
	for _, object := range m.objects() {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		delete(content, "status")
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		raw, err := yaml.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		documents = append(documents, raw)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}

// names are how the objects of one cluster are called.
type names struct{ namespace, cluster string }

func (n names) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: n.namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: n.cluster}}
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: infrav1.GroupVersion.String(), Kind: name}
}

func refers(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
}

func (n names) clusterOf(infrastructure, controlPlane, name string) *clusterv1.Cluster {
	out := &clusterv1.Cluster{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"}}
	out.Namespace, out.Name = n.namespace, n.cluster
	out.Spec.InfrastructureRef, out.Spec.ControlPlaneRef = refers(infrastructure, n.cluster), refers(controlPlane, name)
	return out
}

// machinePool is the MachinePool of a pool. managedBy says who scales it while AKS's autoscaler does.
func (n names) machinePool(kind, name string, shown shownPool, managedBy string) *clusterv1.MachinePool {
	out := &clusterv1.MachinePool{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool"}, ObjectMeta: n.meta(name)}
	if shown.EnableAutoScaling {
		out.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: managedBy}
	}
	out.Spec.ClusterName, out.Spec.Replicas = n.cluster, new(shown.Count)
	out.Spec.Template.Spec = clusterv1.MachineSpec{
		ClusterName: n.cluster, Version: shown.version(), InfrastructureRef: refers(kind, name),
		// AKS boots the machines itself.
		Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")},
	}
	return out
}
