package asoresources

import (
	"context"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// ExportValues writes the values that operatorSpec of manifests requests into Secrets and ConfigMaps of the namespace. credentials are
// those of the managed cluster, or nil if there are none. Objects of other creators are refused: users who may write manifests need not
// be allowed to write Secrets.
func ExportValues(ctx context.Context, to published.Publisher, in plan.Input, outcome arm.Outcome, credentials *aks.Credentials) error {
	to.RefuseForeign = true
	secrets, configMaps := map[string]map[string][]byte{}, map[string]map[string]string{}
	asked := map[string]*field.Path{}
	for _, d := range in.OwnManifests() {
		id, err := in.ResourceID(d)
		result, ok := outcome.Result(id)
		if err != nil || !ok || !result.IsDone() {
			continue
		}
		for _, wanted := range plan.ListExports(d, result.Observed) {
			switch {
			case wanted.Value != "":
				putValue(configMaps, wanted.To, wanted.Value)
				asked["ConfigMap "+wanted.To.Name] = wanted.Path
			case credentials == nil:
			case wanted.Name == plan.AdminCredentials && credentials.Admin != nil:
				putValue(secrets, wanted.To, credentials.Admin)
				asked["Secret "+wanted.To.Name] = wanted.Path
			case wanted.Name == plan.UserCredentials && credentials.User != nil:
				putValue(secrets, wanted.To, credentials.User)
				asked["Secret "+wanted.To.Name] = wanted.Path
			}
		}
	}
	// The Secret that Cluster API reads is written already.
	delete(secrets, objectkey.KubeconfigSecretName(to.Cluster))
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		if err := refuseForeign(to.PublishSecret(ctx, name, secrets[name]), asked); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		if err := refuseForeign(to.PublishConfigMap(ctx, name, configMaps[name]), asked); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign turns the error of a write to a foreign object into a refusal of the manifest's field, because only the user can
// correct it.
func refuseForeign(err error, asked map[string]*field.Path) error {
	var theirs published.ForeignObjectError
	if !errors.As(err, &theirs) {
		return err
	}
	return reconcile.RefuseSpec(field.ErrorList{field.Forbidden(asked[theirs.Kind+" "+theirs.Name], theirs.Error()+" and is left as it is: name one that is not there")})
}

func putValue[V any](into map[string]map[string]V, at aso.KeyRef, value V) {
	if into[at.Name] == nil {
		into[at.Name] = map[string]V{}
	}
	into[at.Name][at.Key] = value
}
