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

	// AppliedAnnotation is a JSON object with facts about the resources of an object that are neither in the spec nor in
	// Azure. Unlike the status, it survives clusterctl move and backups. Only the provider writes it. Its members are:
	//
	//   - applied: the resources and paths that the provider sent to Azure for the object and has to remove when the plan
	//     no longer has them. Its keys are resource IDs without the subscription and "/resourceGroups/", and its values are
	//     lists of JSON pointers. The key "*" has the tags of all resources. The pointer "" means that the resource was
	//     seen in Azure as the object's own.
	//   - inventory: the IDs of resources that cannot carry ownership tags. "created" has the resources that were created
	//     for the object, "adopted" those that the provider updates and does not delete, and "object" has the kind,
	//     namespace and name of the object.
	//   - ownerID, on an AzureCluster, AzureManagedControlPlane or AzureASOManagedCluster: one of the values, besides
	//     namespace and name, from which the owner tag in Azure is computed. It is set once and moves with the object.
	//   - subscription, on AzureASOManaged objects, AzureClusters and AzureManagedControlPlanes: the subscription of the object's
	//     resources, once one was seen in Azure. Another one is refused, for the machines and pools of the cluster as well.
	//   - migration: "{}" if the object was created under this provider. Otherwise "kept" lists, by resource, the
	//     differences between Azure and the plan at the time of the migration.
	AppliedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-applied"

	// DeleteAdoptedAnnotation with the value "true" deletes adopted resources with their object. Without it, adopted
	// resources stay in Azure.
	DeleteAdoptedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-delete-adopted"

	// ObserveAnnotation on an object, its Cluster or its Namespace turns on observe mode for the object: the manager computes
	// its writes to Azure and sends none. The condition Drifted lists the writes. Every value except "false" turns it on.
	ObserveAnnotation = "infrastructure.cluster.x-k8s.io/observe"

	// PausedByMigrationAnnotation on a Cluster shows that kubectl capz migrate has paused it while no webhooks run, and will
	// unpause it.
	PausedByMigrationAnnotation = "infrastructure.cluster.x-k8s.io/paused-by-migration"

	// StopAnnotation on a Cluster, AzureMachine, AzureMachinePool, pool of AKS or AKS control plane stops VMs and keeps all else in
	// Azure. "true" deallocates VMs and stops AKS clusters. "scale-to-zero" does the same, but leaves pools without VMs.
	// "false" starts them. Without the annotation the provider starts the VMs that it has stopped. The annotation of the object
	// takes precedence over that of its Cluster, and both take precedence over infrastructure.cluster.x-k8s.io/stop-schedule.
	StopAnnotation = "infrastructure.cluster.x-k8s.io/stop"

	// StopScheduleAnnotation on the objects that infrastructure.cluster.x-k8s.io/stop supports is a YAML list of times. Each
	// entry has stop and start, which are cron expressions with five fields, and optionally timeZone, for example
	// Europe/Berlin. The default time zone is UTC. Nothing is stopped outside of the times between stop and start.
	StopScheduleAnnotation = "infrastructure.cluster.x-k8s.io/stop-schedule"

	// OwnedASOKindsAnnotation on an AzureASOManaged object lists the kinds of resource manifests that the established
	// provider applied for it, as "Kind.version.group" separated by semicolons. This provider does not change it. It is no
	// proof of ownership, because all users who may write the object may write it.
	OwnedASOKindsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-owned-aso-kinds"

	// DeleteLeftoversAnnotation with the value "true" on an AzureCluster deletes leftovers with the cluster from a
	// resource group of the user: load balancers and IP addresses of Services and disks of volumes, if Azure proves
	// that they belong to the cluster. Without it, a condition and an event list them.
	DeleteLeftoversAnnotation = "sigs.k8s.io/cluster-api-provider-azure-delete-leftovers"

	// AzureMachineAnnotation is "true" on an AzureMachine with an existing VM.
	AzureMachineAnnotation = "cluster-api-provider-azure"

	// PlainObjectsAnnotation lists the Kubernetes objects that were created from resource manifests of an object, as
	// Kind.version.group/name separated by semicolons. They are deleted with their manifest.
	PlainObjectsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-plain-objects"

	// EndpointAnnotation on an AzureManagedControlPlane is the endpoint that AKS returned, as host:port. The provider replaces
	// a different endpoint in the spec, which a user has set.
	EndpointAnnotation = "sigs.k8s.io/cluster-api-provider-azure-endpoint"

	// IdentityNamespacesAnnotation on a Secret lists other namespaces, separated by commas. Their AzureClusterIdentities may
	// use its credential when tenants are isolated. "*" allows all namespaces.
	IdentityNamespacesAnnotation = "infrastructure.cluster.x-k8s.io/identity-namespaces"

	// PublishedByAnnotation on a Secret or ConfigMap is the kind and name of the object that publishes values in it, as
	// kind/name. A backup that loses owner references keeps it.
	PublishedByAnnotation = "infrastructure.cluster.x-k8s.io/published-by"

	// FormerRecordedAnnotation on the manager's Lease shows that the credentials in use under the established provider were
	// recorded, or that none were in use.
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
