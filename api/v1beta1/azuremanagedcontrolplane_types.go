package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureManagedControlPlaneClassSpec is the part of an AKS cluster that all clusters of a ClusterClass have in common.
type AzureManagedControlPlaneClassSpec struct {
	// machineTemplate has no effect, because the control plane of an AKS cluster has no machines.
	// +optional
	MachineTemplate *AzureManagedControlPlaneMachineTemplate `json:"machineTemplate,omitempty"`

	// version is the Kubernetes version of the control plane, for example v1.33.2. It cannot be lowered.
	// +required
	// +kubebuilder:validation:MinLength=2
	Version string `json:"version"`

	// resourceGroupName is the name of the resource group of the cluster. The default is the name of the Cluster. The
	// provider creates the group if it does not exist. If the group exists already, the provider uses it and never deletes it.
	// +optional
	ResourceGroupName string `json:"resourceGroupName"`

	// virtualNetwork is the virtual network of the nodes. An existing virtual network is used and not changed.
	// +optional
	VirtualNetwork ManagedControlPlaneVirtualNetwork `json:"virtualNetwork,omitempty,omitzero"`

	// subscriptionID is the ID of the Azure subscription of the cluster. The default is the environment variable
	// AZURE_SUBSCRIPTION_ID of the manager.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// location is the Azure region of the cluster, for example westeurope.
	// +required
	Location string `json:"location"`

	// additionalTags are tags for all Azure resources of the cluster, in addition to those that the provider sets.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// networkPlugin is the network plugin for pods: azure for Azure CNI (the default), kubenet, or none if users
	// install one. After the creation it can change from kubenet to azure with networkPluginMode overlay only.
	// +optional
	// +kubebuilder:validation:Enum=azure;kubenet;none
	// +kubebuilder:default=azure
	NetworkPlugin *string `json:"networkPlugin,omitempty"`

	// networkPluginMode is overlay if pods get addresses of a separate range instead of the virtual network's. It needs
	// networkPlugin azure.
	// +optional
	NetworkPluginMode *NetworkPluginMode `json:"networkPluginMode,omitempty"`

	// networkPolicy is the engine that enforces network policies: azure, calico or cilium. Without it, network policies
	// are not enforced.
	// +optional
	// +kubebuilder:validation:Enum=azure;calico;cilium
	NetworkPolicy *string `json:"networkPolicy,omitempty"`

	// networkDataplane is the technology that forwards the traffic of pods: azure or cilium. After the creation
	// it can change from azure to cilium only.
	// +optional
	NetworkDataplane *NetworkDataplaneType `json:"networkDataplane,omitempty"`

	// outboundType is the way in which nodes connect to the internet: loadBalancer (the default of AKS),
	// managedNATGateway, userAssignedNATGateway or userDefinedRouting.
	// +optional
	OutboundType *ManagedControlPlaneOutboundType `json:"outboundType,omitempty"`

	// dnsServiceIP is the IP address of the cluster's DNS service, within the service range of the Cluster. The default
	// is the tenth address of that range. It cannot change after the creation.
	// +optional
	DNSServiceIP *string `json:"dnsServiceIP,omitempty"`

	// loadBalancerSKU is the SKU of the cluster's load balancers: Standard (the default) or Basic, which AKS has
	// retired. It cannot change after the creation.
	// +optional
	// +kubebuilder:validation:Enum=Basic;Standard
	// +kubebuilder:default=Standard
	LoadBalancerSKU *string `json:"loadBalancerSKU,omitempty"`

	// identityRef names the AzureClusterIdentity that the provider uses for the cluster. The namespace defaults to that
	// of the object. Required for new clusters.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// aadProfile integrates the cluster with Microsoft Entra ID.
	// +optional
	AADProfile *AADProfile `json:"aadProfile,omitempty"`

	// addonProfiles turn add-ons of AKS on or off. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	AddonProfiles []AddonProfile `json:"addonProfiles,omitempty"`

	// sku is the SKU of the cluster. The default is the tier Free.
	// +optional
	SKU *AKSSku `json:"sku,omitempty"`

	// loadBalancerProfile describes the load balancer for outbound connections.
	// +optional
	LoadBalancerProfile *LoadBalancerProfile `json:"loadBalancerProfile,omitempty"`

	// apiServerAccessProfile restricts access to the API server.
	// +optional
	APIServerAccessProfile *APIServerAccessProfile `json:"apiServerAccessProfile,omitempty"`

	// autoscalerProfile has the settings of AKS's cluster autoscaler, which scales the pools that have spec.scaling.
	// +optional
	AutoScalerProfile *AutoScalerProfile `json:"autoscalerProfile,omitempty"`

	// azureEnvironment is the Azure cloud: AzurePublicCloud (the default), AzureChinaCloud or AzureUSGovernmentCloud.
	// It cannot change after the creation.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`

	// identity is the managed identity of the control plane. The default is a system-assigned one.
	// +optional
	Identity *Identity `json:"identity,omitempty"`

	// kubeletUserAssignedIdentity is the Azure resource ID of the managed identity of the kubelets. By default AKS
	// creates one.
	// +optional
	KubeletUserAssignedIdentity string `json:"kubeletUserAssignedIdentity,omitempty"`

	// httpProxyConfig has the HTTP proxy settings of the nodes.
	// +optional
	HTTPProxyConfig *HTTPProxyConfig `json:"httpProxyConfig,omitempty"`

	// oidcIssuerProfile configures the OIDC issuer of the cluster's service account tokens.
	// +optional
	OIDCIssuerProfile *OIDCIssuerProfile `json:"oidcIssuerProfile,omitempty"`

	// disableLocalAccounts disables the certificates of local accounts, so that only users of Microsoft Entra ID can
	// sign in. The value true needs aadProfile. The default is false.
	// +optional
	DisableLocalAccounts *bool `json:"disableLocalAccounts,omitempty"`

	// autoUpgradeProfile configures automatic upgrades by AKS.
	// +optional
	AutoUpgradeProfile *ManagedClusterAutoUpgradeProfile `json:"autoUpgradeProfile,omitempty"`

	// securityProfile has the security settings of the cluster.
	// +optional
	SecurityProfile *ManagedClusterSecurityProfile `json:"securityProfile,omitempty"`

	// extensions are the extensions to install in the cluster. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	Extensions []AKSExtension `json:"extensions,omitempty"`

	// asoManagedClusterPatches are JSON merge patches, written in JSON or YAML, for settings that no other field has.
	// They use the format of the ManagedCluster of the Azure Service Operator and are applied in order, after all other
	// fields. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	ASOManagedClusterPatches []string `json:"asoManagedClusterPatches,omitempty"`

	// enablePreviewFeatures uses the preview version of AKS's API, so that patches can set preview features. The
	// default is false.
	// +optional
	// +kubebuilder:default=false
	EnablePreviewFeatures *bool `json:"enablePreviewFeatures,omitempty"`
}

// AzureManagedControlPlaneMachineTemplate has no fields, because the control plane of an AKS cluster has no machines.
type AzureManagedControlPlaneMachineTemplate struct{}

// AzureManagedControlPlaneSpec describes an AKS cluster with its resource group and network. The AKS cluster has the
// name of the AzureManagedControlPlane.
type AzureManagedControlPlaneSpec struct {
	AzureManagedControlPlaneClassSpec `json:",inline"`

	// nodeResourceGroupName is the name of the resource group that AKS creates for the nodes. The default is
	// "MC_<resource group>_<cluster>_<location>".
	// +optional
	NodeResourceGroupName string `json:"nodeResourceGroupName,omitempty"`

	// controlPlaneEndpoint is the address of the API server. The provider sets it and replaces a value that users set.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// sshPublicKey is the SSH public key of the user azureuser on the nodes: a line of an authorized_keys file, encoded
	// in base64. With "" the provider generates a key and discards its private half. Without the field, the nodes have
	// no key.
	// +optional
	SSHPublicKey *string `json:"sshPublicKey,omitempty"`

	// dnsPrefix is the beginning of the DNS name of the API server. The default is the name of the
	// AzureManagedControlPlane.
	// +optional
	DNSPrefix *string `json:"dnsPrefix,omitempty"`

	// fleetsMember adds the cluster to a fleet of Azure Kubernetes Fleet Manager.
	// +optional
	FleetsMember *FleetsMember `json:"fleetsMember,omitempty"`
}

// AzureManagedControlPlaneStatus is the state of an AKS cluster.
type AzureManagedControlPlaneStatus struct {
	ObservedStatus `json:",inline"`

	// initialization has the progress of the first provisioning. Cluster API reads it.
	// +optional
	Initialization ControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// conditions describe the state of the object, one per group of Azure resources. The condition Ready summarizes
	// them. At most one condition of each type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// versions has one entry, the Kubernetes version that the control plane runs. Cluster API reads it.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// version is the Kubernetes version that the control plane runs, for example v1.33.2.
	// +optional
	Version string `json:"version,omitempty"`

	// autoUpgradeVersion is the Kubernetes version to which AKS upgraded the cluster automatically, because of
	// spec.autoUpgradeProfile.
	// +optional
	// +kubebuilder:validation:MinLength=2
	AutoUpgradeVersion string `json:"autoUpgradeVersion,omitempty"`

	// externalManagedControlPlane is always true: AKS runs the control plane, so it has no Machines. Cluster API reads
	// it.
	// +optional
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// ready is true when initialization.controlPlaneInitialized is true.
	// Deprecated: use initialization.controlPlaneInitialized. It is kept for clients of contract v1beta1 of Cluster
	// API.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// initialized is true when initialization.controlPlaneInitialized is true.
	// Deprecated: use initialization.controlPlaneInitialized. It is kept for clients of contract v1beta1 of Cluster
	// API.
	// +optional
	Initialized bool `json:"initialized,omitempty"`

	// oidcIssuerProfile has the OIDC issuer of the cluster's service account tokens.
	// +optional
	OIDCIssuerProfile *OIDCIssuerProfileStatus `json:"oidcIssuerProfile,omitempty"`

	// resources lists the Azure resources of the cluster with their states.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
}

// ControlPlaneInitializationStatus is the progress of the first provisioning of a control plane. Cluster API reads it.
// +kubebuilder:validation:MinProperties=1
type ControlPlaneInitializationStatus struct {
	// controlPlaneInitialized becomes true when the API server accepts requests for the first time. It never becomes
	// false again.
	// +optional
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}

// OIDCIssuerProfileStatus has the OIDC issuer of a cluster's service account tokens.
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
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Kubernetes version that the control plane runs"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.controlPlaneEndpoint.host",description="Control plane endpoint"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedControlPlane was created"
// +kubebuilder:printcolumn:name="Resource Group",type="string",priority=1,JSONPath=".spec.resourceGroupName",description="Resource group in Azure"
// +kubebuilder:printcolumn:name="Location",type="string",priority=1,JSONPath=".spec.location",description="Region of Azure"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureManagedControlPlane is an AKS cluster with its resource group and network. Its pools are
// AzureManagedMachinePools.
type AzureManagedControlPlane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="has(self.identityRef) || oldSelf.hasValue() && !oldSelf.?identityRef.hasValue()",message="set identityRef to an AzureClusterIdentity",fieldPath=".identityRef",reason="FieldValueRequired",optionalOldSelf=true
	Spec AzureManagedControlPlaneSpec `json:"spec,omitempty,omitzero"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureManagedControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *AzureManagedControlPlane) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *AzureManagedControlPlane) SetConditions(conditions []metav1.Condition) {
	c.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
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
