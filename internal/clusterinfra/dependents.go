package clusterinfra

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
)

// Dependents finds the objects of one kind that depend on other objects of their cluster: the AzureCluster or AzureManagedControlPlane,
// the AzureClusterIdentity, and its Secret.
//
// It follows the references that reconcilers follow. Labels and owner references of an AzureCluster do not matter, because Cluster API
// sets them some time after its creation.
type Dependents struct {
	Client client.Reader
	// MapCluster returns the objects that belong to a Cluster.
	MapCluster handler.MapFunc
	// IncludeAKS includes the objects of AKS clusters.
	IncludeAKS bool
}

// MapAzureCluster returns the objects in the cluster of an AzureCluster.
func (d Dependents) MapAzureCluster(ctx context.Context, azureCluster client.Object) []ctrl.Request {
	return d.mapReferring(ctx, client.ObjectKeyFromObject(azureCluster), infrastructureRef, azureClusterKind)
}

// MapControlPlane returns the objects in the cluster of an AzureManagedControlPlane.
func (d Dependents) MapControlPlane(ctx context.Context, controlPlane client.Object) []ctrl.Request {
	return d.mapReferring(ctx, client.ObjectKeyFromObject(controlPlane), controlPlaneRef, aks.ControlPlaneKind)
}

// MapIdentity returns the objects in the clusters that use an AzureClusterIdentity.
func (d Dependents) MapIdentity(ctx context.Context, identity client.Object) []ctrl.Request {
	return d.mapUsers(ctx, func(users access.IdentityUsers) []ctrl.Request { return users.MapIdentity(ctx, identity) })
}

// MapSecret returns the objects in the clusters whose AzureClusterIdentity reads its credential from a Secret.
func (d Dependents) MapSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	return d.mapUsers(ctx, func(users access.IdentityUsers) []ctrl.Request { return users.MapSecret(ctx, secret) })
}

// mapUsers returns the objects in the clusters of the AzureClusters and AzureManagedControlPlanes that find returns.
func (d Dependents) mapUsers(ctx context.Context, find func(access.IdentityUsers) []ctrl.Request) []ctrl.Request {
	var out []ctrl.Request
	for _, request := range find(access.AzureClusterUsers(d.Client)) {
		out = append(out, d.mapReferring(ctx, request.NamespacedName, infrastructureRef, azureClusterKind)...)
	}
	if !d.IncludeAKS {
		return out
	}
	for _, request := range find(access.ControlPlaneUsers(d.Client)) {
		out = append(out, d.mapReferring(ctx, request.NamespacedName, controlPlaneRef, aks.ControlPlaneKind)...)
	}
	return out
}

func infrastructureRef(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.InfrastructureRef
}

func controlPlaneRef(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.ControlPlaneRef
}

// mapReferring returns the objects of the Clusters that refer to the object of this kind and key.
func (d Dependents) mapReferring(ctx context.Context, key client.ObjectKey,
	ref func(*clusterv1.Cluster) clusterv1.ContractVersionedObjectReference, kind string) []ctrl.Request {
	clusters := &clusterv1.ClusterList{}
	if err := d.Client.List(ctx, clusters, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list Clusters", "of", kind+" "+key.String())
		return nil
	}
	want := clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: key.Name}
	var out []ctrl.Request
	for i := range clusters.Items {
		if ref(&clusters.Items[i]) == want {
			out = append(out, d.MapCluster(ctx, &clusters.Items[i])...)
		}
	}
	return out
}

// MapOwnedBy maps a Cluster to the objects that have an owner reference to it. empty is an empty list of their kind.
//
// It is for templates: Cluster API makes the Cluster an owner of every template that a control plane or MachineDeployment uses, and
// sets the label cluster.x-k8s.io/cluster-name only on those of a ClusterClass.
func MapOwnedBy(kubernetes client.Reader, empty client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, cluster client.Object) []ctrl.Request {
		list := empty.DeepCopyObject().(client.ObjectList)
		if err := kubernetes.List(ctx, list, client.InNamespace(cluster.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "list the objects that a Cluster owns", "cluster", client.ObjectKeyFromObject(cluster))
			return nil
		}
		var out []ctrl.Request
		// The only possible error is one that the function returns.
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			if owner.HasCluster(object, cluster.GetName()) {
				out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
			}
			return nil
		})
		return out
	}
}
