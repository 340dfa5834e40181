package v1beta1

// Finalizers.
const (
	// ClusterFinalizer is on an AzureCluster until its Azure resources are gone.
	ClusterFinalizer = "azurecluster.infrastructure.cluster.x-k8s.io"

	// MachineFinalizer is on an AzureMachine until its Azure resources are gone.
	MachineFinalizer = "azuremachine.infrastructure.cluster.x-k8s.io"

	// CredentialFinalizer is on a Secret as long as something uses it as its credential: through an AzureClusterIdentity, or as documents do.
	CredentialFinalizer = "azureclusteridentity.infrastructure.cluster.x-k8s.io/credential"

	// The finalizer on an AzureClusterIdentity is "<finalizer of the user's kind>/<hex SHA-224 of <namespace>-<name> of the
	// user>", once per object that uses it.
)

// Annotations.
const (
	// BlockMoveAnnotation keeps clusterctl from moving an object while it is being reconciled; it is gone while paused.
	BlockMoveAnnotation = "clusterctl.cluster.x-k8s.io/block-move"

	// InventoryAnnotation is a JSON object of the IDs of Azure resources that cannot say by a tag whose they are: "made" has
	// those that were made for the object, "adopted" those that it keeps in line and does not delete, and "of" is the kind,
	// namespace and name of the object. It survives clusterctl move and backups, which status does not.
	InventoryAnnotation = "sigs.k8s.io/cluster-api-provider-azure-inventory"

	// OwnerIDAnnotation on an AzureCluster or AzureManagedControlPlane is what the tag OwnerTag is made from, beside namespace
	// and name. It is made once, and moves with the object.
	OwnerIDAnnotation = "sigs.k8s.io/cluster-api-provider-azure-owner-id"

	// DeleteAdoptedAnnotation is "true" on an AzureManagedControlPlane or AzureManagedMachinePool with which what it has adopted
	// is deleted. Without it that is let go.
	DeleteAdoptedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-delete-adopted"

	// OwnedASOKindsAnnotation on an AzureASOManaged object lists the kinds of documents that the established provider applied for it, as
	// "Kind.version.group" with semicolons between them. It stays as it was found. By itself it proves nothing, because everybody who may
	// write the object may write it.
	OwnedASOKindsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-owned-aso-kinds"

	// DeleteLeftoversAnnotation is "true" on an AzureCluster with which load balancers and addresses of Services and disks of volumes that are
	// proven to be the cluster's are deleted from a resource group that users brought. Without it they are only listed.
	DeleteLeftoversAnnotation = "sigs.k8s.io/cluster-api-provider-azure-delete-leftovers"

	// AzureMachineAnnotation is "true" on an AzureMachine whose VM exists.
	AzureMachineAnnotation = "cluster-api-provider-azure"

	// LastAppliedAnnotation is a JSON object of what was sent to Azure for an object and goes when it is no longer wanted: the
	// IDs of resources, without the subscription and "/resourceGroups/", to lists of JSON pointers in them. "*" has the tags of
	// all resources; the pointer "" is for a resource that was seen in Azure as the object's own.
	LastAppliedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-last-applied"

	// PlainObjectsAnnotation names the objects of Kubernetes that were made of documents of an object, as Kind.version.group/name
	// joined by semicolons. They go when their document does.
	PlainObjectsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-plain-objects"

	// TakenOverAnnotation is a JSON object on an AzureCluster, AzureMachine or AzureManagedControlPlane: "{}" for one that was
	// made under this provider; else "left" has, by resource, how Azure differed from what was wanted when it was taken over.
	TakenOverAnnotation = "sigs.k8s.io/cluster-api-provider-azure-taken-over"

	// EndpointAnnotation on an AzureManagedControlPlane is the endpoint that was read from AKS, as host:port. Another one in
	// the spec is a user's, and does not count.
	EndpointAnnotation = "sigs.k8s.io/cluster-api-provider-azure-endpoint"

	// IdentityNamespacesAnnotation on a Secret lists, with commas between them, the other namespaces whose AzureClusterIdentities
	// may take their credential from it when tenants are isolated; "*" is all.
	IdentityNamespacesAnnotation = "infrastructure.cluster.x-k8s.io/identity-namespaces"

	// FormerRecordedAnnotation on the manager's Lease means that the credentials that were in use under the established provider were
	// recorded, or that there were none.
	FormerRecordedAnnotation = "infrastructure.cluster.x-k8s.io/former-identities-recorded"

	// WindowsServerVersionAnnotation on an AzureMachine picks the Windows release of the default image: "windows-2022".
	WindowsServerVersionAnnotation = "windowsServerVersion"

	// RuntimeAnnotation on an AzureMachine names the container runtime of the default Windows image: "containerd".
	RuntimeAnnotation = "runtime"
)

// WorkloadIdentityServiceAccount is the name of the ServiceAccount in the namespace of an AzureClusterIdentity of type
// WorkloadIdentity that it proves itself with when tenants are isolated.
const WorkloadIdentityServiceAccount = "capz-workload-identity"
