package patch

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// readiness is the readiness of an object by both contracts of Cluster API. Of infrastructure clusters, machines and control planes Cluster
// API reads only the current one, because the CRDs have the label of contract v1beta2. Of machine pools it reads only the legacy one
// (status.ReportPoolProvisioned). Pools are not among the kinds below, because no other manager may reconcile them.
type readiness struct {
	// legacy is the readiness by contract v1beta1.
	legacy bool
	// current is the field of status.initialization that replaces it, and field its name.
	current *bool
	field   string
	// read is the field of the Cluster that Cluster API sets once it has read current.
	read func(*clusterv1.Cluster) *bool
}

// readinessOf returns the readiness of an object of a kind that other managers may reconcile, and false for other kinds. A control plane is
// ready only after it was initialized, so ready alone counts, too.
func readinessOf(obj client.Object) (readiness, bool) {
	infrastructure := func(legacy bool, current *bool) (readiness, bool) {
		return readiness{legacy, current, "provisioned",
			func(c *clusterv1.Cluster) *bool { return c.Status.Initialization.InfrastructureProvisioned }}, true
	}
	switch o := obj.(type) {
	case *infrav1.AzureCluster:
		return infrastructure(o.Status.Ready, o.Status.Initialization.Provisioned)
	case *infrav1.AzureManagedCluster:
		return infrastructure(o.Status.Ready, o.Status.Initialization.Provisioned)
	case *infrav1.AzureASOManagedCluster:
		return infrastructure(o.Status.Ready, o.Status.Initialization.Provisioned)
	case *infrav1.AzureManagedControlPlane:
		return readiness{
			o.Status.Ready || o.Status.Initialized, o.Status.Initialization.ControlPlaneInitialized, "controlPlaneInitialized",
			func(c *clusterv1.Cluster) *bool { return c.Status.Initialization.ControlPlaneInitialized },
		}, true
	}
	return readiness{}, false
}

// HasReadiness reports whether the readiness of objects of this kind can be translated.
func HasReadiness(obj client.Object) bool {
	_, ok := readinessOf(obj)
	return ok
}

// HasOnlyLegacyReady reports whether an object is ready by contract v1beta1 of Cluster API only.
func HasOnlyLegacyReady(obj client.Object) bool {
	r, _ := readinessOf(obj)
	return r.legacy && r.current == nil
}

// HasReadReadiness reports whether Cluster API has read that the object is ready.
func HasReadReadiness(cluster *clusterv1.Cluster, obj client.Object) bool {
	r, ok := readinessOf(obj)
	if !ok {
		return false
	}
	read := r.read(cluster)
	return read != nil && *read
}

// TranslateReady sets the field of the current contract that shows an externally managed object as ready, and nothing else. Its other
// fields keep the format that their manager reads.
func TranslateReady(ctx context.Context, c client.Client, obj client.Object) error {
	r, _ := readinessOf(obj)
	return c.Status().Patch(ctx, obj,
		client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"status":{"initialization":{%q:true}}}`, r.field)))
}
