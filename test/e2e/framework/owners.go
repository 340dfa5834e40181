package framework

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/framework"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// OwnerAssertions returns an error for owner references that are not those of a kind.
type OwnerAssertions = map[string]func(types.NamespacedName, []metav1.OwnerReference) error

func owner(apiVersion, kind string, controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Controller: &controller}
}

var (
	core  = clusterv1.GroupVersion.String()
	azure = infrav1.GroupVersion.String()

	clusterOwner      = owner(core, "Cluster", false)
	clusterController = owner(core, "Cluster", true)
	class             = owner(core, "ClusterClass", false)
	machine           = owner(core, "Machine", true)
	machinePool       = owner(core, "MachinePool", true)
	azureMachinePool  = owner(azure, "AzureMachinePool", false)
)

// either accepts one of the lists of owners.
func either(lists ...[]metav1.OwnerReference) func(types.NamespacedName, []metav1.OwnerReference) error {
	return func(_ types.NamespacedName, got []metav1.OwnerReference) error {
		return framework.HasOneOfExactOwners(got, lists...)
	}
}

func owners(list ...metav1.OwnerReference) []metav1.OwnerReference { return list }

// AzureOwners are the owners of the provider's kinds. The infrastructure and the control plane of a Cluster with a topology have the Cluster
// as controller, and its pools have it as a second owner.
func AzureOwners(topology bool) OwnerAssertions {
	cluster, pool := clusterOwner, owners(machinePool)
	if topology {
		cluster, pool = clusterController, owners(machinePool, clusterOwner)
	}
	template := either(owners(class))
	out := OwnerAssertions{
		// It belongs to no Cluster, and moves with all of them.
		"AzureClusterIdentity":    either(owners()),
		"AzureMachine":            either(owners(machine)),
		"AzureMachineTemplate":    either(owners(clusterOwner), owners(class)),
		"AzureMachinePoolMachine": either(owners(azureMachinePool, machine)),
	}
	for _, kind := range []string{"AzureCluster", "AzureManagedCluster", "AzureManagedControlPlane", "AzureASOManagedCluster",
		"AzureASOManagedControlPlane"} {
		out[kind] = either(owners(cluster))
		out[kind+"Template"] = template
	}
	for _, kind := range []string{"AzureMachinePool", "AzureManagedMachinePool", "AzureASOManagedMachinePool"} {
		out[kind] = either(pool)
		out[kind+"Template"] = template
	}
	return out
}

// BootstrapOwners are those of Cluster API, and for pools without a topology the MachinePool alone: Cluster API's assertion knows the pools of
// topologies only, which have the Cluster as a second owner.
func BootstrapOwners(topology bool) OwnerAssertions {
	out := maps.Clone(framework.KubeadmBootstrapOwnerReferenceAssertions)
	if !topology {
		out["KubeadmConfig"] = either(owners(machine), owners(machinePool))
	}
	return out
}

// SecretOwners are the owners of Secrets: Cluster API's for those of Cluster API, and the provider's for its own.
func SecretOwners(credentials string) OwnerAssertions {
	theirs := framework.KubernetesReferenceAssertions
	return OwnerAssertions{
		"ConfigMap": theirs["ConfigMap"],
		"Secret": func(key types.NamespacedName, got []metav1.OwnerReference) error {
			switch {
			case key.Name == credentials:
				return framework.HasExactOwners(got)
			case strings.HasSuffix(key.Name, "-azure-json"):
				return framework.HasOneOfExactOwners(got, owners(owner(azure, "AzureMachineTemplate", true)),
					owners(owner(azure, "AzureMachineTemplate", true), clusterOwner),
					owners(owner(azure, "AzureMachinePool", true)), owners(owner(azure, "AzureMachine", true)))
			default:
				return theirs["Secret"](key, got)
			}
		},
	}
}

// ManagedSecretOwners are the owners of Secrets and ConfigMaps of clusters with a managed control plane, which publishes them. Pools of a
// topology may have bootstrap data, which AKS does not use.
func ManagedSecretOwners(credentials, controlPlane string) OwnerAssertions {
	published := owner(azure, controlPlane, true)
	return OwnerAssertions{
		"ConfigMap": either(owners(published)),
		"Secret": func(key types.NamespacedName, got []metav1.OwnerReference) error {
			if key.Name == credentials {
				return framework.HasExactOwners(got)
			}
			return framework.HasOneOfExactOwners(got, owners(published), owners(owner(bootstrapv1.GroupVersion.String(), "KubeadmConfig", true)))
		},
	}
}
