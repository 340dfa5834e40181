package patch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// HasOnlyLegacyReady tells whether the status of an infrastructure cluster is ready in the words of contract v1beta1 of Cluster API only,
// which Cluster API does not read: the CRDs have the label of contract v1beta2.
func HasOnlyLegacyReady(obj client.Object) bool {
	switch o := obj.(type) {
	case *infrav1.AzureCluster:
		return o.Status.Ready && o.Status.Initialization.Provisioned == nil
	case *infrav1.AzureManagedCluster:
		return o.Status.Ready && o.Status.Initialization.Provisioned == nil
	case *infrav1.AzureASOManagedCluster:
		return o.Status.Ready && o.Status.Initialization.Provisioned == nil
	}
	return false
}

// MarkProvisioned writes into the status of an infrastructure cluster that others manage that it is provisioned, and nothing else.
// Its other fields keep the form that their owner reads.
func MarkProvisioned(ctx context.Context, c client.Client, obj client.Object) error {
	return c.Status().Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"initialization":{"provisioned":true}}}`)))
}
