package asoresource

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// ListVMSizes returns the VM sizes that a resource asks for: those of an agent pool, or those of a managed cluster and of the pools that
// are created with it. region is that of the cluster's manifest; "" if there is none.
func (in Input) ListVMSizes(id arm.ID) (region string, out []agentpool.RequestedSize) {
	var cluster arm.ID
	var pools []Manifest
	switch {
	case strings.EqualFold(id.Type(), types.ManagedCluster):
		cluster, pools = id, in.listAgentPools(id)
	case strings.EqualFold(id.Type(), types.AgentPool):
		cluster, pools = id.Parent(), in.ManifestsOf(id)
	}
	for _, m := range in.ManifestsOf(cluster) {
		region, _ = m.Spec["location"].(string)
		profiles, _ := m.Spec["agentPoolProfiles"].([]any)
		for i := range profiles {
			if cluster.Equal(id) {
				out = in.appendVMSize(out, m, m.Path.Child("spec", "agentPoolProfiles").Index(i), toObject(profiles[i]))
			}
		}
	}
	for _, m := range pools {
		out = in.appendVMSize(out, m, m.Path.Child("spec"), m.Spec)
	}
	return region, out
}

// appendVMSize appends the VM size of an object in a manifest, if it has one. The field of a manifest of another object begins with that
// object.
func (in Input) appendVMSize(sizes []agentpool.RequestedSize, m Manifest, path *field.Path,
	object map[string]any) []agentpool.RequestedSize {
	size, ok := object["vmSize"].(string)
	if !ok {
		return sizes
	}
	at := path.Child("vmSize").String()
	if m.DeclaredIn != in.ObjectKey {
		at = m.DeclaredIn + " " + at
	}
	return append(sizes, agentpool.RequestedSize{Field: at, Size: size})
}
