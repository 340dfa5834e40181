package documents

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/published"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/document"
)

// Export writes what operatorSpec of documents asks to be written into Secrets and ConfigMaps of the namespace. credentials are
// those of the managed cluster, nil while there are none.
func Export(ctx context.Context, to published.Publisher, in plan.Input, outcome arm.Outcome, credentials *managed.Credentials) error {
	secrets, configMaps := map[string]map[string][]byte{}, map[string]map[string]string{}
	for _, d := range in.Mine() {
		id, err := in.ID(d)
		result, ok := outcome.Result(id)
		if err != nil || !ok || !result.Done() {
			continue
		}
		for _, wanted := range plan.Exports(d, result.Observed) {
			switch {
			case wanted.Value != "":
				put(configMaps, wanted.To, wanted.Value)
			case credentials == nil:
			case wanted.Name == plan.AdminCredentials && credentials.Admin != nil:
				put(secrets, wanted.To, credentials.Admin)
			case wanted.Name == plan.UserCredentials && credentials.User != nil:
				put(secrets, wanted.To, credentials.User)
			}
		}
	}
	// The Secret that Cluster API reads is written already.
	delete(secrets, to.Cluster+"-kubeconfig")
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		if err := to.Secret(ctx, name, secrets[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		if err := to.ConfigMap(ctx, name, configMaps[name]); err != nil {
			return err
		}
	}
	return nil
}

func put[V any](into map[string]map[string]V, at plan.Ref, value V) {
	if into[at.Name] == nil {
		into[at.Name] = map[string]V{}
	}
	into[at.Name][at.Key] = value
}
