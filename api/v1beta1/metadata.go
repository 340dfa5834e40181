package v1beta1

// Finalizers.
const (
	// ClusterFinalizer is on an AzureCluster until its Azure resources are gone.
	ClusterFinalizer = "azurecluster.infrastructure.cluster.x-k8s.io"

	// MachineFinalizer is on an AzureMachine until its Azure resources are gone.
	MachineFinalizer = "azuremachine.infrastructure.cluster.x-k8s.io"

	// CredentialFinalizer is on a Secret while an AzureClusterIdentity or a resource manifest uses it as its
	// credential.
	CredentialFinalizer = "azureclusteridentity.infrastructure.cluster.x-k8s.io/credential"

	// The finalizer on an AzureClusterIdentity is "<finalizer of the user's kind>/<hex SHA-224 of <namespace>-<name> of the
	// user>", once per object that uses it.
)

// Annotations.
const (
	// BlockMoveAnnotation keeps clusterctl from moving an object while it is being reconciled. A paused object does not
	// have it.
	BlockMoveAnnotation = "clusterctl.cluster.x-k8s.io/block-move"

	// AppliedAnnotation is a JSON object with the facts about an object's resources in Azure that neither the spec nor
	// Azure shows. Unlike the status it survives clusterctl move and backups. Its members are:
	//
	//   - applied: the resources and paths that the provider sent to Azure for the object and has to remove when the plan
	//     no longer has them. Its keys are resource IDs without the subscription and "/resourceGroups/", and its values are
	//     lists of JSON pointers. The key "*" has the tags of all resources. The pointer "" means that the resource was
	//     seen in Azure as the object's own.
	//   - inventory: the IDs of resources that cannot carry ownership tags. "created" has the resources that were created
	//     for the object, "adopted" those that the provider keeps in line and does not delete, and "object" has the kind,
	//     namespace and name of the object.
	//   - ownerID, on an AzureCluster, AzureManagedControlPlane or AzureASOManagedCluster: one of the values, besides
	//     namespace and name, from which the tag OwnerTag is computed. It is set once and moves with the object.
	//   - migration: "{}" if the object was created under this provider. Otherwise "kept" lists, by resource, the
	//     differences between Azure and the plan at the time of the migration.
	AppliedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-applied"

	// DeleteAdoptedAnnotation with the value "true" deletes adopted resources with their object. Without it, adopted
	// resources stay in Azure.
	DeleteAdoptedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-delete-adopted"

	// ObserveAnnotation on an object, its Cluster or its Namespace has the object observed: the manager computes its plan
	// and writes nothing to Azure. The condition Drifted lists the writes. Every value but "false" counts, and one of the
	// three is enough.
	ObserveAnnotation = "infrastructure.cluster.x-k8s.io/observe"

	// PausedByMigrationAnnotation on a Cluster marks that kubectl capz migrate has paused it while no webhooks serve, and unpauses it afterwards.
	PausedByMigrationAnnotation = "infrastructure.cluster.x-k8s.io/paused-by-migration"

	// StopAnnotation on a Cluster, AzureMachine, AzureMachinePool, pool of AKS or AKS control plane stops VMs and keeps all else in
	// Azure. "true" deallocates VMs and stops AKS clusters. "scale-to-zero" does the same, but leaves pools without VMs.
	// "false" starts them. Without the annotation the provider starts the VMs that it has stopped. The annotation on the object
	// counts before that on its Cluster, and both before StopScheduleAnnotation.
	StopAnnotation = "infrastructure.cluster.x-k8s.io/stop"

	// StopScheduleAnnotation on the same objects is a YAML list of times. Each entry has stop and start, which are
	// expressions of cron with five fields, and optionally timeZone, a name as Europe/Berlin, with UTC as default.
	// Outside of the times between stop and start nothing is stopped.
	StopScheduleAnnotation = "infrastructure.cluster.x-k8s.io/stop-schedule"

	// OwnedASOKindsAnnotation on an AzureASOManaged object lists the kinds of resource manifests that the established
	// provider applied for it, as "Kind.version.group" separated by semicolons. This provider does not change it. It
	// proves nothing by itself, because all users who may write the object may write it.
	OwnedASOKindsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-owned-aso-kinds"

	// DeleteLeftoversAnnotation with the value "true" on an AzureCluster deletes leftovers with the cluster from a
	// resource group of the user: load balancers and IP addresses of Services and disks of volumes, if Azure proves
	// that they belong to the cluster. Without it they are only listed.
	DeleteLeftoversAnnotation = "sigs.k8s.io/cluster-api-provider-azure-delete-leftovers"

	// AzureMachineAnnotation is "true" on an AzureMachine whose VM exists.
	AzureMachineAnnotation = "cluster-api-provider-azure"

	// PlainObjectsAnnotation lists the Kubernetes objects that were created from resource manifests of an object, as
	// Kind.version.group/name separated by semicolons. They are deleted with their manifest.
	PlainObjectsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-plain-objects"

	// EndpointAnnotation on an AzureManagedControlPlane is the endpoint that AKS returned, as host:port. A different
	// endpoint in the spec was set by a user and is replaced.
	EndpointAnnotation = "sigs.k8s.io/cluster-api-provider-azure-endpoint"

	// IdentityNamespacesAnnotation on a Secret lists, separated by commas, the other namespaces whose
	// AzureClusterIdentities may use its credential when tenants are isolated. "*" allows all namespaces.
	IdentityNamespacesAnnotation = "infrastructure.cluster.x-k8s.io/identity-namespaces"

	// FormerRecordedAnnotation on the manager's Lease means that the credentials in use under the established provider
	// were recorded, or that there were none.
	FormerRecordedAnnotation = "infrastructure.cluster.x-k8s.io/former-identities-recorded"

	// WindowsServerVersionAnnotation on an AzureMachine selects the Windows release of the default image, for example
	// "windows-2022".
	WindowsServerVersionAnnotation = "windowsServerVersion"

	// RuntimeAnnotation on an AzureMachine is the container runtime of the default Windows image. Only "containerd" is
	// accepted.
	RuntimeAnnotation = "runtime"
)

// WorkloadIdentityServiceAccount is the name of the ServiceAccount whose token an AzureClusterIdentity of type
// WorkloadIdentity uses when tenants are isolated. It is in the namespace of the identity.
const WorkloadIdentityServiceAccount = "capz-workload-identity"
