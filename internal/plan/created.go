package plan

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lastapplied"
)

// HasAzureResources tells whether something of a cluster is in Azure, or was, so that its region and subscription cannot change any
// more: something was seen there, it has an endpoint, or it was ready, also in the words of the established provider, which
// wrote the tags of the network into the spec. What only a status says is not known after clusterctl move, so it is never
// all there is.
func HasAzureResources(c *infrav1.AzureCluster) bool {
	return len(lastapplied.RecordedResources(c.Annotations)) > 0 || wasReady(c) || HasTaggedNetwork(c)
}

// IsNetworkInUse tells whether the virtual network of a cluster is in use, so that it cannot be another any more: it or a subnet was
// made, or the cluster was ready. One that was named wrongly and never found can still be named rightly.
func IsNetworkInUse(c *infrav1.AzureCluster) bool {
	return wasReady(c) || HasTaggedNetwork(c) ||
		slices.ContainsFunc(lastapplied.RecordedResources(c.Annotations), func(id arm.ID) bool {
			return strings.EqualFold(id.Type(), types.VirtualNetwork) || strings.EqualFold(id.Type(), types.Subnet)
		})
}

// WasProvisioned tells whether a cluster was in place once, by what it says beside its record, also in the words of the established provider.
func WasProvisioned(c *infrav1.AzureCluster) bool { return wasReady(c) || HasTaggedNetwork(c) }

func wasReady(c *infrav1.AzureCluster) bool {
	provisioned := c.Status.Initialization.Provisioned
	return c.Spec.ControlPlaneEndpoint.Host != "" || c.Status.Ready || provisioned != nil && *provisioned
}

// HasTaggedNetwork tells whether the tags in the spec say that the virtual network is the cluster's.
func HasTaggedNetwork(c *infrav1.AzureCluster) bool {
	return c.Spec.NetworkSpec.Vnet.Tags[infrav1.ClusterTagKey(ClusterName(ClusterInput{AzureCluster: c}))] == infrav1.TagOwned ||
		c.Spec.NetworkSpec.Vnet.Tags[infrav1.ClusterTagKey(c.Name)] == infrav1.TagOwned
}

// HasRecordedSubnet tells whether a subnet was made for the cluster.
func HasRecordedSubnet(c *infrav1.AzureCluster, name string) bool {
	return slices.ContainsFunc(lastapplied.RecordedResources(c.Annotations), func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), types.Subnet) && strings.EqualFold(id.Name(), name)
	})
}

// HasAppliedNATGateway tells whether a plan of the cluster had a NAT gateway of this name.
func HasAppliedNATGateway(c *infrav1.AzureCluster, name string) bool {
	return slices.ContainsFunc(lastapplied.AppliedResources(c.Annotations, c.Spec.SubscriptionID), func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), types.NATGateway) && strings.EqualFold(id.Name(), name)
	})
}
