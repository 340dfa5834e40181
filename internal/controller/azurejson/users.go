package azurejson

import (
	"context"

	"sigs.k8s.io/cluster-api/util"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
)

// users finds the objects of one kind whose azure.json depends on another object: it has the credential of the cluster's
// identity in it, and what the AzureCluster says of the network.
type users struct {
	kubernetes client.Client
	// ofCluster are those of a Cluster.
	ofCluster handler.MapFunc
}

func (u users) ofAzureCluster(ctx context.Context, azureCluster client.Object) []ctrl.Request {
	owned := azureCluster.(*infrav1.AzureCluster).ObjectMeta
	cluster, err := util.GetOwnerCluster(ctx, u.kubernetes, owned)
	if err != nil || cluster == nil {
		return nil
	}
	return u.ofCluster(ctx, cluster)
}

func (u users) ofIdentity(ctx context.Context, identity client.Object) []ctrl.Request {
	return u.ofAzureClusters(ctx, access.AzureClusters(u.kubernetes).OfIdentity(ctx, identity))
}

func (u users) ofSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	return u.ofAzureClusters(ctx, access.AzureClusters(u.kubernetes).OfSecret(ctx, secret))
}

// ofAzureClusters are those of the AzureClusters that others would be woken for.
func (u users) ofAzureClusters(ctx context.Context, azureClusters []ctrl.Request) []ctrl.Request {
	var out []ctrl.Request
	for _, request := range azureClusters {
		azureCluster := &infrav1.AzureCluster{}
		if err := u.kubernetes.Get(ctx, request.NamespacedName, azureCluster); err != nil {
			// One that is gone needs no azure.json; the cache does not fail otherwise.
			continue
		}
		out = append(out, u.ofAzureCluster(ctx, azureCluster)...)
	}
	return out
}
