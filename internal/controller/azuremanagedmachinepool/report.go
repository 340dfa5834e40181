package azuremanagedmachinepool

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Report implements reconcile.Kind. It shows the VMs of a pool that exists.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.azurePool.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	reportConverged(in, outcome)
	result, _ := outcome.Result(plan.PoolID(in.planned, in.pool))
	stoppedAlone := aks.ReportPoolStopped(in.azurePool, infrav1.AgentPoolsReadyCondition, result.Observed, in.planned.Facts.Cluster, in.controlPlane)
	power.ReportPoolCondition(in.azurePool, infrav1.AgentPoolsReadyCondition, in.power, result.Observed)
	if len(in.refusedSizes) > 0 {
		return 0, reconcile.RefuseSpec(in.refusedSizes)
	}
	if in.instances != nil {
		reportInstances(in, outcome.IsDone())
	}
	if !in.acted {
		return 0, nil
	}
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
	after, incomplete := in.instances.NextRead(in.azurePool)
	switch {
	case stoppedAlone && !in.power.IsRequested():
		return 0, reconcile.RecheckIn(aks.UnhealthyRetry, nil)
	case incomplete:
		return 0, reconcile.RecheckIn(after, nil)
	}
	return after, nil
}

// reportConverged sets the conditions of the agent pool by the outcome.
func reportConverged(in *input, outcome arm.Outcome) {
	status.SetConditions(in.azurePool, nil, status.GroupConditions(outcome, []string{infrav1.AgentPoolsReadyCondition}, conditionGroup))
	in.azurePool.Status.Resources = status.ResourceStatuses(outcome)
}

func conditionGroup(arm.ID) string { return infrav1.AgentPoolsReadyCondition }

// reportInstances shows the VMs of the pool. done is set if the pool is as planned.
func reportInstances(in *input, done bool) {
	poolStatus := &in.azurePool.Status
	poolStatus.Version = in.instances.Version
	if in.instances.Unsupported == "" { // The established provider may have listed the VMs.
		in.azurePool.Spec.ProviderIDList, poolStatus.Replicas = in.instances.ProviderIDs, int32(len(in.instances.ProviderIDs))
	}
	condition := in.instances.Condition()
	status.ReportPoolProvisioned(&poolStatus.Initialization, &poolStatus.Ready, done && condition.Status == metav1.ConditionTrue)
	conditions.Set(in.azurePool, condition)
}
