package defaults

import (
	"cmp"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Address ranges of an AKS cluster's network. With overlay, pods do not take addresses of the virtual network, so a
// smaller one will do.
const (
	managedVNetCIDR          = "10.0.0.0/8"
	managedSubnetCIDR        = "10.240.0.0/16"
	managedOverlayVNetCIDR   = "10.224.0.0/12"
	managedOverlaySubnetCIDR = "10.224.0.0/16"
)

// FillAzureManagedControlPlane fills in fields that the user left out. Defaults from the name of the Cluster wait for
// the label with that name. The SSH key, which is random, is not filled in.
func FillAzureManagedControlPlane(c *infrav1.AzureManagedControlPlane) {
	spec, cluster := &c.Spec, c.Labels[clusterv1.ClusterNameLabel]
	fillControlPlaneClass(&spec.AzureManagedControlPlaneClassSpec)
	spec.ResourceGroupName = cmp.Or(spec.ResourceGroupName, cluster)
	if spec.NodeResourceGroupName == "" && spec.ResourceGroupName != "" {
		spec.NodeResourceGroupName = NodeResourceGroupName(c)
	}
	network := &spec.VirtualNetwork
	network.Name = cmp.Or(network.Name, c.Name)
	network.ResourceGroup = cmp.Or(network.ResourceGroup, spec.ResourceGroupName)
	network.Subnet.Name = cmp.Or(network.Subnet.Name, c.Name)
	vnet, subnet := managedVNetCIDR, managedSubnetCIDR
	if IsOverlay(spec.NetworkPluginMode) {
		vnet, subnet = managedOverlayVNetCIDR, managedOverlaySubnetCIDR
	}
	network.CIDRBlock = cmp.Or(network.CIDRBlock, vnet)
	network.Subnet.CIDRBlock = cmp.Or(network.Subnet.CIDRBlock, subnet)
	if spec.DNSPrefix == nil {
		spec.DNSPrefix = new(c.Name)
	}
	if spec.FleetsMember != nil {
		spec.FleetsMember.Name = cmp.Or(spec.FleetsMember.Name, cluster)
	}
	for i := range spec.Extensions {
		if plan := spec.Extensions[i].Plan; plan != nil && plan.Product != "" {
			plan.Name = cmp.Or(plan.Name, c.Name+"-"+plan.Product)
		}
	}
}

// FillAzureManagedControlPlaneTemplate fills in the fields that do not depend on the cluster that is made from the template. The name of
// the subnet stays empty, because each cluster names its own: with the template's name, a template that replaces another one would rename
// the subnets of existing clusters, which is refused.
func FillAzureManagedControlPlaneTemplate(t *infrav1.AzureManagedControlPlaneTemplate) {
	spec := &t.Spec.Template.Spec
	fillControlPlaneClass(&spec.AzureManagedControlPlaneClassSpec)
	network := &spec.VirtualNetwork
	network.CIDRBlock = cmp.Or(network.CIDRBlock, managedVNetCIDR)
	network.Subnet.CIDRBlock = cmp.Or(network.Subnet.CIDRBlock, managedSubnetCIDR)
}

// fillControlPlaneClass fills in the fields that clusters and templates have in common. Most defaults are in the CRDs, too; objects that
// were stored without them get them here.
func fillControlPlaneClass(spec *infrav1.AzureManagedControlPlaneClassSpec) {
	if spec.Version != "" && !strings.HasPrefix(spec.Version, "v") {
		spec.Version = "v" + spec.Version
	}
	if spec.NetworkPlugin == nil {
		spec.NetworkPlugin = new(infrav1.AzureNetworkPlugin)
	}
	if spec.LoadBalancerSKU == nil {
		spec.LoadBalancerSKU = new(infrav1.ManagedLoadBalancerSKUStandard)
	}
	if spec.EnablePreviewFeatures == nil {
		spec.EnablePreviewFeatures = new(false)
	}
	if spec.SKU == nil {
		spec.SKU = &infrav1.AKSSku{}
	}
	switch spec.SKU.Tier {
	case "":
		spec.SKU.Tier = infrav1.FreeManagedControlPlaneTier
	case infrav1.PaidManagedControlPlaneTier:
		spec.SKU.Tier = infrav1.StandardManagedControlPlaneTier
	}
	if spec.OIDCIssuerProfile == nil {
		spec.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{}
	}
	if spec.OIDCIssuerProfile.Enabled == nil {
		spec.OIDCIssuerProfile.Enabled = new(false)
	}
	if spec.Identity != nil && spec.Identity.Type == "" {
		spec.Identity.Type = infrav1.ManagedControlPlaneIdentityTypeSystemAssigned
	}
}

// NodeResourceGroupName returns the name that AKS would give the resource group of the nodes. AKS cuts it where it is too
// long, and so do plans.
func NodeResourceGroupName(c *infrav1.AzureManagedControlPlane) string {
	return "MC_" + c.Spec.ResourceGroupName + "_" + c.Name + "_" + c.Spec.Location
}

func IsOverlay(mode *infrav1.NetworkPluginMode) bool {
	return mode != nil && *mode == infrav1.NetworkPluginModeOverlay
}
