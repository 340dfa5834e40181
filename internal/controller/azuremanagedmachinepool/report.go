package azuremanagedmachinepool

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// reportConverged sets the conditions of the agent pool by the outcome.
func reportConverged(in *input, outcome arm.Outcome) {
	status.SetConditions(in.azurePool, nil, status.GroupConditions(outcome, []string{infrav1.AgentPoolsReadyCondition}, conditionGroup))
	in.azurePool.Status.Resources = status.ResourceStatuses(outcome)
}

func conditionGroup(arm.ID) string { return infrav1.AgentPoolsReadyCondition }

// reportInstances shows the VMs of the pool. VMs that Azure lists while it adds or removes nodes are shown too: Cluster API needs to
// know existing nodes.
func reportInstances(in *input, providerIDs []string, count int32, exists bool) {
	in.azurePool.Spec.ProviderIDList = providerIDs
	status := &in.azurePool.Status
	status.Replicas = int32(len(providerIDs))
	condition := aks.ScaleSetCondition(exists, len(providerIDs), count)
	if condition.Status == metav1.ConditionTrue {
		status.Initialization.Provisioned = new(true)
		status.Ready = true
	}
	conditions.Set(in.azurePool, condition)
}
