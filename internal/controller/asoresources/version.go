package asoresources

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// DenyVersion denies the writes of a cluster that exists, and whose new version AKS does not offer. For a cluster that does not exist it
// returns the error.
func (m *Members) DenyVersion(ctx context.Context, f *facts.Facts, session reconcile.Session, in plan.Input, graph *arm.Graph) field.ErrorList {
	errs := m.CheckVersion(ctx, f, session, in)
	if len(errs) == 0 {
		return nil
	}
	manifest, _ := in.ManagedCluster()
	id, err := in.ResourceID(manifest)
	if err != nil || !graph.Has(id) {
		return errs
	}
	if observed, err := f.ReadResource(ctx, session.Caller(), id); err != nil || len(observed) == 0 {
		return errs
	}
	aks.DenyVersion(graph.Node(id), errs)
	return nil
}

// CheckVersion returns an error if AKS does not offer the version of the control plane, whose cluster is to be created or upgraded. It reads the
// cluster only if the region does not have the version, because a cluster may keep the one that it runs.
func (m *Members) CheckVersion(ctx context.Context, f *facts.Facts, session reconcile.Session, in plan.Input) field.ErrorList {
	if m.ControlPlane == nil {
		return nil
	}
	manifest, ok := in.ManagedClusterOf(ObjectKey(ControlPlaneKind, m.ControlPlane))
	if !ok {
		return nil
	}
	id, err := in.ResourceID(manifest)
	if err != nil {
		return nil // The plan reports it.
	}
	region, _ := in.ListVMSizes(id)
	path, version := field.NewPath("spec", "version"), m.ControlPlane.Spec.Version
	if version == "" {
		path = manifest.Path.Child("spec", "kubernetesVersion")
		version, _ = manifest.Spec["kubernetesVersion"].(string)
	}
	errs := aks.CheckVersion(ctx, f, session.Caller(), id.Subscription(), region, path, version, nil)
	if len(errs) == 0 {
		return nil
	}
	observed, err := f.ReadResource(ctx, session.Caller(), id)
	if err != nil || len(observed) == 0 {
		return errs
	}
	return aks.CheckVersion(ctx, f, session.Caller(), id.Subscription(), region, path, version, observed)
}
