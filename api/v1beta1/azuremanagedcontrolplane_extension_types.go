package v1beta1

// AKSAssignedIdentity is the kind of identity that AKS gives an extension.
// +kubebuilder:validation:Enum=SystemAssigned;UserAssigned
type AKSAssignedIdentity string

const (
	// AKSAssignedIdentitySystemAssigned is an identity that lives and dies with the extension.
	AKSAssignedIdentitySystemAssigned AKSAssignedIdentity = "SystemAssigned"
	// AKSAssignedIdentityUserAssigned is an identity of the user.
	AKSAssignedIdentityUserAssigned AKSAssignedIdentity = "UserAssigned"
)

// ExtensionIdentity is the kind of identity of an extension.
// +kubebuilder:validation:Enum=SystemAssigned
type ExtensionIdentity string

// ExtensionIdentitySystemAssigned is an identity that lives and dies with the extension.
const ExtensionIdentitySystemAssigned ExtensionIdentity = "SystemAssigned"

// ExtensionScopeType is whether an extension is installed for the cluster or for a namespace.
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

	// aksAssignedIdentityType is the kind of identity that AKS gives the extension.
	// +optional
	AKSAssignedIdentityType AKSAssignedIdentity `json:"aksAssignedIdentityType,omitempty"`

	// autoUpgradeMinorVersion lets Azure upgrade the extension within its release train.
	// +optional
	// +kubebuilder:default=true
	AutoUpgradeMinorVersion *bool `json:"autoUpgradeMinorVersion,omitempty"`

	// configurationSettings are settings of the extension.
	// +optional
	// +kubebuilder:validation:MaxProperties=1000
	ConfigurationSettings map[string]string `json:"configurationSettings,omitempty"`

	// extensionType is the type of the extension, for example microsoft.flux.
	// +required
	ExtensionType *string `json:"extensionType"`

	// plan is the plan of an extension from Azure Marketplace.
	// +optional
	Plan *ExtensionPlan `json:"plan,omitempty"`

	// releaseTrain is the release train, for example Stable or Preview.
	// +optional
	ReleaseTrain *string `json:"releaseTrain,omitempty"`

	// scope is where the extension is installed.
	// +optional
	Scope *ExtensionScope `json:"scope,omitempty"`

	// version pins the version of an extension with autoUpgradeMinorVersion false.
	// +optional
	Version *string `json:"version,omitempty"`

	// identity is the kind of identity of the extension.
	// +optional
	Identity ExtensionIdentity `json:"identity,omitempty"`
}

// ExtensionPlan is the plan of an extension from Azure Marketplace.
type ExtensionPlan struct {
	// name is the name of the plan. The default is "<cluster>-<product>".
	// +optional
	Name string `json:"name,omitempty"`

	// product is the product that is bought.
	// +optional
	Product string `json:"product,omitempty"`

	// promotionCode is a promotion code of the publisher.
	// +optional
	PromotionCode string `json:"promotionCode,omitempty"`

	// publisher is who sells the product.
	// +optional
	Publisher string `json:"publisher,omitempty"`

	// version is the version of the product.
	// +optional
	Version string `json:"version,omitempty"`
}

// ExtensionScope is where an extension is installed.
type ExtensionScope struct {
	// scopeType is whether the extension is installed for the cluster or for a namespace.
	// +required
	ScopeType ExtensionScopeType `json:"scopeType"`

	// releaseNamespace is the namespace that an extension with scope Cluster is installed in.
	// +optional
	ReleaseNamespace string `json:"releaseNamespace,omitempty"`

	// targetNamespace is the namespace of an extension with scope Namespace.
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`
}

// FleetsMemberClassSpec is the part of a membership in a fleet that clusters of one class share.
type FleetsMemberClassSpec struct {
	// group is the update group of the cluster.
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
