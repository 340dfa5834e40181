package v1beta1

// AKSAssignedIdentity is the kind of identity that AKS gives an extension.
// +kubebuilder:validation:Enum=SystemAssigned;UserAssigned
type AKSAssignedIdentity string

const (
	// AKSAssignedIdentitySystemAssigned is an identity that is created and deleted with the extension.
	AKSAssignedIdentitySystemAssigned AKSAssignedIdentity = "SystemAssigned"
	// AKSAssignedIdentityUserAssigned is an identity that users created.
	AKSAssignedIdentityUserAssigned AKSAssignedIdentity = "UserAssigned"
)

// ExtensionIdentity is the kind of identity of an extension.
// +kubebuilder:validation:Enum=SystemAssigned
type ExtensionIdentity string

// ExtensionIdentitySystemAssigned is an identity that is created and deleted with the extension.
const ExtensionIdentitySystemAssigned ExtensionIdentity = "SystemAssigned"

// ExtensionScopeType is the scope in which an extension is installed: the cluster or one namespace.
// +kubebuilder:validation:Enum=Cluster;Namespace
type ExtensionScopeType string

const (
	// ExtensionScopeCluster installs an extension for the cluster.
	ExtensionScopeCluster ExtensionScopeType = "Cluster"
	// ExtensionScopeNamespace installs an extension for one namespace.
	ExtensionScopeNamespace ExtensionScopeType = "Namespace"
)

// AKSExtension is an extension of an AKS cluster.
type AKSExtension struct {
	// name is the name of the extension.
	// +required
	Name string `json:"name"`

	// aksAssignedIdentityType is the kind of identity that AKS assigns to the extension: SystemAssigned or
	// UserAssigned.
	// +optional
	AKSAssignedIdentityType AKSAssignedIdentity `json:"aksAssignedIdentityType,omitempty"`

	// autoUpgradeMinorVersion lets Azure upgrade the extension within its release train. The default is true.
	// +optional
	// +kubebuilder:default=true
	AutoUpgradeMinorVersion *bool `json:"autoUpgradeMinorVersion,omitempty"`

	// configurationSettings are the settings of the extension as key-value pairs. At most 1000.
	// +optional
	// +kubebuilder:validation:MaxProperties=1000
	ConfigurationSettings map[string]string `json:"configurationSettings,omitempty"`

	// extensionType is the type of the extension, for example microsoft.flux.
	// +required
	ExtensionType *string `json:"extensionType"`

	// plan is the purchase plan of an extension from Azure Marketplace.
	// +optional
	Plan *ExtensionPlan `json:"plan,omitempty"`

	// releaseTrain is the release train of the extension, for example Stable or Preview. The default is Azure's:
	// Stable.
	// +optional
	ReleaseTrain *string `json:"releaseTrain,omitempty"`

	// scope is the scope in which the extension is installed: the cluster or one namespace.
	// +optional
	Scope *ExtensionScope `json:"scope,omitempty"`

	// version pins the version of the extension. It needs autoUpgradeMinorVersion false.
	// +optional
	Version *string `json:"version,omitempty"`

	// identity is the kind of managed identity of the extension: SystemAssigned.
	// +optional
	Identity ExtensionIdentity `json:"identity,omitempty"`
}

// ExtensionPlan is the purchase plan of an extension from Azure Marketplace.
type ExtensionPlan struct {
	// name is the name of the plan. The default is "<cluster>-<product>".
	// +optional
	Name string `json:"name,omitempty"`

	// product is the ID of the product in Azure Marketplace.
	// +optional
	Product string `json:"product,omitempty"`

	// promotionCode is a promotion code of the publisher.
	// +optional
	PromotionCode string `json:"promotionCode,omitempty"`

	// publisher is the ID of the publisher in Azure Marketplace.
	// +optional
	Publisher string `json:"publisher,omitempty"`

	// version is the version of the product.
	// +optional
	Version string `json:"version,omitempty"`
}

// ExtensionScope is the scope in which an extension is installed.
type ExtensionScope struct {
	// scopeType decides whether the extension has one installation for the whole cluster or one for a namespace.
	// +required
	ScopeType ExtensionScopeType `json:"scopeType"`

	// releaseNamespace is the namespace in which an extension with scopeType Cluster is installed.
	// +optional
	ReleaseNamespace string `json:"releaseNamespace,omitempty"`

	// targetNamespace is the namespace in which an extension with scopeType Namespace is installed.
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`
}

// FleetsMemberClassSpec is the part of a membership in a fleet that all clusters of a ClusterClass have in common.
type FleetsMemberClassSpec struct {
	// group is the update group of the cluster in the fleet. The default is "default".
	// +optional
	// +kubebuilder:default=default
	Group string `json:"group,omitempty"`

	// managerName is the name of the fleet.
	// +required
	ManagerName string `json:"managerName"`

	// managerResourceGroup is the resource group of the fleet.
	// +required
	ManagerResourceGroup string `json:"managerResourceGroup"`
}

// FleetsMember is the membership of an AKS cluster in a fleet of Azure Kubernetes Fleet Manager.
type FleetsMember struct {
	FleetsMemberClassSpec `json:",inline"`

	// name is the name of the member. The default is the name of the Cluster.
	// +optional
	Name string `json:"name,omitempty"`
}
