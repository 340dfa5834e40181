package framework

import (
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// AzureFinalizers are the finalizers of the provider's kinds. An AzureManagedCluster has no resources of its own in Azure, and no finalizer.
var AzureFinalizers = func() map[string]func(types.NamespacedName) []string {
	out := map[string]func(types.NamespacedName) []string{}
	for kind, finalizer := range map[string]string{
		"AzureCluster":                infrav1.ClusterFinalizer,
		"AzureMachine":                infrav1.MachineFinalizer,
		"AzureMachinePool":            infrav1.MachinePoolFinalizer,
		"AzureMachinePoolMachine":     infrav1.MachinePoolMachineFinalizer,
		"AzureManagedControlPlane":    infrav1.ManagedControlPlaneFinalizer,
		"AzureManagedMachinePool":     infrav1.ManagedMachinePoolFinalizer,
		"AzureASOManagedControlPlane": infrav1.ASOManagedControlPlaneFinalizer,
		"AzureASOManagedMachinePool":  infrav1.ASOManagedFinalizer,
		"AzureASOManagedCluster":      infrav1.ASOManagedFinalizer,
	} {
		out[kind] = func(types.NamespacedName) []string { return []string{finalizer} }
	}
	return out
}()

// CredentialFinalizers are the finalizers of the identity in the namespace of a cluster, and of the Secret with its credential. user is the
// object that the provider reads the identity for, and prefix the finalizer of its kind.
func CredentialFinalizers(secret, prefix string, user types.NamespacedName) map[string]func(types.NamespacedName) []string {
	return map[string]func(types.NamespacedName) []string{
		"AzureClusterIdentity": func(types.NamespacedName) []string {
			return []string{identity.FinalizerKey(prefix, user.Namespace, user.Name)}
		},
		"Secret": func(key types.NamespacedName) []string {
			if key.Name == secret {
				return []string{infrav1.CredentialFinalizer}
			}
			return nil
		},
	}
}
