package plan

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// HasAzureResources returns true if resources of the cluster exist in Azure, or existed once, so that region and
// subscription are immutable. Signs of that are recorded resources, an endpoint, a ready status, and the tags that the
// established provider wrote into the spec of the network. The status alone is not enough, because clusterctl move drops
// it.
func HasAzureResources(c *infrav1.AzureCluster) bool {
	return len(applied.RecordedResources(c.Annotations)) > 0 || wasReady(c) || HasTaggedNetwork(c)
}

// IsNetworkInUse returns true if the virtual network is immutable: it or a subnet is recorded, or the cluster was ready. A
// network that was named wrongly and never found can still be renamed.
func IsNetworkInUse(c *infrav1.AzureCluster) bool {
	return wasReady(c) || HasTaggedNetwork(c) ||
		slices.ContainsFunc(applied.RecordedResources(c.Annotations), func(id arm.ID) bool {
			return strings.EqualFold(id.Type(), types.VirtualNetwork) || strings.EqualFold(id.Type(), types.Subnet)
		})
}

// WasProvisioned returns true if the cluster was ready once, by its spec and status alone. It also understands the fields
// of the established provider.
func WasProvisioned(c *infrav1.AzureCluster) bool { return wasReady(c) || HasTaggedNetwork(c) }

func wasReady(c *infrav1.AzureCluster) bool {
	provisioned := c.Status.Initialization.Provisioned
	return c.Spec.ControlPlaneEndpoint.Host != "" || c.Status.Ready || provisioned != nil && *provisioned
}

// HasTaggedNetwork returns true if the tags in the spec mark the virtual network as the cluster's. The established
// provider writes them.
func HasTaggedNetwork(c *infrav1.AzureCluster) bool {
	return c.Spec.NetworkSpec.Vnet.Tags[infrav1.ClusterTagKey(ClusterName(ClusterInput{AzureCluster: c}))] == infrav1.TagOwned ||
		c.Spec.NetworkSpec.Vnet.Tags[infrav1.ClusterTagKey(c.Name)] == infrav1.TagOwned
}

// HasRecordedSubnet returns true if lastApplied records a subnet of this name as the cluster's.
func HasRecordedSubnet(c *infrav1.AzureCluster, name string) bool {
	return slices.ContainsFunc(applied.RecordedResources(c.Annotations), func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), types.Subnet) && strings.EqualFold(id.Name(), name)
	})
}

// HasAppliedNATGateway returns true if an earlier plan of the cluster had a NAT gateway of this name.
func HasAppliedNATGateway(c *infrav1.AzureCluster, name string) bool {
	return slices.ContainsFunc(applied.AppliedResources(c.Annotations, c.Spec.SubscriptionID), func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), types.NATGateway) && strings.EqualFold(id.Name(), name)
	})
}
