package aks

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// CheckVersion returns an error with the offered versions if AKS does not offer the version of a cluster that is to be created or upgraded.
// observed is the cluster in Azure, nil if there is none. If the versions cannot be read, the error of AKS has to do.
func CheckVersion(ctx context.Context, f *facts.Facts, caller facts.Caller, subscription, region string, path *field.Path, wanted string,
	observed json.RawMessage) field.ErrorList {
	have := managedcluster.Observe(observed)
	isUpgrade := version.IsLower(version.Highest(have.Properties.KubernetesVersion, have.Properties.CurrentKubernetesVersion), wanted)
	if region == "" || wanted == "" || have.Exists && !isUpgrade {
		return nil // A version that runs may stay, also when it is not offered any more.
	}
	offered, err := f.ReadOfferedVersions(ctx, caller, subscription, region)
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("The versions of the region are not known", "reason", err.Error())
		return nil
	}
	return offered.CheckOffered(path, region, wanted)
}

// DenyVersion denies the writes of a cluster that exists, and whose new version AKS does not offer. The rest of the plan goes on: the cluster
// serves, and its kubeconfig may need another token.
func DenyVersion(cluster *arm.Node, errs field.ErrorList) {
	plan.DenyWrites(cluster, errs)
}
