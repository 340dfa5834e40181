package aks

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// ClusterName is the name of the Cluster, which tags carry. It falls back to the label and the name of the control plane
// for one that outlived its Cluster.
func ClusterName(in Input) string {
	if in.Cluster != nil && in.Cluster.Name != "" {
		return in.Cluster.Name
	}
	return cmp.Or(in.ControlPlane.Labels[clusterv1.ClusterNameLabel], in.ControlPlane.Name)
}

// ownershipInput is the input that plan's own functions take ownership from.
func ownershipInput(in Input) plan.ClusterInput {
	return plan.ClusterInput{
		Cluster:        &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: ClusterName(in)}},
		AzureCluster:   &infrav1.AzureCluster{ObjectMeta: in.ControlPlane.ObjectMeta},
		SubscriptionID: in.SubscriptionID,
	}
}

// OwnerTag is the tag that marks a resource as the cluster's.
func OwnerTag(in Input) (key, value string) { return plan.OwnerTag(ownershipInput(in)) }

// Location is the region in the form Azure answers.
func Location(in Input) string { return plan.NormalizeRegion(in.ControlPlane.Spec.Location) }

// ResourceGroupName is the name of the resource group of the managed cluster.
func ResourceGroupName(in Input) string {
	return cmp.Or(in.ControlPlane.Spec.ResourceGroupName, ClusterName(in))
}

// ResourceGroupID is the ID of the resource group of the managed cluster.
func ResourceGroupID(in Input) arm.ID {
	return arm.ResourceGroupID(in.SubscriptionID, ResourceGroupName(in))
}

// maxResourceGroupName is how long the name of the node resource group may be:
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/aks-common-issues-faq
const maxResourceGroupName = 80

// NodeResourceGroupName is the name of the resource group that AKS makes for what nodes need: the one Azure shows, or the one
// that the spec asks for. A name made of others is cut as AKS cuts it.
func NodeResourceGroupName(in Input) string {
	return cmp.Or(ObserveCluster(in.Facts.Cluster).Properties.NodeResourceGroup, wantedNodeResourceGroupName(in))
}

func wantedNodeResourceGroupName(in Input) string {
	spec := in.ControlPlane.Spec
	prefix := "MC_" + ResourceGroupName(in) + "_" + in.ControlPlane.Name + "_"
	if name := spec.NodeResourceGroupName; name != "" && name != prefix+spec.Location {
		return name
	}
	defaultName := prefix + Location(in)
	return defaultName[:min(len(defaultName), maxResourceGroupName)]
}

// ClusterID is the ID of the managed cluster. It is called as the control plane, not as the Cluster.
func ClusterID(in Input) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroupName(in), types.ManagedCluster, in.ControlPlane.Name)
}

// PoolName is the name of the agent pool in Azure.
func PoolName(pool Pool) string {
	if name := pool.AzurePool.Spec.Name; name != nil && *name != "" {
		return *name
	}
	return pool.AzurePool.Name
}

// PoolID is the ID of an agent pool.
func PoolID(in Input, pool Pool) arm.ID { return ClusterID(in).Child("agentPools", PoolName(pool)) }

// VNetResourceGroupName is the name of the resource group of the virtual network and its private endpoints.
func VNetResourceGroupName(in Input) string {
	return cmp.Or(in.ControlPlane.Spec.VirtualNetwork.ResourceGroup, ResourceGroupName(in))
}

// VNetID is the ID of the virtual network.
func VNetID(in Input) arm.ID {
	name := cmp.Or(in.ControlPlane.Spec.VirtualNetwork.Name, in.ControlPlane.Name)
	return arm.NewID(in.SubscriptionID, VNetResourceGroupName(in), types.VirtualNetwork, name)
}

// SubnetName is the name of the cluster's subnet.
func SubnetName(in Input) string {
	return cmp.Or(in.ControlPlane.Spec.VirtualNetwork.Subnet.Name, in.ControlPlane.Name)
}

// SubnetID is the ID of the cluster's subnet.
func SubnetID(in Input) arm.ID { return VNetID(in).Child("subnets", SubnetName(in)) }

// PoolSubnetID is the ID of the subnet of a pool's nodes, the cluster's unless the pool names another one.
func PoolSubnetID(in Input, pool Pool) arm.ID {
	if name := pool.AzurePool.Spec.SubnetName; name != nil && *name != "" {
		return VNetID(in).Child("subnets", *name)
	}
	return SubnetID(in)
}

// PrivateEndpointID is the ID of a private endpoint. It is in the group of the network.
func PrivateEndpointID(in Input, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, VNetResourceGroupName(in), types.PrivateEndpoint, name)
}

// FleetMemberID is the ID of the cluster's membership in a fleet.
func FleetMemberID(in Input, member infrav1.FleetsMember) arm.ID {
	fleet := arm.NewID(in.SubscriptionID, member.ManagerResourceGroup, "Microsoft.ContainerService/fleets", member.ManagerName)
	return fleet.Child("members", cmp.Or(member.Name, ClusterName(in)))
}

// ExtensionID is the ID of an extension of the managed cluster.
func ExtensionID(in Input, name string) arm.ID {
	return ClusterID(in).Extension(types.ClusterExtension, name)
}

// APIVersion is the api-version to speak about the managed cluster and its pools.
func APIVersion(in Input) string { return APIVersionFor(in.ControlPlane) }

// APIVersionFor is the api-version to speak about the managed cluster of a control plane and its pools.
func APIVersionFor(controlPlane *infrav1.AzureManagedControlPlane) string {
	spec := controlPlane.Spec
	return aso.APIVersionOf(spec.ASOManagedClusterPatches, spec.EnablePreviewFeatures != nil && *spec.EnablePreviewFeatures)
}

// listActivePools are the pools by name, without those that are being deleted.
func listActivePools(pools []Pool) []Pool {
	out := slices.DeleteFunc(slices.Clone(pools), func(pool Pool) bool { return !pool.AzurePool.DeletionTimestamp.IsZero() })
	slices.SortFunc(out, func(a, b Pool) int { return strings.Compare(PoolName(a), PoolName(b)) })
	return out
}
