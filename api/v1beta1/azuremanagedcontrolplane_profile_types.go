package v1beta1

// AADProfile lets users of Microsoft Entra ID into an AKS cluster.
type AADProfile struct {
	// managed turns AKS-managed Microsoft Entra integration and Azure RBAC on. It cannot be turned off again.
	// +required
	Managed bool `json:"managed"`

	// adminGroupObjectIDs are the object IDs of the groups whose members administrate the cluster.
	// +required
	// +kubebuilder:validation:MaxItems=1000
	AdminGroupObjectIDs []string `json:"adminGroupObjectIDs"`
}

// AddonProfile is an add-on of AKS.
type AddonProfile struct {
	// name is AKS's name of the add-on, for example omsagent, azurepolicy or azureKeyvaultSecretsProvider.
	// +required
	Name string `json:"name"`

	// config are settings of the add-on.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	Config map[string]string `json:"config,omitempty"`

	// enabled turns the add-on on or off.
	// +required
	Enabled bool `json:"enabled"`
}

// AKSSku is the SKU of an AKS cluster.
type AKSSku struct {
	// tier is the tier: Free, or Standard with an uptime SLA. Paid is the old name of Standard.
	// +required
	// +kubebuilder:default=Free
	Tier AzureManagedControlPlaneSkuTier `json:"tier"`
}

// AzureManagedControlPlaneSkuTier is the tier of an AKS cluster.
// +kubebuilder:validation:Enum=Free;Paid;Standard
type AzureManagedControlPlaneSkuTier string

const (
	// FreeManagedControlPlaneTier is the tier without an SLA.
	FreeManagedControlPlaneTier AzureManagedControlPlaneSkuTier = "Free"
	// PaidManagedControlPlaneTier is the old name of the tier Standard.
	PaidManagedControlPlaneTier AzureManagedControlPlaneSkuTier = "Paid"
	// StandardManagedControlPlaneTier is the tier with an SLA.
	StandardManagedControlPlaneTier AzureManagedControlPlaneSkuTier = "Standard"
)

// ManagedControlPlaneIdentityType is the kind of managed identity of an AKS control plane.
// +kubebuilder:validation:Enum=SystemAssigned;UserAssigned
type ManagedControlPlaneIdentityType string

const (
	// ManagedControlPlaneIdentityTypeSystemAssigned is an identity that lives and dies with the cluster.
	ManagedControlPlaneIdentityTypeSystemAssigned ManagedControlPlaneIdentityType = "SystemAssigned"
	// ManagedControlPlaneIdentityTypeUserAssigned is an identity of the user.
	ManagedControlPlaneIdentityTypeUserAssigned ManagedControlPlaneIdentityType = "UserAssigned"
)

// Identity is the managed identity of an AKS control plane.
type Identity struct {
	// type is the kind of identity.
	// +optional
	// +kubebuilder:default=SystemAssigned
	Type ManagedControlPlaneIdentityType `json:"type,omitempty"`

	// userAssignedIdentityResourceID is the Azure resource ID of the identity of type UserAssigned.
	// +optional
	UserAssignedIdentityResourceID string `json:"userAssignedIdentityResourceID,omitempty"`
}

// OIDCIssuerProfile is the issuer of an AKS cluster's service account tokens.
type OIDCIssuerProfile struct {
	// enabled turns the issuer on. It cannot be turned off again.
	// +optional
	// +kubebuilder:default=false
	Enabled *bool `json:"enabled,omitempty"`
}

// UpgradeChannel is how far AKS upgrades a cluster by itself.
// +kubebuilder:validation:Enum=node-image;none;patch;rapid;stable
type UpgradeChannel string

const (
	// UpgradeChannelNodeImage upgrades node images only.
	UpgradeChannelNodeImage UpgradeChannel = "node-image"
	// UpgradeChannelNone upgrades nothing.
	UpgradeChannelNone UpgradeChannel = "none"
	// UpgradeChannelPatch upgrades to the latest patch of the minor version.
	UpgradeChannelPatch UpgradeChannel = "patch"
	// UpgradeChannelRapid upgrades to the latest patch of the latest minor version.
	UpgradeChannelRapid UpgradeChannel = "rapid"
	// UpgradeChannelStable upgrades to the latest patch of the minor version before the latest.
	UpgradeChannelStable UpgradeChannel = "stable"
)

// ManagedClusterAutoUpgradeProfile lets AKS upgrade a cluster.
type ManagedClusterAutoUpgradeProfile struct {
	// upgradeChannel is how far AKS upgrades the cluster by itself.
	// +optional
	UpgradeChannel *UpgradeChannel `json:"upgradeChannel,omitempty"`
}

// ManagedClusterSecurityProfile describes the security of an AKS cluster.
type ManagedClusterSecurityProfile struct {
	// azureKeyVaultKms encrypts the cluster's secrets with a key in Azure Key Vault.
	// +optional
	AzureKeyVaultKms *AzureKeyVaultKms `json:"azureKeyVaultKms,omitempty"`

	// defender is Microsoft Defender for Containers.
	// +optional
	Defender *ManagedClusterSecurityProfileDefender `json:"defender,omitempty"`

	// imageCleaner removes unused images from nodes.
	// +optional
	ImageCleaner *ManagedClusterSecurityProfileImageCleaner `json:"imageCleaner,omitempty"`

	// workloadIdentity lets pods sign in to Azure with their service accounts. It needs the OIDC issuer.
	// +optional
	WorkloadIdentity *ManagedClusterSecurityProfileWorkloadIdentity `json:"workloadIdentity,omitempty"`
}

// ManagedClusterSecurityProfileDefender is Microsoft Defender for Containers.
type ManagedClusterSecurityProfileDefender struct {
	// logAnalyticsWorkspaceResourceID is the Azure resource ID of the Log Analytics workspace to write to.
	// +required
	LogAnalyticsWorkspaceResourceID string `json:"logAnalyticsWorkspaceResourceID"`

	// securityMonitoring is the threat detection.
	// +required
	SecurityMonitoring ManagedClusterSecurityProfileDefenderSecurityMonitoring `json:"securityMonitoring"`
}

// ManagedClusterSecurityProfileDefenderSecurityMonitoring is the threat detection of Microsoft Defender.
type ManagedClusterSecurityProfileDefenderSecurityMonitoring struct {
	// enabled turns threat detection on or off.
	// +required
	Enabled bool `json:"enabled"`
}

// ManagedClusterSecurityProfileImageCleaner removes unused images from nodes.
type ManagedClusterSecurityProfileImageCleaner struct {
	// enabled turns the image cleaner on or off.
	// +required
	Enabled bool `json:"enabled"`

	// intervalHours is how often it runs.
	// +optional
	// +kubebuilder:validation:Minimum=24
	// +kubebuilder:validation:Maximum=2160
	IntervalHours *int `json:"intervalHours,omitempty"`
}

// ManagedClusterSecurityProfileWorkloadIdentity lets pods sign in to Azure with their service accounts.
type ManagedClusterSecurityProfileWorkloadIdentity struct {
	// enabled turns workload identity on or off.
	// +required
	Enabled bool `json:"enabled"`
}

// KeyVaultNetworkAccessTypes is how AKS reaches a key vault.
type KeyVaultNetworkAccessTypes string

const (
	// KeyVaultNetworkAccessTypesPublic is over the internet.
	KeyVaultNetworkAccessTypesPublic KeyVaultNetworkAccessTypes = "Public"
	// KeyVaultNetworkAccessTypesPrivate is over a private link.
	KeyVaultNetworkAccessTypesPrivate KeyVaultNetworkAccessTypes = "Private"
)

// AzureKeyVaultKms encrypts the secrets of an AKS cluster with a key in Azure Key Vault.
type AzureKeyVaultKms struct {
	// enabled turns encryption on or off.
	// +required
	Enabled bool `json:"enabled"`

	// keyID is the identifier of the key, with its version: https://<vault>.vault.azure.net/keys/<key>/<version>.
	// +required
	KeyID string `json:"keyID"`

	// keyVaultNetworkAccess is how AKS reaches the key vault: Public or Private.
	// +optional
	// +kubebuilder:default=Public
	KeyVaultNetworkAccess *KeyVaultNetworkAccessTypes `json:"keyVaultNetworkAccess,omitempty"`

	// keyVaultResourceID is the Azure resource ID of the key vault. It is needed with Private and forbidden with Public.
	// +optional
	KeyVaultResourceID *string `json:"keyVaultResourceID,omitempty"`
}
