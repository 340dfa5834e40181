package asoresource

import (
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ListSystemPools returns the manifests of agent pools with mode System.
func ListSystemPools(resources []runtime.RawExtension) (out []Manifest) {
	manifests, _ := ReadManifests("", resources)
	for _, m := range manifests {
		if resourceType, _ := m.ResourceType(); resourceType == types.AgentPool && m.Spec["mode"] == "System" {
			out = append(out, m)
		}
	}
	return out
}

// FirstAgentPool returns the first manifest of an agent pool.
func FirstAgentPool(resources []runtime.RawExtension) (Manifest, bool) {
	manifests, _ := ReadManifests("", resources)
	return NewSet("", manifests, false).FirstOfType("", types.AgentPool)
}

// HostsSystemPods reports whether AKS runs the pods of Kubernetes itself on nodes of its own for a managed cluster of the manifests, which
// needs no System pool then.
// Its source is ManagedClusterHostedSystemProfile of armcontainerservice.
func HostsSystemPods(resources []runtime.RawExtension) bool {
	manifests, _ := ReadManifests("", resources)
	first, ok := NewSet("", manifests, false).FirstOfType("", types.ManagedCluster)
	return ok && jsonpath.Get(first.Spec, "hostedSystemProfile.enabled") == true
}

// StaysInAzure reports whether the resource stays when its manifest or object is deleted.
func (m Manifest) StaysInAzure() bool {
	policy := m.Annotations[PolicyAnnotation]
	return policy == PolicySkip || policy == PolicyDetach
}
