package v1beta1

// AADProfile integrates an AKS cluster with Microsoft Entra ID.
type AADProfile struct {
	// managed turns on AKS-managed Microsoft Entra integration and Azure RBAC. It cannot be turned off again.
	// +required
	Managed bool `json:"managed"`

	// adminGroupObjectIDs are the object IDs of the Microsoft Entra groups whose members are cluster administrators. At
	// most 1000.
	// +required
	// +kubebuilder:validation:MaxItems=1000
	AdminGroupObjectIDs []string `json:"adminGroupObjectIDs"`
}

// AddonProfile is an add-on of AKS.
type AddonProfile struct {
	// name is AKS's name of the add-on, for example omsagent, azurepolicy or azureKeyvaultSecretsProvider.
	// +required
	Name string `json:"name"`

	// config has the settings of the add-on as key-value pairs. At most 100.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	Config map[string]string `json:"config,omitempty"`

	// enabled turns the add-on on (true) or off (false).
	// +required
	Enabled bool `json:"enabled"`
}

// AKSSku is the SKU of an AKS cluster.
type AKSSku struct {
	// tier is Free (the default) or Standard, which has an uptime SLA. Paid is the deprecated name of Standard.
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
	// PaidManagedControlPlaneTier is the deprecated name of the tier Standard.
	PaidManagedControlPlaneTier AzureManagedControlPlaneSkuTier = "Paid"
	// StandardManagedControlPlaneTier is the tier with an SLA.
	StandardManagedControlPlaneTier AzureManagedControlPlaneSkuTier = "Standard"
)

// ManagedControlPlaneIdentityType is the kind of managed identity of an AKS control plane.
// +kubebuilder:validation:Enum=SystemAssigned;UserAssigned
type ManagedControlPlaneIdentityType string

const (
	// ManagedControlPlaneIdentityTypeSystemAssigned is an identity that is created and deleted with the cluster.
	ManagedControlPlaneIdentityTypeSystemAssigned ManagedControlPlaneIdentityType = "SystemAssigned"
	// ManagedControlPlaneIdentityTypeUserAssigned is an identity that users created.
	ManagedControlPlaneIdentityTypeUserAssigned ManagedControlPlaneIdentityType = "UserAssigned"
)

// Identity is the managed identity of an AKS control plane.
type Identity struct {
	// type is SystemAssigned (the default) or UserAssigned.
	// +optional
	// +kubebuilder:default=SystemAssigned
	Type ManagedControlPlaneIdentityType `json:"type,omitempty"`

	// userAssignedIdentityResourceID is the Azure resource ID of the managed identity for the type UserAssigned.
	// +optional
	UserAssignedIdentityResourceID string `json:"userAssignedIdentityResourceID,omitempty"`
}

// OIDCIssuerProfile is the issuer of an AKS cluster's service account tokens.
type OIDCIssuerProfile struct {
	// enabled turns the OIDC issuer on. The default is false. It cannot be turned off again.
	// +optional
	// +kubebuilder:default=false
	Enabled *bool `json:"enabled,omitempty"`
}

// UpgradeChannel selects the upgrades that AKS does automatically.
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

// ManagedClusterAutoUpgradeProfile configures automatic upgrades by AKS.
type ManagedClusterAutoUpgradeProfile struct {
	// upgradeChannel selects the upgrades that AKS does automatically: node-image, none, patch, rapid or stable.
	// +optional
	UpgradeChannel *UpgradeChannel `json:"upgradeChannel,omitempty"`
}

// ManagedClusterSecurityProfile has the security settings of an AKS cluster.
type ManagedClusterSecurityProfile struct {
	// azureKeyVaultKms encrypts the Secrets of the cluster with a key in Azure Key Vault.
	// +optional
	AzureKeyVaultKms *AzureKeyVaultKms `json:"azureKeyVaultKms,omitempty"`

	// defender configures Microsoft Defender for Containers.
	// +optional
	Defender *ManagedClusterSecurityProfileDefender `json:"defender,omitempty"`

	// imageCleaner configures the removal of unused images from nodes.
	// +optional
	ImageCleaner *ManagedClusterSecurityProfileImageCleaner `json:"imageCleaner,omitempty"`

	// workloadIdentity lets pods sign in to Azure with their Kubernetes service accounts. It needs
	// oidcIssuerProfile.enabled true.
	// +optional
	WorkloadIdentity *ManagedClusterSecurityProfileWorkloadIdentity `json:"workloadIdentity,omitempty"`
}

// ManagedClusterSecurityProfileDefender configures Microsoft Defender for Containers.
type ManagedClusterSecurityProfileDefender struct {
	// logAnalyticsWorkspaceResourceID is the Azure resource ID of the Log Analytics workspace that gets the security
	// data.
	// +required
	LogAnalyticsWorkspaceResourceID string `json:"logAnalyticsWorkspaceResourceID"`

	// securityMonitoring configures threat detection.
	// +required
	SecurityMonitoring ManagedClusterSecurityProfileDefenderSecurityMonitoring `json:"securityMonitoring"`
}

// ManagedClusterSecurityProfileDefenderSecurityMonitoring configures the threat detection of Microsoft Defender.
type ManagedClusterSecurityProfileDefenderSecurityMonitoring struct {
	// enabled turns threat detection on or off.
	// +required
	Enabled bool `json:"enabled"`
}

// ManagedClusterSecurityProfileImageCleaner configures the removal of unused images from nodes.
type ManagedClusterSecurityProfileImageCleaner struct {
	// enabled turns the image cleaner on or off.
	// +required
	Enabled bool `json:"enabled"`

	// intervalHours is the number of hours between two runs of the image cleaner, 24 to 2160.
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

// KeyVaultNetworkAccessTypes is the network access of AKS to a key vault.
type KeyVaultNetworkAccessTypes string

const (
	// KeyVaultNetworkAccessTypesPublic is access over the internet.
	KeyVaultNetworkAccessTypesPublic KeyVaultNetworkAccessTypes = "Public"
	// KeyVaultNetworkAccessTypesPrivate is access over a private link.
	KeyVaultNetworkAccessTypesPrivate KeyVaultNetworkAccessTypes = "Private"
)

// AzureKeyVaultKms encrypts the Secrets of an AKS cluster with a key in Azure Key Vault.
type AzureKeyVaultKms struct {
	// enabled turns encryption on or off.
	// +required
	Enabled bool `json:"enabled"`

	// keyID is the URL of the key with its version: https://<vault>.vault.azure.net/keys/<key>/<version>.
	// +required
	KeyID string `json:"keyID"`

	// keyVaultNetworkAccess is the network access of AKS to the key vault: Public (the default) or Private.
	// +optional
	// +kubebuilder:default=Public
	KeyVaultNetworkAccess *KeyVaultNetworkAccessTypes `json:"keyVaultNetworkAccess,omitempty"`

	// keyVaultResourceID is the Azure resource ID of the key vault. It is required with keyVaultNetworkAccess Private
	// and forbidden with Public.
	// +optional
	KeyVaultResourceID *string `json:"keyVaultResourceID,omitempty"`
}
