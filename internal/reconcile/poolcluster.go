package reconcile

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// FindPoolCluster returns the Cluster of a pool. machinePool is nil if no MachinePool owns the pool. The Cluster of a pool that is being
// deleted is then found by the pool's label, and any other pool waits with the message ownerless. If the Cluster no longer exists, gone is
// set, and cluster is a substitute with its name.
func FindPoolCluster(ctx context.Context, c client.Reader, pool client.Object, machinePool *clusterv1.MachinePool,
	ownerless string) (cluster *clusterv1.Cluster, gone bool, err error) {
	key := client.ObjectKey{Namespace: pool.GetNamespace(), Name: deletion.ClusterName(pool)}
	switch {
	case machinePool != nil:
		key.Name = machinePool.Spec.ClusterName
	case pool.GetDeletionTimestamp().IsZero():
		return nil, false, WaitForOwner(infrav1.OwnerRefNotSetReason, ownerless)
	}
	cluster = &clusterv1.Cluster{}
	err = apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	if key.Name != "" {
		err = c.Get(ctx, key, cluster)
	}
	switch {
	case err == nil:
		return cluster, false, nil
	case !apierrors.IsNotFound(err):
		return nil, false, fmt.Errorf("get Cluster %s: %w", key, err)
	}
	if cluster = deletion.SubstituteCluster(pool); cluster == nil {
		return nil, false, WaitForOwner(infrav1.ClusterNotFoundReason,
			"Cluster "+key.Name+", to which the MachinePool belongs, does not exist. Create it")
	}
	cluster.Name = key.Name
	return cluster, true, nil
}
