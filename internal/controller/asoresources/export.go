package asoresources

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// ExportValues writes the values that operatorSpec of manifests requests into Secrets and ConfigMaps of the namespace. credentials are
// those of the managed cluster, or nil if there are none. Objects of other creators are refused: users who may write manifests need not
// be allowed to write Secrets.
func ExportValues(ctx context.Context, to published.Publisher, in plan.Input, outcome arm.Outcome, credentials *aks.Credentials) error {
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
			switch {
			case wanted.Value != "":
				kind = "ConfigMap"
				values.AddConfigMap(wanted.To, wanted.Value)
			case credentials == nil:
			case wanted.Name == aso.AdminCredentials:
				values.AddSecret(wanted.To, credentials.Admin)
			case wanted.Name == aso.UserCredentials:
				values.AddSecret(wanted.To, credentials.User)
			}
			asked[kind+" "+wanted.To.Name] = wanted.Path
			values.AddFormerOwner(kind, wanted.To.Name, published.ASOObject{Group: d.Group, Kind: d.Kind, Name: d.Name})
		}
	}
	err := values.Publish(ctx, to)
	var refused aks.RefusedExportError
	if errors.As(err, &refused) {
		return reconcile.RefuseSpec(field.ErrorList{field.Forbidden(asked[refused.Kind+" "+refused.Name], refused.Error())})
	}
	return err
}
