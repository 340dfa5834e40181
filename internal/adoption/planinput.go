package adoption

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// ControlPlaneInput returns the input of the plan of the AzureManagedControlPlane and its pools after the objects are applied.
func (m ClusterObjects) ControlPlaneInput(f ObservedCluster) aks.Input {
	in := aks.Input{
		Cluster: m.Cluster, ControlPlane: m.ControlPlane.DeepCopy(), SubscriptionID: f.Cluster.ID.Subscription(),
		Facts: aks.Facts{VNet: f.Network, Subnet: f.Subnet, Cluster: f.Cluster.Body},
	}
	defaults.FillAzureManagedControlPlane(in.ControlPlane)
	for _, pool := range m.Pools {
		defaulted := aks.Pool{MachinePool: pool.MachinePool, AzurePool: pool.AzurePool.DeepCopy()}
		defaults.FillAzureManagedMachinePool(defaulted.AzurePool)
		in.Pools = append(in.Pools, defaulted)
	}
	return in
}

// ASOInputs returns the inputs of the plans of the AzureASOManaged objects after the objects are applied.
func (m ClusterObjects) ASOInputs(f ObservedCluster) []asoresource.Input {
	d := m.ASO
	facts := map[string]json.RawMessage{}
	for _, resource := range append(append([]Resource{f.Cluster}, f.Pools...), f.Related...) {
		facts[resource.ID.Key()] = resource.Body
	}
	in := asoresource.Input{
		Cluster: m.Cluster.Name, Owner: d.Infrastructure, Version: d.ControlPlane.Spec.Version, MachinePools: map[string]*clusterv1.MachinePool{},
		Facts: facts,
	}
	type holder struct {
		name   string
		object metav1.Object
	}
	holders := []holder{{"AzureASOManagedCluster " + d.Infrastructure.Name, d.Infrastructure},
		{"AzureASOManagedControlPlane " + d.ControlPlane.Name, d.ControlPlane}}
	var all []asoresource.Manifest
	for i, resources := range [][]runtime.RawExtension{d.Infrastructure.Spec.Resources, d.ControlPlane.Spec.Resources} {
		documents, _ := asoresource.ReadManifests(holders[i].name, resources) // This package wrote them.
		all = append(all, documents...)
	}
	for _, pool := range d.Pools {
		own := holder{"AzureASOManagedMachinePool " + pool.AzurePool.Name, pool.AzurePool}
		documents, _ := asoresource.ReadManifests(own.name, pool.AzurePool.Spec.Resources)
		all, in.MachinePools[own.name] = append(all, documents...), pool.MachinePool
		holders = append(holders, own)
	}
	in.Set = asoresource.NewSet(f.Cluster.ID.Subscription(), all, false)
	var out []asoresource.Input
	for _, holder := range holders {
		in.ObjectKey, in.Object = holder.name, holder.object
		out = append(out, in)
	}
	return out
}
