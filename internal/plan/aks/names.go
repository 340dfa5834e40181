package aks

import (
	"cmp"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// ClusterName returns the name of the Cluster, which is part of the tags. If the Cluster is already deleted, it is the label of the
// control plane, else the name of the control plane.
func ClusterName(in Input) string { return plan.ClusterName(ownershipInput(in)) }

// ownershipInput returns the input for the functions of internal/plan about ownership.
func ownershipInput(in Input) plan.ClusterInput {
	return plan.ClusterInput{
		Cluster:        in.Cluster,
		AzureCluster:   &infrav1.AzureCluster{ObjectMeta: in.ControlPlane.ObjectMeta},
		SubscriptionID: in.SubscriptionID,
	}
}

// OwnerTag returns the tag that marks resources of the cluster.
func OwnerTag(in Input) (key, value string) { return plan.OwnerTag(ownershipInput(in)) }

// Location returns the region in the format of Azure's answers.
func Location(in Input) string { return plan.NormalizeRegion(in.ControlPlane.Spec.Location) }

// ResourceGroupName returns the name of the resource group of the managed cluster.
func ResourceGroupName(in Input) string {
	return cmp.Or(in.ControlPlane.Spec.ResourceGroupName, ClusterName(in))
}

// ResourceGroupID returns the ID of the resource group of the managed cluster.
func ResourceGroupID(in Input) arm.ID {
	return arm.ResourceGroupID(in.SubscriptionID, ResourceGroupName(in))
}

// NodeResourceGroupName returns the name of the resource group that AKS creates for the nodes: the name in Azure, else the name of
// the spec. A default name is truncated as AKS does.
func NodeResourceGroupName(in Input) string {
	return cmp.Or(managedcluster.Observe(in.Facts.Cluster).Properties.NodeResourceGroup, wantedNodeResourceGroupName(in))
}

func wantedNodeResourceGroupName(in Input) string {
	spec := in.ControlPlane.Spec
	prefix := "MC_" + ResourceGroupName(in) + "_" + in.ControlPlane.Name + "_"
	if name := spec.NodeResourceGroupName; name != "" && name != prefix+spec.Location {
		return name
	}
	// Names of resource groups may have letters of any script, so characters count.
	defaultName := []rune(prefix + Location(in))
	return string(defaultName[:min(len(defaultName), plan.MaxNodeResourceGroupName)])
}

// ClusterID returns the ID of the managed cluster. Its name is that of the control plane, not that of the Cluster.
func ClusterID(in Input) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroupName(in), types.ManagedCluster, in.ControlPlane.Name)
}

// PoolName returns the name of the agent pool in Azure.
func PoolName(pool Pool) string {
	if name := pool.AzurePool.Spec.Name; name != nil && *name != "" {
		return *name
	}
	return pool.AzurePool.Name
}

// PoolID returns the ID of an agent pool.
func PoolID(in Input, pool Pool) arm.ID { return ClusterID(in).Child("agentPools", PoolName(pool)) }

// VNetResourceGroupName returns the name of the resource group of the virtual network and its private endpoints.
func VNetResourceGroupName(in Input) string {
	return cmp.Or(in.ControlPlane.Spec.VirtualNetwork.ResourceGroup, ResourceGroupName(in))
}

// VNetID returns the ID of the virtual network.
func VNetID(in Input) arm.ID {
	name := cmp.Or(in.ControlPlane.Spec.VirtualNetwork.Name, in.ControlPlane.Name)
	return arm.NewID(in.SubscriptionID, VNetResourceGroupName(in), types.VirtualNetwork, name)
}

// SubnetName returns the name of the subnet of the cluster.
func SubnetName(in Input) string {
	return cmp.Or(in.ControlPlane.Spec.VirtualNetwork.Subnet.Name, in.ControlPlane.Name)
}

// SubnetID returns the ID of the subnet of the cluster.
func SubnetID(in Input) arm.ID { return VNetID(in).Child("subnets", SubnetName(in)) }

// PoolSubnetID returns the ID of the subnet of a pool: the subnet that the pool names, else that of the cluster.
func PoolSubnetID(in Input, pool Pool) arm.ID {
	if name := pool.AzurePool.Spec.SubnetName; name != nil && *name != "" {
		return VNetID(in).Child("subnets", *name)
	}
	return SubnetID(in)
}

// PrivateEndpointID returns the ID of a private endpoint. It is in the resource group of the network.
func PrivateEndpointID(in Input, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, VNetResourceGroupName(in), types.PrivateEndpoint, name)
}

// FleetMemberID returns the ID of the membership of the cluster in a fleet.
func FleetMemberID(in Input, member infrav1.FleetsMember) arm.ID {
	fleet := arm.NewID(in.SubscriptionID, member.ManagerResourceGroup, "Microsoft.ContainerService/fleets", member.ManagerName)
	return fleet.Child("members", cmp.Or(member.Name, ClusterName(in)))
}

// ExtensionID returns the ID of an extension of the managed cluster.
func ExtensionID(in Input, name string) arm.ID {
	return ClusterID(in).Extension(types.ClusterExtension, name)
}

// APIVersion returns the api-version of requests for the managed cluster and its pools.
func APIVersion(in Input) string { return APIVersionFor(in.ControlPlane) }

// APIVersionFor returns the api-version of requests for the managed cluster of a control plane and its pools.
func APIVersionFor(controlPlane *infrav1.AzureManagedControlPlane) string {
	spec := controlPlane.Spec
	return aso.APIVersionOf(spec.ASOManagedClusterPatches, spec.EnablePreviewFeatures != nil && *spec.EnablePreviewFeatures)
}

// listActivePools returns the pools that are not being deleted, sorted by name.
func listActivePools(pools []Pool) []Pool {
	out := slices.DeleteFunc(slices.Clone(pools), func(pool Pool) bool { return !pool.AzurePool.DeletionTimestamp.IsZero() })
	slices.SortFunc(out, func(a, b Pool) int { return strings.Compare(PoolName(a), PoolName(b)) })
	return out
}
