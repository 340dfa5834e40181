package power

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// PoolState returns the power state that annotations ask of an agent pool, "" for none.
func PoolState(power *reconcile.Power) string {
	switch {
	case !power.IsRequested():
		return ""
	case power.Stop:
		return agentpool.Stopped
	}
	return agentpool.Running
}

// CheckPool returns an error if annotations ask to stop a pool that AKS stops only with its cluster.
// https://learn.microsoft.com/en-us/azure/aks/start-stop-nodepools
func CheckPool(power *reconcile.Power, system bool) field.ErrorList {
	if !system || power == nil || !power.Stop && power.Until.IsZero() {
		return nil
	}
	return field.ErrorList{field.Forbidden(power.Field, "a pool with mode System cannot be stopped alone. Remove the annotation, choose mode User, "+
		"or set the annotation on the Cluster to stop all pools")}
}

// ReportPool reports how far the stop or start of an agent pool is that annotations ask for. The plan of the pool has the power state.
func ReportPool(power *reconcile.Power, pool arm.Result, cluster json.RawMessage) {
	if !power.IsRequested() || !pool.Managed {
		return
	}
	verb, state := "start", "running"
	if power.Stop {
		verb, state = "stop", "stopped"
	}
	is := agentpool.Observe(pool.Observed).IsStopped() == power.Stop
	switch {
	case is && pool.IsDone():
		power.Report(true, "The agent pool is "+state)
	case managedcluster.IsStopped(cluster):
		power.Report(false, "The agent pool is stopped with its AKS cluster")
	case pool.Err != nil:
		power.Report(false, "AKS does not "+verb+" the agent pool: "+pool.Err.Error())
	default:
		power.Report(false, "The agent pool is being "+map[bool]string{true: "stopped", false: "started"}[power.Stop])
	}
}

// ReportPoolCondition sets the condition of the resources of a pool to False while it is stopped as annotations ask.
func ReportPoolCondition(pool conditions.Setter, conditionType string, power *reconcile.Power, observed json.RawMessage) {
	if power.IsRequested() && agentpool.Observe(observed).IsStopped() {
		conditions.Set(pool, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: power.Reason(), Message: power.Describe()})
	}
}
