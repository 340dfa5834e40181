package agentpool

import (
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// WaitReason returns the reason why a pool waits for its managed cluster, "" if AKS accepts changes. wanted is the version to request.
// A pool with an operation in progress does not wait, because its operation is followed. name is the name of the cluster in the message.
func WaitReason(name string, cluster managedcluster.Observed, have Observed, wanted string) string {
	switch {
	case !cluster.Exists:
		return fmt.Sprintf("waits for the managed cluster %s to be created", name)
	case !managedcluster.IsTerminalState(have.Properties.ProvisioningState):
		return ""
	case !managedcluster.IsTerminalState(cluster.Properties.ProvisioningState):
		return fmt.Sprintf("waits for the managed cluster %s: its provisioning state is %s", name, cluster.Properties.ProvisioningState)
	}
	return version.WaitReason(name, cluster.Properties.CurrentKubernetesVersion, wanted)
}
