package aks

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// stoppedMessage is the message of the conditions of a stopped cluster. https://learn.microsoft.com/en-us/azure/aks/start-stop-cluster
const stoppedMessage = "The AKS cluster is stopped: its API server does not respond, and it cannot be changed. Start it, for example with az aks start"

// AvailableCondition returns the condition Available of an AKS control plane, which Cluster API copies to the Cluster. observed is the
// cluster as Azure shows it, if it exists. usable is true if a kubeconfig was published. AKS upgrades and changes a control plane while
// its API server serves, so a running or failed operation does not matter.
// https://learn.microsoft.com/en-us/azure/aks/start-stop-cluster
func AvailableCondition(observed json.RawMessage, usable bool) metav1.Condition {
	condition := metav1.Condition{Type: clusterv1.AvailableCondition, Status: metav1.ConditionFalse}
	switch {
	case len(observed) == 0:
		condition.Reason, condition.Message = infrav1.WaitingReason, "Azure has no managed cluster yet"
	case managedcluster.IsStopped(observed):
		condition.Reason, condition.Message = infrav1.StoppedReason, stoppedMessage
	case !usable:
		condition.Reason, condition.Message = infrav1.WaitingReason, "the managed cluster has no kubeconfig yet"
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, clusterv1.AvailableReason
	}
	return condition
}

// UnhealthyRetry is how soon a cluster or pool is checked again that is finished but not usable or not healthy.
const UnhealthyRetry = time.Minute

// ReportStopped sets the condition of the resources of a control plane to False while its cluster is stopped, if they are in place.
func ReportStopped(controlPlane conditions.Setter, conditionType string, observed json.RawMessage) (stopped bool) {
	if !managedcluster.IsStopped(observed) || !conditions.IsTrue(controlPlane, conditionType) {
		return false
	}
	conditions.Set(controlPlane, metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: infrav1.StoppedReason,
		Message: stoppedMessage,
	})
	return true
}

// ReportPoolStopped sets the condition of the resources of an agent pool to False while the pool is stopped, alone or with its cluster, if
// they are in place. pool and cluster are the two as Azure shows them. controlPlane is the control plane of the Cluster, or nil: its condition
// Stopped shows whether annotations ask for the stop, and its condition Available wakes the pool after a start. alone is set if the pool is
// stopped and its cluster runs: no object shows its start.
// https://learn.microsoft.com/en-us/azure/aks/start-stop-nodepools
func ReportPoolStopped(object conditions.Setter, conditionType string, pool, cluster json.RawMessage, controlPlane conditions.Getter) (alone bool) {
	if !agentpool.Observe(pool).IsStopped() || !conditions.IsTrue(object, conditionType) {
		return false
	}
	condition := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: infrav1.StoppedReason,
		Message: "The agent pool is stopped. Start it, for example with az aks nodepool start, or with the annotation " + infrav1.StopAnnotation + "=false"}
	if managedcluster.IsStopped(cluster) {
		condition.Message = "The agent pool is stopped with its AKS cluster. Start the cluster, for example with az aks start, or with the annotation " +
			infrav1.StopAnnotation + "=false on the Cluster"
		if requested := findCondition(controlPlane, infrav1.StoppedCondition); requested != nil {
			condition.Reason, condition.Message = requested.Reason, "The agent pool is stopped with its AKS cluster. "+requested.Message
		}
	}
	conditions.Set(object, condition)
	return !managedcluster.IsStopped(cluster)
}

// StoppedStatus returns the part of a control plane's status that shows whether its cluster is stopped. AKS accepts changes of pools after the
// start, so reconciliations of pools read it.
func StoppedStatus(controlPlane conditions.Getter) any {
	available := findCondition(controlPlane, clusterv1.AvailableCondition)
	if available == nil {
		return nil
	}
	return []any{available.Status, available.Reason}
}

// findCondition returns a condition of an object, nil if one of the two does not exist.
func findCondition(object conditions.Getter, conditionType string) *metav1.Condition {
	if object == nil {
		return nil
	}
	return conditions.Get(object, conditionType)
}
