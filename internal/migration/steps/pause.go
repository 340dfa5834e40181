package steps

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

const (
	pauseStep   = "pause"
	unpauseStep = "unpause"
)

// pauseTopologies pauses Clusters of this provider with a topology. Cluster API applies their objects at any time. While no webhooks serve,
// the objects would lose the defaults of fields that a ClusterClass leaves empty, such as the name of a network.
func (m *Move) pauseTopologies(ctx context.Context) error {
	var unknown error
	err := m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		if unknown != nil || !cluster.Spec.Topology.IsDefined() || cluster.Spec.Paused != nil && *cluster.Spec.Paused {
			return false
		}
		var affected bool
		if affected, unknown = m.getsObjects(ctx, cluster); !affected {
			return false
		}
		if cluster.Annotations == nil {
			cluster.Annotations = map[string]string{}
		}
		cluster.Annotations[infrav1.PausedByMigrationAnnotation] = "true"
		cluster.Spec.Paused = new(true)
		return true
	})
	return cmp.Or(unknown, err)
}

// getsObjects reports whether Cluster API applies objects of this provider for a Cluster with a topology. Before it has created the first
// ones, only the ClusterClass shows which ones they will be. A Cluster whose class is missing may get any.
func (m *Move) getsObjects(ctx context.Context, cluster *clusterv1.Cluster) (bool, error) {
	if cluster.Spec.InfrastructureRef.IsDefined() {
		return isOfProvider(cluster), nil
	}
	class := &clusterv1.ClusterClass{}
	err := m.Client.Get(ctx, cluster.GetClassKey(), class)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("get ClusterClass %s of Cluster %s/%s: %w", cluster.GetClassKey(), cluster.Namespace, cluster.Name, err)
	}
	for _, template := range []clusterv1.ClusterClassTemplateReference{class.Spec.Infrastructure.TemplateRef, class.Spec.ControlPlane.TemplateRef} {
		if group, _ := schema.ParseGroupVersion(template.APIVersion); group.Group == migration.GroupVersion.Group {
			return true, nil
		}
	}
	return false, nil
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
