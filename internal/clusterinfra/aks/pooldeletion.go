package aks

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// PoolOwners are the objects that decide whether the deletion of their cluster in AKS includes an agent pool.
type PoolOwners struct {
	Cluster *clusterv1.Cluster
	// ClusterGone is set if Cluster is a substitute.
	ClusterGone bool
	// ControlPlane is nil if it is gone, so that the agent pool cannot be found. NothingCreated is set if it never created a cluster.
	ControlPlane   metav1.Object
	NothingCreated bool
}

// DeletePool reports whether an agent pool needs no deletion of its own: AKS deletes the pools with their cluster, and refuses to delete
// the last system pool before it. A cluster that was never created has no pools. A control plane that is deleted without its Cluster
// waits for its pools, so the cluster is deleted only if all pools are being deleted.
func (o PoolOwners) DeletePool(listPools func() ([]metav1.Object, error)) (bool, error) {
	if o.ControlPlane == nil || o.NothingCreated || !o.ClusterGone && !o.Cluster.DeletionTimestamp.IsZero() {
		return true, nil
	}
	if o.ControlPlane.GetDeletionTimestamp().IsZero() {
		return false, nil
	}
	pools, err := listPools()
	return err == nil && !slices.ContainsFunc(pools, func(pool metav1.Object) bool { return pool.GetDeletionTimestamp().IsZero() }), err
}

// CreatingRetry is how soon the deletion of a pool is retried while its cluster is being created: the cluster may be created with the
// pool, which Azure shows only later.
const CreatingRetry = 5 * time.Second

// CreatingCondition returns the condition of a pool that is deleted after its cluster has been created.
func CreatingCondition(conditionType string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForControlPlaneReason,
		Message: "the AKS cluster is being created, maybe with the pool; the pool is deleted after that",
	}
}
