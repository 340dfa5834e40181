package aks

import (
	"cmp"
	"encoding/base64"
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const (
	// managedIdentity is the client ID of the service principal of clusters that have a managed identity instead.
	managedIdentity = "msi"
	// adminUser is the user on the nodes that an SSH key is for.
	adminUser = "azureuser"
	// kubeletIdentity is the key of the kubelet's identity among those of a cluster.
	kubeletIdentity = "kubeletidentity"
)

// clusterModel is the managed cluster that the spec asks for, without tags and pools.
func clusterModel(in Input, have Observed) aks.ManagedCluster {
	spec := in.ControlPlane.Spec
	properties := &aks.ManagedClusterProperties{
		KubernetesVersion:       new(kubernetesVersion(in, have)),
		DNSPrefix:               dnsPrefix(in, have),
		EnableRBAC:              new(have.Properties.EnableRBAC == nil || *have.Properties.EnableRBAC),
		NodeResourceGroup:       new(wantedNodeResourceGroup(in)),
		NetworkProfile:          networkProfile(in),
		AADProfile:              aadProfile(spec.AADProfile),
		AddonProfiles:           addonProfiles(spec.AddonProfiles),
		APIServerAccessProfile:  apiServerAccessProfile(spec.APIServerAccessProfile),
		AutoScalerProfile:       autoScalerProfile(spec.AutoScalerProfile),
		IdentityProfile:         identityProfile(spec.KubeletUserAssignedIdentity),
		HTTPProxyConfig:         httpProxyConfig(spec.HTTPProxyConfig),
		LinuxProfile:            linuxProfile(spec.SSHPublicKey, have),
		SecurityProfile:         securityProfile(spec.SecurityProfile),
		ServicePrincipalProfile: &aks.ManagedClusterServicePrincipalProfile{ClientID: new(managedIdentity)},
	}
	if spec.AADProfile != nil {
		properties.DisableLocalAccounts = spec.DisableLocalAccounts
	}
	// It cannot be turned off, and AKS turns it on by itself for new versions: not asking for it is not asking against it.
	if issuer := spec.OIDCIssuerProfile; issuer != nil && deref(issuer.Enabled) {
		properties.OidcIssuerProfile = &aks.ManagedClusterOIDCIssuerProfile{Enabled: new(true)}
	}
	if upgrade := spec.AutoUpgradeProfile; upgrade != nil && upgrade.UpgradeChannel != nil {
		properties.AutoUpgradeProfile = &aks.ManagedClusterAutoUpgradeProfile{UpgradeChannel: choice[aks.UpgradeChannel](upgrade.UpgradeChannel)}
	}
	model := aks.ManagedCluster{Location: new(Location(in)), Identity: identity(spec.Identity), Properties: properties}
	if keepsServicePrincipal(in, have) {
		model.Identity, properties.ServicePrincipalProfile = nil, nil
	}
	if spec.SKU != nil {
		model.SKU = &aks.ManagedClusterSKU{Name: new(aks.ManagedClusterSKUNameBase), Tier: new(tier(string(spec.SKU.Tier)))}
	}
	return model
}

// tier is the tier of the control plane; Paid is what Azure once called Standard.
func tier(tier string) aks.ManagedClusterSKUTier {
	if tier == "Paid" {
		return aks.ManagedClusterSKUTierStandard
	}
	return aks.ManagedClusterSKUTier(tier)
}

// kubernetesVersion is the version to ask for: never one below what the control plane runs, as an upgrade channel may
// have raised it.
func kubernetesVersion(in Input, have Observed) string {
	p := have.Properties
	return Alias(highest(in.ControlPlane.Spec.Version, p.CurrentKubernetesVersion), p.KubernetesVersion, p.CurrentKubernetesVersion)
}

// dnsPrefix is the prefix of the API server's name. The one that defaulting fills in asks for nothing where a cluster has
// a name that was made otherwise.
func dnsPrefix(in Input, have Observed) *string {
	prefix := cmp.Or(deref(in.ControlPlane.Spec.DNSPrefix), in.ControlPlane.Name)
	if prefix == in.ControlPlane.Name && have.Exists && have.Properties.DNSPrefix == "" {
		return nil
	}
	return new(prefix)
}

// keepsServicePrincipal tells whether a cluster that was taken over has a service principal and the spec asks for no
// identity: it would be changed for good.
func keepsServicePrincipal(in Input, have Observed) bool {
	client := have.Properties.ServicePrincipalProfile.ClientID
	return in.ControlPlane.Spec.Identity == nil && have.Exists && client != "" && client != managedIdentity
}

func identity(spec *infrav1.Identity) *aks.ManagedClusterIdentity {
	if spec == nil || string(spec.Type) != string(aks.ResourceIdentityTypeUserAssigned) {
		return &aks.ManagedClusterIdentity{Type: new(aks.ResourceIdentityTypeSystemAssigned)}
	}
	return &aks.ManagedClusterIdentity{
		Type: new(aks.ResourceIdentityTypeUserAssigned),
		UserAssignedIdentities: map[string]*aks.ManagedServiceIdentityUserAssignedIdentitiesValue{
			id(spec.UserAssignedIdentityResourceID): {},
		},
	}
}

func identityProfile(kubelet string) map[string]*aks.UserAssignedIdentity {
	if kubelet == "" {
		return nil
	}
	return map[string]*aks.UserAssignedIdentity{kubeletIdentity: {ResourceID: new(id(kubelet))}}
}

func aadProfile(spec *infrav1.AADProfile) *aks.ManagedClusterAADProfile {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterAADProfile{
		Managed: new(spec.Managed), EnableAzureRBAC: new(spec.Managed), AdminGroupObjectIDs: listOf(spec.AdminGroupObjectIDs),
	}
}

func addonProfiles(specs []infrav1.AddonProfile) map[string]*aks.ManagedClusterAddonProfile {
	var out map[string]*aks.ManagedClusterAddonProfile
	for _, spec := range specs {
		if out == nil {
			out = map[string]*aks.ManagedClusterAddonProfile{}
		}
		addon := &aks.ManagedClusterAddonProfile{Enabled: new(spec.Enabled)}
		if len(spec.Config) > 0 {
			addon.Config = mapOf(spec.Config)
		}
		out[spec.Name] = addon
	}
	return out
}

func apiServerAccessProfile(spec *infrav1.APIServerAccessProfile) *aks.ManagedClusterAPIServerAccessProfile {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterAPIServerAccessProfile{
		AuthorizedIPRanges:             listOf(spec.AuthorizedIPRanges),
		EnablePrivateCluster:           spec.EnablePrivateCluster,
		EnablePrivateClusterPublicFQDN: spec.EnablePrivateClusterPublicFQDN,
		PrivateDNSZone:                 word(spec.PrivateDNSZone),
	}
}

func autoScalerProfile(spec *infrav1.AutoScalerProfile) *aks.ManagedClusterPropertiesAutoScalerProfile {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterPropertiesAutoScalerProfile{
		BalanceSimilarNodeGroups:      word(spec.BalanceSimilarNodeGroups),
		Expander:                      choice[aks.Expander](spec.Expander),
		MaxEmptyBulkDelete:            word(spec.MaxEmptyBulkDelete),
		MaxGracefulTerminationSec:     word(spec.MaxGracefulTerminationSec),
		MaxNodeProvisionTime:          word(spec.MaxNodeProvisionTime),
		MaxTotalUnreadyPercentage:     word(spec.MaxTotalUnreadyPercentage),
		NewPodScaleUpDelay:            word(spec.NewPodScaleUpDelay),
		OkTotalUnreadyCount:           word(spec.OkTotalUnreadyCount),
		ScanInterval:                  word(spec.ScanInterval),
		ScaleDownDelayAfterAdd:        word(spec.ScaleDownDelayAfterAdd),
		ScaleDownDelayAfterDelete:     word(spec.ScaleDownDelayAfterDelete),
		ScaleDownDelayAfterFailure:    word(spec.ScaleDownDelayAfterFailure),
		ScaleDownUnneededTime:         word(spec.ScaleDownUnneededTime),
		ScaleDownUnreadyTime:          word(spec.ScaleDownUnreadyTime),
		ScaleDownUtilizationThreshold: word(spec.ScaleDownUtilizationThreshold),
		SkipNodesWithLocalStorage:     word(spec.SkipNodesWithLocalStorage),
		SkipNodesWithSystemPods:       word(spec.SkipNodesWithSystemPods),
	}
}

func httpProxyConfig(spec *infrav1.HTTPProxyConfig) *aks.ManagedClusterHTTPProxyConfig {
	if spec == nil {
		return nil
	}
	return &aks.ManagedClusterHTTPProxyConfig{
		HTTPProxy: word(spec.HTTPProxy), HTTPSProxy: word(spec.HTTPSProxy), NoProxy: listOf(spec.NoProxy), TrustedCa: word(spec.TrustedCA),
	}
}

// linuxProfile is the SSH key of the nodes, byte by byte: AKS keeps a new line at its end, and lets nobody change it
// (recording Test_AKS_Fleet_20250301_CRUD). So a key that is the same otherwise stays as it is; so does the user it is
// for, about whom the spec says nothing.
func linuxProfile(encoded *string, have Observed) *aks.LinuxProfile {
	if deref(encoded) == "" {
		return nil
	}
	line, _ := base64.StdEncoding.DecodeString(*encoded) // Check has seen it.
	user, key := adminUser, string(line)
	if profile := have.Properties.LinuxProfile; profile != nil {
		user = cmp.Or(profile.AdminUsername, adminUser)
		for _, other := range profile.SSH.PublicKeys {
			if strings.TrimSpace(other.KeyData) == strings.TrimSpace(key) {
				key = other.KeyData
			}
		}
	}
	return &aks.LinuxProfile{
		AdminUsername: new(user),
		SSH:           &aks.SSHConfiguration{PublicKeys: []*aks.SSHPublicKey{{KeyData: new(key)}}},
	}
}

func securityProfile(spec *infrav1.ManagedClusterSecurityProfile) *aks.ManagedClusterSecurityProfile {
	if spec == nil {
		return nil
	}
	out := &aks.ManagedClusterSecurityProfile{}
	if kms := spec.AzureKeyVaultKms; kms != nil {
		out.AzureKeyVaultKms = &aks.AzureKeyVaultKms{
			Enabled: new(kms.Enabled), KeyID: new(kms.KeyID),
			KeyVaultNetworkAccess: choice[aks.KeyVaultNetworkAccessTypes](kms.KeyVaultNetworkAccess),
			KeyVaultResourceID:    word(kms.KeyVaultResourceID),
		}
	}
	if defender := spec.Defender; defender != nil {
		out.Defender = &aks.ManagedClusterSecurityProfileDefender{
			LogAnalyticsWorkspaceResourceID: new(defender.LogAnalyticsWorkspaceResourceID),
			SecurityMonitoring:              &aks.ManagedClusterSecurityProfileDefenderSecurityMonitoring{Enabled: new(defender.SecurityMonitoring.Enabled)},
		}
	}
	if cleaner := spec.ImageCleaner; cleaner != nil {
		out.ImageCleaner = &aks.ManagedClusterSecurityProfileImageCleaner{Enabled: new(cleaner.Enabled), IntervalHours: number(cleaner.IntervalHours)}
	}
	if workload := spec.WorkloadIdentity; workload != nil {
		out.WorkloadIdentity = &aks.ManagedClusterSecurityProfileWorkloadIdentity{Enabled: new(workload.Enabled)}
	}
	return out
}
