package v1beta1

import "strings"

// Tags are Azure tags: names and values. Azure allows 50 on a resource. The limit of 100 also holds for settings of
// extensions.
// +kubebuilder:validation:MaxProperties=100
type Tags map[string]string

// Tags and tag values on Azure resources. The key of the ownership tag ends in the name of the Cluster:
// "sigs.k8s.io_cluster-api-provider-azure_cluster_<cluster>" = "owned".
const (
	// TagPrefix starts the key of every tag that the provider sets.
	TagPrefix = "sigs.k8s.io_cluster-api-provider-azure_"

	// OwnedTagPrefix starts the key of the ownership tag, which marks the resources of a cluster. The name of the
	// Cluster follows.
	OwnedTagPrefix = TagPrefix + "cluster_"

	// OwnerTag is the key of the owner tag, which distinguishes Clusters of the same name in different namespaces or management
	// clusters.
	OwnerTag = TagPrefix + "owner"

	// VolumeTag is the key of the tag on the disk of a volume that was attached to a machine when that machine was
	// deleted together with its cluster. Its value is that of the owner tag on the cluster's resources.
	VolumeTag = TagPrefix + "volume_of"

	// RoleTag is the key of the tag with the purpose of a resource.
	RoleTag = TagPrefix + "role"

	// NameTag is the key of the tag that repeats the name of the resource.
	NameTag = "Name"

	// CloudProviderTagPrefix starts the key of the tag on VMs, network interfaces and availability sets that
	// cloud-provider-azure uses. The name of the Cluster follows.
	CloudProviderTagPrefix = "kubernetes.io_cluster_"

	// TagOwned is the value of the ownership tag.
	TagOwned = "owned"
)

// Values of RoleTag.
const (
	// RoleCommon is on resources that the whole cluster uses.
	RoleCommon = "common"
	// RoleAPIServer is on the load balancer of the API server.
	RoleAPIServer = "apiserver"
	// RoleAPIServerInternal is on the internal load balancer of an API server that also has a public one.
	RoleAPIServerInternal = "apiserver-internal"
	// RoleNodeOutbound is on the load balancer for outbound connections of nodes.
	RoleNodeOutbound = "nodeOutbound"
	// RoleControlPlaneOutbound is on the load balancer for outbound connections of control-plane machines.
	RoleControlPlaneOutbound = "controlPlaneOutbound"
	// RoleBastion is on the bastion host.
	RoleBastion = "Bastion"
	// RoleControlPlane is on control-plane machines.
	RoleControlPlane = "control-plane"
	// RoleNode is on worker machines.
	RoleNode = "node"
)

// ClusterTagKey returns the key of the ownership tag of a Cluster.
func ClusterTagKey(cluster string) string { return OwnedTagPrefix + cluster }

// Marks returns true if the tag with this key marks the owner of a resource.
func Marks(key string) bool {
	key = strings.ToLower(key)
	return strings.HasPrefix(key, OwnedTagPrefix) || key == OwnerTag
}

// CloudProviderTagKey returns the key of the tag by which cloud-provider-azure recognizes the resources of a cluster.
func CloudProviderTagKey(cluster string) string { return CloudProviderTagPrefix + cluster }
