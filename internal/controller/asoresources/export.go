package asoresources

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Exporter writes the values that operatorSpec of manifests requests into Secrets and ConfigMaps of the namespace.
type Exporter struct {
	Facts   *facts.Facts
	Session reconcile.Session
	To      published.Publisher
	// Cluster is the managed cluster whose kubeconfigs the object publishes, "" if it publishes none. Credentials are these kubeconfigs, nil
	// while there are none that can be used.
	Cluster     arm.ID
	Credentials *aks.Credentials
}

// ExportValues writes the values. Objects of other creators are refused: users who may write manifests need not be allowed to write Secrets.
func (e Exporter) ExportValues(ctx context.Context, in plan.Input, outcome arm.Outcome) error {
	var values aks.Exports
	asked := map[string]*field.Path{}
	for _, d := range in.OwnManifests() {
		id, err := in.ResourceID(d)
		result, ok := outcome.Result(id)
		if err != nil || !ok || !result.IsDone() {
			continue
		}
		for _, wanted := range plan.ListExports(d, result.Observed) {
			kind := "Secret"
			if wanted.Value != "" {
				kind = "ConfigMap"
				values.AddConfigMap(wanted.To, wanted.Value)
			} else {
				kubeconfig, err := e.readKubeconfig(ctx, d, result, wanted)
				if err != nil {
					return err
				}
				values.AddSecret(wanted.To, kubeconfig)
			}
			asked[kind+" "+wanted.To.Name] = wanted.Path
			values.AddFormerOwner(kind, wanted.To.Name, FormerOwner(d))
		}
	}
	err := values.Publish(ctx, e.To)
	var refused aks.RefusedExportError
	if errors.As(err, &refused) {
		return reconcile.RefuseSpec(field.ErrorList{field.Forbidden(asked[refused.Kind+" "+refused.Name], refused.Error())})
	}
	return err
}

// readKubeconfig returns the kubeconfig that the manifest of a managed cluster exports, nil if there is none yet.
func (e Exporter) readKubeconfig(ctx context.Context, m plan.Manifest, cluster arm.Result, wanted plan.Export) ([]byte, error) {
	var known *aks.Credentials
	if cluster.ID.Equal(e.Cluster) {
		if e.Credentials == nil {
			return nil, nil
		}
		known = e.Credentials
	}
	to := e.To
	to.FormerOwners = []published.ASOObject{FormerOwner(m)}
	return aks.ReadExported(ctx, e.Facts, e.Session.Caller(), cluster.ID, cluster.Observed, known, wanted.Name, wanted.To, to)
}

// FormerOwner returns the object of the Azure Service Operator that the established provider had for a manifest.
func FormerOwner(m plan.Manifest) published.ASOObject {
	return published.ASOObject{Group: m.Group, Kind: m.Kind, Name: m.Name}
}
