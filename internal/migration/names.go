package migration

import "k8s.io/apimachinery/pkg/runtime/schema"

// Namespace is the namespace of the manager, in the established provider and here.
const Namespace = "capz-system"

// ObserveValue is the value of the annotation observe that a migration sets, which distinguishes it from one of a user. Every value but false
// has objects observed.
const ObserveValue = "migration"

// Labels of the objects of an installation. Both providers have the first. Cluster-wide roles of this provider have the second one, too.
const (
	ProviderLabel = "cluster.x-k8s.io/provider"
	ProviderName  = "infrastructure-azure"
	SeriesLabel   = "infrastructure.cluster.x-k8s.io/series"
)

// Remedies if clusterctl cannot read the version of the provider for Azure that is to be installed. It knows only the repository of the established
// provider, unless its configuration has an entry for the provider azure.
const (
	ReleaseRemedy       = "Write a configuration of clusterctl whose provider azure has the folder of the release as its url, and set --clusterctl-config to that file."
	FormerReleaseRemedy = "If the configuration of clusterctl has an entry for the provider azure, remove it, or set --clusterctl-config to a file without that entry. " +
		"clusterctl then reads the established provider from its own repository."
)

// GroupVersion is the version in which both providers store objects.
var GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1"}

// Kinds are the kinds that both providers reconcile.
var Kinds = []string{"AzureClusterIdentity", "AzureCluster", "AzureMachine", "AzureMachinePool", "AzureMachinePoolMachine",
	"AzureManagedCluster", "AzureManagedControlPlane", "AzureManagedMachinePool", "AzureASOManagedCluster", "AzureASOManagedControlPlane",
	"AzureASOManagedMachinePool"}
