package steps

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
)

const observeStep = "observe"

// hasObserved reports whether the step was done. Users release clusters afterwards, so the annotations prove nothing.
func (m *Move) hasObserved(context.Context) (bool, error) {
	return slices.Contains(m.progress.steps, observeStep), nil
}

// observeClusters has the next manager observe all Clusters of this provider: it computes the writes to Azure and sends none.
func (m *Move) observeClusters(ctx context.Context) error {
	return m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		value, has := cluster.Annotations[infrav1.ObserveAnnotation]
		if !isOfProvider(cluster) || has && value != "false" {
			return false
		}
		if cluster.Annotations == nil {
			cluster.Annotations = map[string]string{}
		}
		cluster.Annotations[infrav1.ObserveAnnotation] = migration.ObserveValue
		return true
	})
}

// isOfProvider reports whether this provider has the infrastructure or the control plane of a Cluster.
func isOfProvider(cluster *clusterv1.Cluster) bool {
	group := migration.GroupVersion.Group
	return cluster.Spec.InfrastructureRef.APIGroup == group || cluster.Spec.ControlPlaneRef.APIGroup == group
}

// removeObserve removes the annotations of the step observe.
func (m *Move) removeObserve(ctx context.Context) error {
	return m.forEachCluster(ctx, func(cluster *clusterv1.Cluster) (changed bool) {
		if cluster.Annotations[infrav1.ObserveAnnotation] != migration.ObserveValue {
			return false
		}
		delete(cluster.Annotations, infrav1.ObserveAnnotation)
		return true
	})
}

// forEachCluster calls change for every Cluster and stores those that it changes.
func (m *Move) forEachCluster(ctx context.Context, change func(*clusterv1.Cluster) bool) error {
	return pages.ForEach(ctx, m.Client, &clusterv1.ClusterList{}, func(object client.Object) error {
		cluster := object.(*clusterv1.Cluster)
		before := cluster.DeepCopy()
		if !change(cluster) {
			return nil
		}
		if err := client.IgnoreNotFound(m.Client.Patch(ctx, cluster, client.MergeFrom(before))); err != nil {
			return fmt.Errorf("annotate Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
		}
		return nil
	})
}
