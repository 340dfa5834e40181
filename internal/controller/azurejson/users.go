package azurejson

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
)

// users finds the objects of one kind whose azure.json depends on another object: it has the credential of the cluster's
// identity in it, and what the AzureCluster or AzureManagedControlPlane says of the network.
type users struct {
	kubernetes client.Client
	// ofCluster are those of a Cluster.
	ofCluster handler.MapFunc
	// joining tells that they may be in AKS clusters.
	joining bool
}

// ofHome are those in the cluster of an AzureCluster or AzureManagedControlPlane.
func (u users) ofHome(ctx context.Context, object client.Object) []ctrl.Request {
	cluster, err := util.GetOwnerCluster(ctx, u.kubernetes, metav1.ObjectMeta{Namespace: object.GetNamespace(), OwnerReferences: object.GetOwnerReferences()})
	if err != nil || cluster == nil {
		return nil
	}
	return u.ofCluster(ctx, cluster)
}

func (u users) ofIdentity(ctx context.Context, identity client.Object) []ctrl.Request {
	return u.of(ctx, func(homes access.Users) []ctrl.Request { return homes.OfIdentity(ctx, identity) })
}

func (u users) ofSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	return u.of(ctx, func(homes access.Users) []ctrl.Request { return homes.OfSecret(ctx, secret) })
}

// of are those of the AzureClusters and AzureManagedControlPlanes that others would be woken for.
func (u users) of(ctx context.Context, woken func(access.Users) []ctrl.Request) []ctrl.Request {
	out := u.in(ctx, &infrav1.AzureCluster{}, woken(access.AzureClusters(u.kubernetes)))
	if u.joining {
		out = append(out, u.in(ctx, &infrav1.AzureManagedControlPlane{}, woken(access.ControlPlanes(u.kubernetes)))...)
	}
	return out
}

// in are those in the clusters of the objects of a kind.
func (u users) in(ctx context.Context, kind client.Object, homes []ctrl.Request) []ctrl.Request {
	var out []ctrl.Request
	for _, request := range homes {
		home := kind.DeepCopyObject().(client.Object)
		if err := u.kubernetes.Get(ctx, request.NamespacedName, home); err != nil {
			// One that is gone needs no azure.json; the cache does not fail otherwise.
			continue
		}
		out = append(out, u.ofHome(ctx, home)...)
	}
	return out
}
