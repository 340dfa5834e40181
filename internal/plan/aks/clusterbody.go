package aks

import (
	"cmp"
	"encoding/base64"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

const (
	// managedIdentityClientID is the client ID of the service principal of clusters with a managed identity.
	managedIdentityClientID = "msi"
	// adminUser is the user of the SSH key on the nodes.
	adminUser = "azureuser"
	// kubeletIdentityKey is the key of the kubelet's identity in the identity profile.
	kubeletIdentityKey = "kubeletidentity"
)

// buildClusterModel returns the managed cluster of the spec, without tags and pools.
func buildClusterModel(in Input, have managedcluster.Observed) aks.ManagedCluster {
	spec := in.ControlPlane.Spec
	properties := &aks.ManagedClusterProperties{
		KubernetesVersion:       new(wantedKubernetesVersion(in, have)),
		DNSPrefix:               wantedDNSPrefix(in, have),
		EnableRBAC:              new(have.Properties.EnableRBAC == nil || *have.Properties.EnableRBAC),
		NodeResourceGroup:       new(wantedNodeResourceGroupName(in)),
		NetworkProfile:          buildNetworkProfile(in),
		AADProfile:              buildAADProfile(spec.AADProfile),
		AddonProfiles:           buildAddonProfiles(spec.AddonProfiles),
		APIServerAccessProfile:  buildAPIServerAccessProfile(spec.APIServerAccessProfile),
		AutoScalerProfile:       buildAutoScalerProfile(spec.AutoScalerProfile),
		IdentityProfile:         buildIdentityProfile(spec.KubeletUserAssignedIdentity),
		HTTPProxyConfig:         buildHTTPProxyConfig(spec.HTTPProxyConfig),
		LinuxProfile:            buildLinuxProfile(spec.SSHPublicKey, have),
		SecurityProfile:         buildSecurityProfile(spec.SecurityProfile),
		ServicePrincipalProfile: &aks.ManagedClusterServicePrincipalProfile{ClientID: new(managedIdentityClientID)},
	}
	if spec.AADProfile != nil || !plan.Dereference(spec.DisableLocalAccounts) { // Without both no user could sign in.
		properties.DisableLocalAccounts = spec.DisableLocalAccounts
	}
	// The issuer cannot be disabled, and AKS enables it for new versions. The absent field therefore does not mean disabled.
	if issuer := spec.OIDCIssuerProfile; issuer != nil && plan.Dereference(issuer.Enabled) {
		properties.OidcIssuerProfile = &aks.ManagedClusterOIDCIssuerProfile{Enabled: new(true)}
	}
	if upgrade := spec.AutoUpgradeProfile; upgrade != nil && upgrade.UpgradeChannel != nil {
		properties.AutoUpgradeProfile = &aks.ManagedClusterAutoUpgradeProfile{UpgradeChannel: toEnum[aks.UpgradeChannel](upgrade.UpgradeChannel)}
	}
	model := aks.ManagedCluster{Location: new(Location(in)), Identity: buildIdentity(spec.Identity), Properties: properties}
	if keepsServicePrincipal(in, have) {
		model.Identity, properties.ServicePrincipalProfile = nil, nil
	}
	if spec.SKU != nil {
		model.SKU = &aks.ManagedClusterSKU{Name: new(aks.ManagedClusterSKUNameBase), Tier: new(toSKUTier(string(spec.SKU.Tier)))}
	}
	return model
}

// toSKUTier returns the tier of the control plane. Paid is the former name of Standard.
func toSKUTier(tier string) aks.ManagedClusterSKUTier {
	if tier == "Paid" {
		return aks.ManagedClusterSKUTierStandard
	}
	return aks.ManagedClusterSKUTier(tier)
}

// wantedKubernetesVersion returns the version to request.
func wantedKubernetesVersion(in Input, have managedcluster.Observed) string {
	return version.Wanted(have.Version(), in.ControlPlane.Spec.Version)
}

// wantedDNSPrefix returns the DNS prefix of the API server, or nil to leave it to AKS. The default prefix is not sent to an existing
// cluster that has no prefix, because its name was created by other means.
func wantedDNSPrefix(in Input, have managedcluster.Observed) *string {
	prefix := cmp.Or(plan.Dereference(in.ControlPlane.Spec.DNSPrefix), in.ControlPlane.Name)
	if prefix == in.ControlPlane.Name && have.Exists && have.Properties.DNSPrefix == "" {
		return nil
	}
	return new(prefix)
}

// keepsServicePrincipal reports whether the existing cluster has a service principal and the spec has no identity. Sending an
// identity would replace the service principal, which cannot be undone.
func keepsServicePrincipal(in Input, have managedcluster.Observed) bool {
	client := have.Properties.ServicePrincipalProfile.ClientID
	return in.ControlPlane.Spec.Identity == nil && have.Exists && client != "" && client != managedIdentityClientID
}

func buildIdentity(spec *infrav1.Identity) *aks.ManagedClusterIdentity {
	if spec == nil || string(spec.Type) != string(aks.ResourceIdentityTypeUserAssigned) {
		return &aks.ManagedClusterIdentity{Type: new(aks.ResourceIdentityTypeSystemAssigned)}
	}
	return &aks.ManagedClusterIdentity{
		Type: new(aks.ResourceIdentityTypeUserAssigned),
		UserAssignedIdentities: map[string]*aks.ManagedServiceIdentityUserAssignedIdentitiesValue{
			normalizeID(spec.UserAssignedIdentityResourceID): {},
		},
	}
}

func buildIdentityProfile(kubelet string) map[string]*aks.UserAssignedIdentity {
	if kubelet == "" {
		return nil
	}
	return map[string]*aks.UserAssignedIdentity{kubeletIdentityKey: {ResourceID: new(normalizeID(kubelet))}}
}

func buildAADProfile(spec *infrav1.AADProfile) *aks.ManagedClusterAADProfile {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterAADProfile{
		Managed: new(spec.Managed), EnableAzureRBAC: new(spec.Managed), AdminGroupObjectIDs: toPointers(spec.AdminGroupObjectIDs),
	}
}

func buildAddonProfiles(specs []infrav1.AddonProfile) map[string]*aks.ManagedClusterAddonProfile {
	var out map[string]*aks.ManagedClusterAddonProfile
	for _, spec := range specs {
		if out == nil {
			out = map[string]*aks.ManagedClusterAddonProfile{}
		}
		addon := &aks.ManagedClusterAddonProfile{Enabled: new(spec.Enabled)}
		if len(spec.Config) > 0 {
			addon.Config = toPointerMap(spec.Config)
		}
		out[spec.Name] = addon
	}
	return out
}

func buildAPIServerAccessProfile(spec *infrav1.APIServerAccessProfile) *aks.ManagedClusterAPIServerAccessProfile {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterAPIServerAccessProfile{
		AuthorizedIPRanges:             toPointers(spec.AuthorizedIPRanges),
		EnablePrivateCluster:           spec.EnablePrivateCluster,
		EnablePrivateClusterPublicFQDN: spec.EnablePrivateClusterPublicFQDN,
		PrivateDNSZone:                 toString(spec.PrivateDNSZone),
	}
}

func buildAutoScalerProfile(spec *infrav1.AutoScalerProfile) *aks.ManagedClusterPropertiesAutoScalerProfile {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterPropertiesAutoScalerProfile{
		BalanceSimilarNodeGroups:      toString(spec.BalanceSimilarNodeGroups),
		Expander:                      toEnum[aks.Expander](spec.Expander),
		MaxEmptyBulkDelete:            toString(spec.MaxEmptyBulkDelete),
		MaxGracefulTerminationSec:     toString(spec.MaxGracefulTerminationSec),
		MaxNodeProvisionTime:          toString(spec.MaxNodeProvisionTime),
		MaxTotalUnreadyPercentage:     toString(spec.MaxTotalUnreadyPercentage),
		NewPodScaleUpDelay:            toString(spec.NewPodScaleUpDelay),
		OkTotalUnreadyCount:           toString(spec.OkTotalUnreadyCount),
		ScanInterval:                  toString(spec.ScanInterval),
		ScaleDownDelayAfterAdd:        toString(spec.ScaleDownDelayAfterAdd),
		ScaleDownDelayAfterDelete:     toString(spec.ScaleDownDelayAfterDelete),
		ScaleDownDelayAfterFailure:    toString(spec.ScaleDownDelayAfterFailure),
		ScaleDownUnneededTime:         toString(spec.ScaleDownUnneededTime),
		ScaleDownUnreadyTime:          toString(spec.ScaleDownUnreadyTime),
		ScaleDownUtilizationThreshold: toString(spec.ScaleDownUtilizationThreshold),
		SkipNodesWithLocalStorage:     toString(spec.SkipNodesWithLocalStorage),
		SkipNodesWithSystemPods:       toString(spec.SkipNodesWithSystemPods),
	}
}

func buildHTTPProxyConfig(spec *infrav1.HTTPProxyConfig) *aks.ManagedClusterHTTPProxyConfig {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterHTTPProxyConfig{
		HTTPProxy: toString(spec.HTTPProxy), HTTPSProxy: toString(spec.HTTPSProxy), NoProxy: toPointers(spec.NoProxy),
		TrustedCa: toString(spec.TrustedCA),
	}
}

// buildLinuxProfile returns the SSH key and the user of the nodes. The user has no field in the spec, so the existing one is sent.
func buildLinuxProfile(encoded *string, have managedcluster.Observed) *aks.LinuxProfile {
	if plan.Dereference(encoded) == "" {
		return nil
	}
	decoded, _ := base64.StdEncoding.DecodeString(*encoded) // CheckSpec reports the error.
	user := adminUser
	if profile := have.Properties.LinuxProfile; profile != nil {
		user = cmp.Or(profile.AdminUsername, adminUser)
	}
	return &aks.LinuxProfile{
		AdminUsername: new(user),
		SSH:           &aks.SSHConfiguration{PublicKeys: []*aks.SSHPublicKey{{KeyData: new(string(decoded))}}},
	}
}

func buildSecurityProfile(spec *infrav1.ManagedClusterSecurityProfile) *aks.ManagedClusterSecurityProfile {
	if spec == nil {
		return nil
	}
	out := &aks.ManagedClusterSecurityProfile{}
	if kms := spec.AzureKeyVaultKms; kms != nil {
		out.AzureKeyVaultKms = &aks.AzureKeyVaultKms{
			Enabled: new(kms.Enabled), KeyID: new(kms.KeyID),
			KeyVaultNetworkAccess: toEnum[aks.KeyVaultNetworkAccessTypes](kms.KeyVaultNetworkAccess),
			KeyVaultResourceID:    toString(kms.KeyVaultResourceID),
		}
	}
	if defender := spec.Defender; defender != nil {
		out.Defender = &aks.ManagedClusterSecurityProfileDefender{
			LogAnalyticsWorkspaceResourceID: new(defender.LogAnalyticsWorkspaceResourceID),
			SecurityMonitoring:              &aks.ManagedClusterSecurityProfileDefenderSecurityMonitoring{Enabled: new(defender.SecurityMonitoring.Enabled)},
		}
	}
	if cleaner := spec.ImageCleaner; cleaner != nil {
		out.ImageCleaner = &aks.ManagedClusterSecurityProfileImageCleaner{Enabled: new(cleaner.Enabled),
			IntervalHours: toInt32(cleaner.IntervalHours)}
	}
	if workload := spec.WorkloadIdentity; workload != nil {
		out.WorkloadIdentity = &aks.ManagedClusterSecurityProfileWorkloadIdentity{Enabled: new(workload.Enabled)}
	}
	return out
}
