package aks

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// PoolOwners are the objects that decide whether the deletion of their cluster in AKS includes an agent pool.
type PoolOwners struct {
	Cluster *clusterv1.Cluster
	// ClusterGone is set if Cluster is a substitute.
	ClusterGone bool
	// ControlPlane is nil if it is gone, so that the agent pool cannot be found.
	ControlPlane client.Object
	// NothingCreated is set if the control plane never created an AKS cluster.
	NothingCreated bool
	// Initialized is set once the AKS cluster has been created completely.
	Initialized bool
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

// MayCreatePool reports whether the AKS cluster may still be created with this pool, although the pool is being deleted: a running reconciliation of
// the control plane may have listed the pool before its deletion. Reconciliations that begin later leave the pool out. While the Cluster is being
// deleted, its pools are deleted with the AKS cluster.
func (o PoolOwners) MayCreatePool() bool {
	return o.ControlPlane != nil && !o.Initialized && (o.ClusterGone || o.Cluster.DeletionTimestamp.IsZero())
}

// CreatingCondition returns the condition of a pool that is deleted after its cluster has been created.
func CreatingCondition(conditionType string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForControlPlaneReason,
		Message: "AKS may still create the cluster with this pool; the pool is deleted after that",
	}
}
