package patch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// HasOnlyLegacyReady reports whether an infrastructure cluster is ready by contract v1beta1 of Cluster API only. Cluster API does not
// read that, because the CRDs have the label of contract v1beta2.
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

// MarkProvisioned sets initialization.provisioned of an externally managed infrastructure cluster, and nothing else. Its other fields
// keep the format that their manager reads.
func MarkProvisioned(ctx context.Context, c client.Client, obj client.Object) error {
	return c.Status().Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"initialization":{"provisioned":true}}}`)))
}
