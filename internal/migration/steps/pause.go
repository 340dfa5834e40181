package steps

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const (
	pauseStep   = "pause"
	unpauseStep = "unpause"
)

// pauseTopologies pauses Clusters with a topology. Cluster API applies their objects at any time. While no webhooks serve, the objects would
// lose the defaults of fields that a ClusterClass leaves empty, such as the name of a network.
func (m *Move) pauseTopologies(ctx context.Context) error {
	return m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		if !cluster.Spec.Topology.IsDefined() || cluster.Spec.Paused != nil && *cluster.Spec.Paused {
			return false
		}
		if cluster.Annotations == nil {
			cluster.Annotations = map[string]string{}
		}
		cluster.Annotations[infrav1.PausedByMigrationAnnotation] = "true"
		cluster.Spec.Paused = new(true)
		return true
	})
}

// unpauseTopologies unpauses the Clusters that the step pause has paused.
func (m *Move) unpauseTopologies(ctx context.Context) error {
	return m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		if _, paused := cluster.Annotations[infrav1.PausedByMigrationAnnotation]; !paused {
			return false
		}
		delete(cluster.Annotations, infrav1.PausedByMigrationAnnotation)
		cluster.Spec.Paused = nil
		return true
	})
}

// isUnpaused reports whether no Cluster is paused by the step pause.
func (m *Move) isUnpaused(ctx context.Context) (bool, error) {
	unpaused := true
	err := m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		if _, paused := cluster.Annotations[infrav1.PausedByMigrationAnnotation]; paused {
			unpaused = false
		}
		return false
	})
	return unpaused, err
}

// listPaused returns the Clusters whose spec pauses them, by namespace and name.
func (m *Move) listPaused(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	err := m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		out[cluster.Namespace+"/"+cluster.Name] = cluster.Spec.Paused != nil && *cluster.Spec.Paused
		return false
	})
	return out, err
}
