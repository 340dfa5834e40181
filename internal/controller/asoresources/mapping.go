package asoresources

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// listOfCluster returns copies of the objects of a list that belong to a Cluster by owner or label.
func listOfCluster[T client.Object](ctx context.Context, c client.Reader, cluster *clusterv1.Cluster, list client.ObjectList) ([]T, error) {
	if err := c.List(ctx, list, client.InNamespace(cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list objects of Cluster %s: %w", cluster.Name, err)
	}
	var out []T
	// The only possible error is one that the function returns.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if object := item.(T); deletion.ClusterName(object) == cluster.Name {
			out = append(out, object.DeepCopyObject().(T))
		}
		return nil
	})
	return out, nil
}

// MapToKind returns a function that maps an object with manifests, a Cluster or a MachinePool to the objects of kind that read it:
// those of the same Cluster.
func MapToKind(c client.Reader, kind string) func(context.Context, client.Object) []ctrl.Request {
	return func(ctx context.Context, obj client.Object) []ctrl.Request {
		cluster, err := findCluster(ctx, c, obj)
		if err != nil || cluster == nil {
			return nil
		}
		members, err := GatherMembers(ctx, c, cluster)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "find the objects of a Cluster", "cluster", cluster.Name)
			return nil
		}
		return members.requestsForKind(kind)
	}
}

// requestsForKind returns the members of a kind.
func (m *Members) requestsForKind(kind string) []ctrl.Request {
	var out []ctrl.Request
	add := func(obj client.Object) {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
	}
	switch {
	case kind == ClusterKind && m.Infrastructure != nil:
		add(m.Infrastructure)
	case kind == ControlPlaneKind && m.ControlPlane != nil:
		add(m.ControlPlane)
	case kind == MachinePoolKind:
		for _, pool := range m.Pools {
			add(pool.Pool)
		}
	}
	return out
}

// findCluster returns the Cluster of an object, or nil if there is none or it has no object with manifests.
func findCluster(ctx context.Context, c client.Reader, obj client.Object) (*clusterv1.Cluster, error) {
	name := ""
	switch obj := obj.(type) {
	case *clusterv1.Cluster:
		return ifASOCluster(obj), nil
	case *clusterv1.MachinePool:
		if obj.Spec.Template.Spec.InfrastructureRef.Kind != MachinePoolKind {
			return nil, nil
		}
		name = obj.Spec.ClusterName
	case *infrav1.AzureASOManagedCluster:
		return aks.FindCluster(ctx, c, obj, ClusterKind)
	case *infrav1.AzureASOManagedControlPlane:
		return aks.FindCluster(ctx, c, obj, ControlPlaneKind)
	case *infrav1.AzureASOManagedMachinePool:
		name = obj.Labels[clusterv1.ClusterNameLabel]
	}
	if name == "" {
		return nil, nil
	}
	cluster := &clusterv1.Cluster{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}, cluster); err != nil {
		if client.IgnoreNotFound(err) == nil {
			// An object that outlived its Cluster may wait for others to be gone.
			cluster.Namespace, cluster.Name = obj.GetNamespace(), name
			return cluster, nil
		}
		return nil, err
	}
	return ifASOCluster(cluster), nil
}

func ifASOCluster(cluster *clusterv1.Cluster) *clusterv1.Cluster {
	if cluster.Spec.InfrastructureRef.Kind != ClusterKind && cluster.Spec.ControlPlaneRef.Kind != ControlPlaneKind {
		return nil
	}
	return cluster
}
