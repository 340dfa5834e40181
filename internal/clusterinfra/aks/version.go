package aks

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
)

// CheckVersion returns an error with the offered versions if AKS does not offer the version of a cluster that is to be created. If they cannot
// be read, the error of AKS has to do.
func CheckVersion(ctx context.Context, f *facts.Facts, asker facts.Asker, subscription, region string, path *field.Path, version string) field.ErrorList {
	if region == "" || version == "" {
		return nil
	}
	offered, err := f.ReadOfferedVersions(ctx, asker, subscription, region)
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("The versions of the region are not known", "reason", err.Error())
		return nil
	}
	return offered.CheckOffered(path, region, version)
}
