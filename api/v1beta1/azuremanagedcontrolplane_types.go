package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureManagedControlPlaneClassSpec is the part of an AKS cluster that clusters of one class share.
type AzureManagedControlPlaneClassSpec struct {
	// machineTemplate has no effect: the control plane of an AKS cluster has no machines.
	// +optional
	MachineTemplate *AzureManagedControlPlaneMachineTemplate `json:"machineTemplate,omitempty"`

	// version is the Kubernetes version, for example v1.33.2.
	// +required
	// +kubebuilder:validation:MinLength=2
	Version string `json:"version"`

	// resourceGroupName is the resource group of the cluster. The default is the name of the Cluster. An existing group is
	// used and never deleted.
	// +optional
	ResourceGroupName string `json:"resourceGroupName"`

	// virtualNetwork is the network of the nodes. An existing one is used as it is.
	// +optional
	VirtualNetwork ManagedControlPlaneVirtualNetwork `json:"virtualNetwork,omitempty,omitzero"`

	// subscriptionID is the Azure subscription of the cluster. The default is the manager's environment variable
	// AZURE_SUBSCRIPTION_ID.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// location is the Azure region of the cluster.
	// +required
	Location string `json:"location"`

	// additionalTags are tags for the Azure resources of the cluster, beside those the provider sets.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// networkPlugin gives pods their network: azure (Azure CNI), kubenet, or none for one of your own.
	// +optional
	// +kubebuilder:validation:Enum=azure;kubenet;none
	// +kubebuilder:default=azure
	NetworkPlugin *string `json:"networkPlugin,omitempty"`

	// networkPluginMode is overlay for pods with addresses from a range that is not the virtual network's.
	// +optional
	NetworkPluginMode *NetworkPluginMode `json:"networkPluginMode,omitempty"`

	// networkPolicy enforces network policies.
	// +optional
	// +kubebuilder:validation:Enum=azure;calico;cilium
	NetworkPolicy *string `json:"networkPolicy,omitempty"`

	// networkDataplane forwards the traffic of pods.
	// +optional
	NetworkDataplane *NetworkDataplaneType `json:"networkDataplane,omitempty"`

	// outboundType is how nodes reach the internet. The default is AKS's: loadBalancer.
	// +optional
	OutboundType *ManagedControlPlaneOutboundType `json:"outboundType,omitempty"`

	// dnsServiceIP is the address of the cluster's DNS service, within the Cluster's service range. The default is the tenth
	// one in it.
	// +optional
	DNSServiceIP *string `json:"dnsServiceIP,omitempty"`

	// loadBalancerSKU is the SKU of the cluster's load balancers. AKS has retired Basic.
	// +optional
	// +kubebuilder:validation:Enum=Basic;Standard
	// +kubebuilder:default=Standard
	LoadBalancerSKU *string `json:"loadBalancerSKU,omitempty"`

	// identityRef names the AzureClusterIdentity with which the provider reconciles the cluster. It must be there.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// aadProfile lets users of Microsoft Entra ID in.
	// +optional
	AADProfile *AADProfile `json:"aadProfile,omitempty"`

	// addonProfiles turn AKS's add-ons on.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	AddonProfiles []AddonProfile `json:"addonProfiles,omitempty"`

	// sku is the tier of the cluster.
	// +optional
	SKU *AKSSku `json:"sku,omitempty"`

	// loadBalancerProfile describes the load balancer for outbound connections.
	// +optional
	LoadBalancerProfile *LoadBalancerProfile `json:"loadBalancerProfile,omitempty"`

	// apiServerAccessProfile tells who reaches the API server.
	// +optional
	APIServerAccessProfile *APIServerAccessProfile `json:"apiServerAccessProfile,omitempty"`

	// autoscalerProfile tunes the cluster autoscaler of the pools.
	// +optional
	AutoScalerProfile *AutoScalerProfile `json:"autoscalerProfile,omitempty"`

	// azureEnvironment is the Azure cloud: AzurePublicCloud (the default), AzureChinaCloud or AzureUSGovernmentCloud.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`

	// identity is the managed identity of the control plane. The default is a system-assigned one.
	// +optional
	Identity *Identity `json:"identity,omitempty"`

	// kubeletUserAssignedIdentity is the Azure resource ID of the kubelets' managed identity. AKS makes one by default.
	// +optional
	KubeletUserAssignedIdentity string `json:"kubeletUserAssignedIdentity,omitempty"`

	// httpProxyConfig is the HTTP proxy of the nodes.
	// +optional
	HTTPProxyConfig *HTTPProxyConfig `json:"httpProxyConfig,omitempty"`

	// oidcIssuerProfile is the issuer of the cluster's service account tokens.
	// +optional
	OIDCIssuerProfile *OIDCIssuerProfile `json:"oidcIssuerProfile,omitempty"`

	// disableLocalAccounts leaves users of Microsoft Entra ID as the only ones. It needs aadProfile.
	// +optional
	DisableLocalAccounts *bool `json:"disableLocalAccounts,omitempty"`

	// autoUpgradeProfile lets AKS upgrade the cluster.
	// +optional
	AutoUpgradeProfile *ManagedClusterAutoUpgradeProfile `json:"autoUpgradeProfile,omitempty"`

	// securityProfile describes the security of the cluster.
	// +optional
	SecurityProfile *ManagedClusterSecurityProfile `json:"securityProfile,omitempty"`

	// extensions are extensions of the cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	Extensions []AKSExtension `json:"extensions,omitempty"`

	// asoManagedClusterPatches are JSON merge patches, in JSON or YAML, for what the fields here do not cover. They are
	// written for the ManagedCluster of the Azure Service Operator, and applied in order after everything else.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	ASOManagedClusterPatches []string `json:"asoManagedClusterPatches,omitempty"`

	// enablePreviewFeatures speaks the preview version of AKS's API, so that patches can have preview features.
	// +optional
	// +kubebuilder:default=false
	EnablePreviewFeatures *bool `json:"enablePreviewFeatures,omitempty"`
}

// AzureManagedControlPlaneMachineTemplate has no fields: the control plane of an AKS cluster has no machines.
type AzureManagedControlPlaneMachineTemplate struct{}

// AzureManagedControlPlaneSpec describes an AKS cluster and what it needs around it. The AKS cluster is called as the
// AzureManagedControlPlane.
type AzureManagedControlPlaneSpec struct {
	AzureManagedControlPlaneClassSpec `json:",inline"`

	// nodeResourceGroupName is the resource group that AKS makes for the nodes. The default is
	// "MC_<resource group>_<cluster>_<location>".
	// +optional
	NodeResourceGroupName string `json:"nodeResourceGroupName,omitempty"`

	// controlPlaneEndpoint is where the API server is reached. The provider sets it, and replaces one that is given.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// sshPublicKey is the SSH public key of the user azureuser on the nodes: a line of an authorized_keys file, in base64.
	// "" stands for a key that nobody can use; left out, the nodes have none.
	// +optional
	SSHPublicKey *string `json:"sshPublicKey,omitempty"`

	// dnsPrefix starts the DNS name of the API server. The default is the name of the AzureManagedControlPlane.
	// +optional
	DNSPrefix *string `json:"dnsPrefix,omitempty"`

	// fleetsMember makes the cluster a member of a fleet of Azure Kubernetes Fleet Manager.
	// +optional
	FleetsMember *FleetsMember `json:"fleetsMember,omitempty"`
}

// AzureManagedControlPlaneStatus is the state of an AKS cluster.
type AzureManagedControlPlaneStatus struct {
	ObservedStatus `json:",inline"`

	// initialization tells how far the first provisioning is.
	// +optional
	Initialization ControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// conditions tell the state of the parts of the cluster.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// versions are the Kubernetes versions of the control plane: one, as AKS runs it.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// version is the Kubernetes version that the control plane runs, for readers that do not know versions.
	// +optional
	Version string `json:"version,omitempty"`

	// autoUpgradeVersion is the Kubernetes version to which AKS has upgraded the cluster by spec.autoUpgradeProfile.
	// +optional
	// +kubebuilder:validation:MinLength=2
	AutoUpgradeVersion string `json:"autoUpgradeVersion,omitempty"`

	// externalManagedControlPlane is true: the control plane has no nodes.
	// +optional
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// ready mirrors initialization.controlPlaneInitialized, for scripts written before there was that.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// initialized mirrors initialization.controlPlaneInitialized, for scripts written before there was that.
	// +optional
	Initialized bool `json:"initialized,omitempty"`

	// oidcIssuerProfile is the issuer of the cluster's service account tokens.
	// +optional
	OIDCIssuerProfile *OIDCIssuerProfileStatus `json:"oidcIssuerProfile,omitempty"`

	// resources are the Azure resources of the cluster and where they stand.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
}

// ControlPlaneInitializationStatus tells how far the first provisioning of a control plane is. Cluster API reads it.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneInitializationStatus struct {
	// controlPlaneInitialized is true once the API server accepts requests for the first time. It stays true whatever
	// happens later.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// OIDCIssuerProfileStatus is the issuer of a cluster's service account tokens.
type OIDCIssuerProfileStatus struct {
	// issuerURL is the URL of the issuer.
	// +optional
	IssuerURL *string `json:"issuerURL,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremanagedcontrolplanes,scope=Namespaced,categories=cluster-api,shortName=amcp
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureManagedControlPlane belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +kubebuilder:printcolumn:name="Version",type="string",priority=1,JSONPath=".status.version",description="Kubernetes version that the control plane runs"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether the provider leaves the object alone"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedControlPlane was created"

// AzureManagedControlPlane is an AKS cluster without its pools, and the resource group and network around it.
type AzureManagedControlPlane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="(!has(self.azureEnvironment) || self.azureEnvironment in ['', 'AzurePublicCloud']) == (!has(oldSelf.azureEnvironment) || oldSelf.azureEnvironment in ['', 'AzurePublicCloud']) && ((!has(self.azureEnvironment) || self.azureEnvironment in ['', 'AzurePublicCloud']) || self.azureEnvironment == oldSelf.azureEnvironment)",message="azureEnvironment cannot change, because resources cannot move between clouds; make a new cluster",fieldPath=".azureEnvironment",reason="FieldValueForbidden"
	// +capz:immutable:field=".networkPlugin",default="'azure'",because="after the AKS cluster was made; make a new one"
	// +kubebuilder:validation:XValidation:rule="(has(self.networkPlugin) ? self.networkPlugin : 'azure') == (has(oldSelf.networkPlugin) ? oldSelf.networkPlugin : 'azure')",message="networkPlugin cannot change after the AKS cluster was made; make a new one",fieldPath=".networkPlugin",reason="FieldValueForbidden"
	// +capz:immutable:field=".loadBalancerSKU",default="'Standard'",because="after the AKS cluster was made; make a new one"
	// +kubebuilder:validation:XValidation:rule="(has(self.loadBalancerSKU) ? self.loadBalancerSKU : 'Standard') == (has(oldSelf.loadBalancerSKU) ? oldSelf.loadBalancerSKU : 'Standard')",message="loadBalancerSKU cannot change after the AKS cluster was made; make a new one",fieldPath=".loadBalancerSKU",reason="FieldValueForbidden"
	// +capz:immutable:field=".networkDataplane",default="'azure'",because="after the AKS cluster was made; make a new one"
	// +kubebuilder:validation:XValidation:rule="(has(self.networkDataplane) ? self.networkDataplane : 'azure') == (has(oldSelf.networkDataplane) ? oldSelf.networkDataplane : 'azure')",message="networkDataplane cannot change after the AKS cluster was made; make a new one",fieldPath=".networkDataplane",reason="FieldValueForbidden"
	// +capz:immutable:field=".dnsServiceIP",default="''",because="after the AKS cluster was made; make a new one"
	// +kubebuilder:validation:XValidation:rule="(has(self.dnsServiceIP) ? self.dnsServiceIP : '') == (has(oldSelf.dnsServiceIP) ? oldSelf.dnsServiceIP : '')",message="dnsServiceIP cannot change after the AKS cluster was made; make a new one",fieldPath=".dnsServiceIP",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.oidcIssuerProfile) && has(oldSelf.oidcIssuerProfile.enabled) && oldSelf.oidcIssuerProfile.enabled) || (has(self.oidcIssuerProfile) && has(self.oidcIssuerProfile.enabled) && self.oidcIssuerProfile.enabled)",message="the OIDC issuer cannot be turned off again",fieldPath=".oidcIssuerProfile.enabled",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="has(self.identityRef) || oldSelf.hasValue() && !oldSelf.?identityRef.hasValue()",message="name the AzureClusterIdentity to use",fieldPath=".identityRef",reason="FieldValueRequired",optionalOldSelf=true
	Spec AzureManagedControlPlaneSpec `json:"spec,omitempty,omitzero"`

	Status AzureManagedControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *AzureManagedControlPlane) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *AzureManagedControlPlane) SetConditions(conditions []metav1.Condition) {
	c.Status.Conditions = conditions
}

// GetObserved tells what of the object the status is about.
func (c *AzureManagedControlPlane) GetObserved() *ObservedStatus { return &c.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureManagedControlPlaneList is a list of AzureManagedControlPlanes.
type AzureManagedControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureManagedControlPlane `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureManagedControlPlane{}, &AzureManagedControlPlaneList{})
}
