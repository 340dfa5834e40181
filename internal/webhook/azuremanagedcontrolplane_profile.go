package webhook

import (
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

var (
	minutesPattern = regexp.MustCompile(`^\d+m$`)
	secondsPattern = regexp.MustCompile(`^\d+s$`)
)

func validateAutoScalerProfile(profile *infrav1.AutoScalerProfile, path *field.Path) (errs field.ErrorList) {
	if profile == nil {
		return nil
	}
	check := func(name string, value *string, ok func(string) bool, rule string) {
		if value != nil && !ok(*value) {
			errs = append(errs, field.Invalid(path.Child(name), *value, rule))
		}
	}
	const count, minutes, seconds = "must be a whole number, 0 or more", `must be whole minutes, for example "15m"`,
		`must be whole seconds, for example "10s"`
	check("maxEmptyBulkDelete", profile.MaxEmptyBulkDelete, isCount, count)
	check("maxGracefulTerminationSec", profile.MaxGracefulTerminationSec, isCount, count)
	check("okTotalUnreadyCount", profile.OkTotalUnreadyCount, isCount, count)
	check("maxNodeProvisionTime", profile.MaxNodeProvisionTime, minutesPattern.MatchString, minutes)
	check("maxTotalUnreadyPercentage", profile.MaxTotalUnreadyPercentage, func(s string) bool {
		n, err := strconv.Atoi(s)
		return err == nil && n >= 0 && n <= 100
	}, "must be a whole number from 0 to 100")
	check("newPodScaleUpDelay", profile.NewPodScaleUpDelay, func(s string) bool {
		_, err := time.ParseDuration(s)
		return err == nil
	}, `must be a duration, for example "0s" or "1m30s"`)
	check("scanInterval", profile.ScanInterval, secondsPattern.MatchString, seconds)
	check("scaleDownDelayAfterAdd", profile.ScaleDownDelayAfterAdd, minutesPattern.MatchString, minutes)
	check("scaleDownDelayAfterDelete", profile.ScaleDownDelayAfterDelete, secondsPattern.MatchString, seconds)
	check("scaleDownDelayAfterFailure", profile.ScaleDownDelayAfterFailure, minutesPattern.MatchString, minutes)
	check("scaleDownUnneededTime", profile.ScaleDownUnneededTime, minutesPattern.MatchString, minutes)
	check("scaleDownUnreadyTime", profile.ScaleDownUnreadyTime, minutesPattern.MatchString, minutes)
	check("scaleDownUtilizationThreshold", profile.ScaleDownUtilizationThreshold, func(s string) bool {
		share, err := strconv.ParseFloat(s, 64)
		return err == nil && share >= 0 && share <= 1
	}, "must be a number from 0 to 1")
	return errs
}

func isCount(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0
}

// validateAddons refuses duplicate add-ons, because Azure's API has a map by name.
func validateAddons(addons []infrav1.AddonProfile, path *field.Path) (errs field.ErrorList) {
	names := sets.New[string]()
	for i, addon := range addons {
		if names.Has(addon.Name) {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), addon.Name))
		}
		names.Insert(addon.Name)
	}
	return errs
}

func validateManagedSecurity(spec *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	profile := spec.SecurityProfile
	if profile == nil {
		return nil
	}
	if kms := profile.AzureKeyVaultKms; kms != nil {
		path := path.Child("azureKeyVaultKms")
		access, hasID := infrav1.KeyVaultNetworkAccessTypesPublic, isSet(kms.KeyVaultResourceID)
		if kms.KeyVaultNetworkAccess != nil {
			access = *kms.KeyVaultNetworkAccess
		}
		switch {
		case access == infrav1.KeyVaultNetworkAccessTypesPrivate && !hasID:
			errs = append(errs, field.Required(path.Child("keyVaultResourceID"),
				"keyVaultNetworkAccess: Private needs the Azure resource ID of the key vault"))
		case access == infrav1.KeyVaultNetworkAccessTypesPublic && hasID:
			errs = append(errs, field.Forbidden(path.Child("keyVaultResourceID"), "needs keyVaultNetworkAccess: Private"))
		case access != infrav1.KeyVaultNetworkAccessTypesPublic && access != infrav1.KeyVaultNetworkAccessTypesPrivate:
			errs = append(errs, field.NotSupported(path.Child("keyVaultNetworkAccess"), access,
				[]infrav1.KeyVaultNetworkAccessTypes{infrav1.KeyVaultNetworkAccessTypesPublic, infrav1.KeyVaultNetworkAccessTypesPrivate}))
		}
	}
	if issuer := spec.OIDCIssuerProfile; profile.WorkloadIdentity != nil && (issuer == nil || !isTrue(issuer.Enabled)) {
		errs = append(errs, field.Forbidden(path.Child("workloadIdentity"), "needs oidcIssuerProfile.enabled: true"))
	}
	return errs
}

func validateExtensions(extensions []infrav1.AKSExtension, path *field.Path) (errs field.ErrorList) {
	names := sets.New[string]()
	for i, extension := range extensions {
		path := path.Index(i)
		if names.Has(extension.Name) {
			errs = append(errs, field.Duplicate(path.Child("name"), extension.Name))
		}
		names.Insert(extension.Name)
		if isSet(extension.Version) && (extension.AutoUpgradeMinorVersion == nil || *extension.AutoUpgradeMinorVersion) {
			errs = append(errs, field.Forbidden(path.Child("version"), "needs autoUpgradeMinorVersion: false"))
		}
		scope, path := extension.Scope, path.Child("scope")
		switch {
		case scope == nil:
		case scope.ScopeType == infrav1.ExtensionScopeCluster:
			if scope.ReleaseNamespace == "" {
				errs = append(errs, field.Required(path.Child("releaseNamespace"), "scopeType: Cluster needs it"))
			}
			if scope.TargetNamespace != "" {
				errs = append(errs, field.Forbidden(path.Child("targetNamespace"), "needs scopeType: Namespace"))
			}
		case scope.ScopeType == infrav1.ExtensionScopeNamespace:
			if scope.TargetNamespace == "" {
				errs = append(errs, field.Required(path.Child("targetNamespace"), "scopeType: Namespace needs it"))
			}
			if scope.ReleaseNamespace != "" {
				errs = append(errs, field.Forbidden(path.Child("releaseNamespace"), "needs scopeType: Cluster"))
			}
		}
	}
	return errs
}
