package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values of spec.azureEnvironment.
const (
	// PublicCloud is the global Azure cloud, the default.
	PublicCloud = "AzurePublicCloud"
	// ChinaCloud is Azure operated by 21Vianet.
	ChinaCloud = "AzureChinaCloud"
	// USGovernmentCloud is Azure Government.
	USGovernmentCloud = "AzureUSGovernmentCloud"
)

// AzureClusterClassSpec is the part of a cluster that all clusters of a ClusterClass have in common.
type AzureClusterClassSpec struct {
	// subscriptionID is the ID of the Azure subscription of the cluster. The default is the environment variable
	// AZURE_SUBSCRIPTION_ID of the manager.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// location is the Azure region of the cluster, for example westeurope.
	// +required
	Location string `json:"location"`

	// extendedLocation places the cluster in an edge zone. It needs the feature gate EdgeZone.
	// +optional
	ExtendedLocation *ExtendedLocationSpec `json:"extendedLocation,omitempty"`

	// additionalTags are tags for all Azure resources of the cluster, in addition to those that the provider sets.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// identityRef names the AzureClusterIdentity that the provider uses for the cluster. The namespace defaults to that
	// of the object. Required for new clusters.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// azureEnvironment is the Azure cloud: AzurePublicCloud (the default), AzureChinaCloud or AzureUSGovernmentCloud.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`

	// cloudProviderConfigOverrides are settings for azure.json, the configuration file of cloud-provider-azure. They
	// cannot change, because machines read them when they are created.
	// +optional
	CloudProviderConfigOverrides *CloudProviderConfigOverrides `json:"cloudProviderConfigOverrides,omitempty"`

	// failureDomains excludes availability zones from the control plane: a zone with controlPlane false here gets no
	// control-plane machines. The key is the name of the zone, for example "1". The provider reads the available zones
	// from Azure. At most 100.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	FailureDomains map[string]FailureDomainSpec `json:"failureDomains,omitempty"`
}

// FailureDomainSpec restricts the use of one availability zone.
type FailureDomainSpec struct {
	// controlPlane allows control-plane machines in the zone.
	// +optional
	ControlPlane bool `json:"controlPlane,omitempty"`

	// attributes are key-value pairs for users. The provider does not use them. At most 100.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	Attributes map[string]string `json:"attributes,omitempty"`
}

// APIEndpoint is the address of an API server.
type APIEndpoint struct {
	// host is a DNS name or an IP address, at most 512 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// port is a TCP port, 1 to 65535.
	// +optional
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// IsZero returns true if neither host nor port is set.
func (e APIEndpoint) IsZero() bool { return e == APIEndpoint{} }

// AzureClusterSpec describes a cluster on Azure.
type AzureClusterSpec struct {
	AzureClusterClassSpec `json:",inline"`

	// networkSpec describes the virtual network, its subnets and the load balancers.
	// +optional
	NetworkSpec NetworkSpec `json:"networkSpec,omitempty,omitzero"`

	// resourceGroup is the name of the resource group of the cluster. The default is the name of the AzureCluster. The
	// provider creates the group if it does not exist. If the group exists already, the provider uses it and never deletes
	// it. The field cannot
	// change.
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// bastionSpec adds a bastion host for SSH and RDP connections to the machines.
	// +optional
	BastionSpec BastionSpec `json:"bastionSpec,omitempty,omitzero"`

	// controlPlaneEnabled is false for a cluster whose control plane runs elsewhere. The provider then creates no
	// control-plane subnet and no API server load balancer, and users set controlPlaneEndpoint. The default is true.
	// +optional
	// +kubebuilder:default=true
	ControlPlaneEnabled bool `json:"controlPlaneEnabled"`

	// controlPlaneEndpoint is the address of the API server. The provider sets it if users have not. It cannot change
	// once it is set.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// AzureClusterStatus is the state of a cluster on Azure.
type AzureClusterStatus struct {
	ObservedStatus `json:",inline"`

	// initialization has the progress of the first provisioning. Cluster API reads it.
	// +optional
	Initialization InitializationStatus `json:"initialization,omitempty,omitzero"`

	// conditions describe the state of the object, one per group of Azure resources. The condition Ready summarizes
	// them. At most one condition of each type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// failureDomains lists the availability zones of the region, as objects with name, controlPlane and attributes. The
	// schema does not fix the type, because contract v1beta1 of Cluster API stored a map here: with a list in the
	// schema, the API server would drop a stored map and refuse server-side apply of the object.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	FailureDomains FailureDomains `json:"failureDomains,omitempty,omitzero"`

	// ready is true when initialization.provisioned is true.
	// Deprecated: use initialization.provisioned. It is kept for clients of contract v1beta1 of Cluster API.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// resources lists the Azure resources of the cluster with their states.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureclusters,scope=Namespaced,categories=cluster-api,shortName=azc
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z0-9][a-z0-9-]{0,42}[a-z0-9]$')",message="metadata.name must be 2 to 44 lower-case letters, digits and '-', and begin and end with a letter or digit, because names in Azure begin with it",fieldPath=".metadata",optionalOldSelf=true
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureCluster belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.controlPlaneEndpoint.host",description="Control plane endpoint"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureCluster was created"
// +kubebuilder:printcolumn:name="Resource Group",type="string",priority=1,JSONPath=".spec.resourceGroup",description="Resource group in Azure"
// +kubebuilder:printcolumn:name="Location",type="string",priority=1,JSONPath=".spec.location",description="Region of Azure"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureCluster is the infrastructure of a self-managed Cluster: resource group, network and load balancers.
type AzureCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="(has(self.resourceGroup) && self.resourceGroup != '') == (has(oldSelf.resourceGroup) && oldSelf.resourceGroup != '') && (!(has(self.resourceGroup) && self.resourceGroup != '') || self.resourceGroup == oldSelf.resourceGroup)",message="resourceGroup cannot change, because resources are not moved between resource groups; create a new cluster",fieldPath=".resourceGroup",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(self.networkSpec) && has(self.networkSpec.privateDNSZoneName) && self.networkSpec.privateDNSZoneName != '') == (has(oldSelf.networkSpec) && has(oldSelf.networkSpec.privateDNSZoneName) && oldSelf.networkSpec.privateDNSZoneName != '') && (!(has(self.networkSpec) && has(self.networkSpec.privateDNSZoneName) && self.networkSpec.privateDNSZoneName != '') || self.networkSpec.privateDNSZoneName == oldSelf.networkSpec.privateDNSZoneName)",message="privateDNSZoneName cannot change, because machines and kubeconfigs use it to find the API server",fieldPath=".networkSpec.privateDNSZoneName",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(self.networkSpec) && has(self.networkSpec.privateDNSZoneResourceGroup) && self.networkSpec.privateDNSZoneResourceGroup != '') == (has(oldSelf.networkSpec) && has(oldSelf.networkSpec.privateDNSZoneResourceGroup) && oldSelf.networkSpec.privateDNSZoneResourceGroup != '') && (!(has(self.networkSpec) && has(self.networkSpec.privateDNSZoneResourceGroup) && self.networkSpec.privateDNSZoneResourceGroup != '') || self.networkSpec.privateDNSZoneResourceGroup == oldSelf.networkSpec.privateDNSZoneResourceGroup)",message="privateDNSZoneResourceGroup cannot change, because the private DNS zone is not moved between resource groups",fieldPath=".networkSpec.privateDNSZoneResourceGroup",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(self.networkSpec) && has(self.networkSpec.privateDNSZone) && self.networkSpec.privateDNSZone != '') == (has(oldSelf.networkSpec) && has(oldSelf.networkSpec.privateDNSZone) && oldSelf.networkSpec.privateDNSZone != '') && (!(has(self.networkSpec) && has(self.networkSpec.privateDNSZone) && self.networkSpec.privateDNSZone != '') || self.networkSpec.privateDNSZone == oldSelf.networkSpec.privateDNSZone)",message="privateDNSZone cannot change after the cluster was created",fieldPath=".networkSpec.privateDNSZone",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(!has(self.azureEnvironment) || self.azureEnvironment in ['', 'AzurePublicCloud']) == (!has(oldSelf.azureEnvironment) || oldSelf.azureEnvironment in ['', 'AzurePublicCloud']) && ((!has(self.azureEnvironment) || self.azureEnvironment in ['', 'AzurePublicCloud']) || self.azureEnvironment == oldSelf.azureEnvironment)",message="azureEnvironment cannot change, because resources cannot move between clouds; create a new cluster",fieldPath=".azureEnvironment",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.controlPlaneEndpoint) && has(oldSelf.controlPlaneEndpoint.host) && oldSelf.controlPlaneEndpoint.host != '') || ((has(self.controlPlaneEndpoint) && has(self.controlPlaneEndpoint.host) && self.controlPlaneEndpoint.host != '') && self.controlPlaneEndpoint.host == oldSelf.controlPlaneEndpoint.host)",message="host cannot change once it is set, because machines and kubeconfigs use it",fieldPath=".controlPlaneEndpoint.host",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.controlPlaneEndpoint) && has(oldSelf.controlPlaneEndpoint.port) && oldSelf.controlPlaneEndpoint.port != 0) || ((has(self.controlPlaneEndpoint) && has(self.controlPlaneEndpoint.port) && self.controlPlaneEndpoint.port != 0) && self.controlPlaneEndpoint.port == oldSelf.controlPlaneEndpoint.port)",message="port cannot change once it is set, because machines and kubeconfigs use it",fieldPath=".controlPlaneEndpoint.port",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="has(self.identityRef) || oldSelf.hasValue() && !oldSelf.?identityRef.hasValue()",message="set identityRef to an AzureClusterIdentity",fieldPath=".identityRef",reason="FieldValueRequired",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="!has(self.identityRef) || self.identityRef.?kind.orValue('') in ['', 'AzureClusterIdentity'] || oldSelf.?identityRef.?kind.orValue('') == self.identityRef.kind",message="must be AzureClusterIdentity: correct it, or leave it out",fieldPath=".identityRef.kind",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="self.location != '' || oldSelf.hasValue()",message="set the Azure region of the cluster, for example westeurope",fieldPath=".location",reason="FieldValueRequired",optionalOldSelf=true
	Spec AzureClusterSpec `json:"spec,omitempty"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *AzureCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *AzureCluster) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// GetObserved returns the generation and the request that the status was computed for.
func (c *AzureCluster) GetObserved() *ObservedStatus { return &c.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureClusterList is a list of AzureClusters.
type AzureClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureCluster `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureCluster{}, &AzureClusterList{}) }
