package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IdentityType is the way in which an AzureClusterIdentity signs in to Microsoft Entra ID.
// +kubebuilder:validation:Enum=ServicePrincipal;UserAssignedMSI;ManualServicePrincipal;ServicePrincipalCertificate;WorkloadIdentity;UserAssignedIdentityCredential
type IdentityType string

const (
	// ServicePrincipal signs in with a client secret.
	ServicePrincipal IdentityType = "ServicePrincipal"
	// UserAssignedMSI is a managed identity that is assigned to the machine on which the manager runs.
	UserAssignedMSI IdentityType = "UserAssignedMSI"
	// ManualServicePrincipal is the deprecated name of ServicePrincipal.
	ManualServicePrincipal IdentityType = "ManualServicePrincipal"
	// ServicePrincipalCertificate signs in with a client certificate.
	ServicePrincipalCertificate IdentityType = "ServicePrincipalCertificate"
	// WorkloadIdentity signs in with the token of the manager's Kubernetes service account.
	WorkloadIdentity IdentityType = "WorkloadIdentity"
	// UserAssignedIdentityCredential signs in as a managed identity with a certificate from a file.
	UserAssignedIdentityCredential IdentityType = "UserAssignedIdentityCredential"
)

// AllowedNamespaces selects the namespaces whose objects may use an identity.
type AllowedNamespaces struct {
	// list has names of namespaces, at most 10000. An empty list allows no namespace.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxItems=10000
	NamespaceList []string `json:"list,omitzero"`

	// selector selects namespaces by their labels. An empty selector selects no namespace.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// AzureClusterIdentitySpec describes a credential for Azure.
type AzureClusterIdentitySpec struct {
	// type is the way in which the identity signs in. ManualServicePrincipal is the deprecated name of
	// ServicePrincipal. It cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="type cannot change; create a new AzureClusterIdentity and refer to it"
	Type IdentityType `json:"type"`

	// resourceID is the Azure resource ID of a user-assigned managed identity. It has no effect.
	// Deprecated: use clientID.
	// +optional
	ResourceID string `json:"resourceID,omitempty"`

	// clientID is the client ID of the application or of the managed identity, a UUID.
	// +required
	ClientID string `json:"clientID"`

	// clientSecret names the Secret with the credential. Its key clientSecret has a client secret. For a certificate,
	// it has the keys certificate and password, or the key clientSecret.
	// +optional
	ClientSecret corev1.SecretReference `json:"clientSecret,omitempty,omitzero"`

	// certPath is the path of a certificate file in the manager's container. It is an alternative to clientSecret for
	// the type ServicePrincipalCertificate.
	// +optional
	CertPath string `json:"certPath,omitempty"`

	// userAssignedIdentityCredentialsPath is the path of the credential file in the manager's container. It belongs to
	// the type UserAssignedIdentityCredential only.
	// +optional
	UserAssignedIdentityCredentialsPath string `json:"userAssignedIdentityCredentialsPath,omitempty"`

	// userAssignedIdentityCredentialsCloudType is the cloud for the type UserAssignedIdentityCredential: public, china
	// or usgovernment.
	// +optional
	UserAssignedIdentityCredentialsCloudType string `json:"userAssignedIdentityCredentialsCloudType,omitempty"`

	// tenantID is the ID of the Microsoft Entra tenant, a UUID.
	// +required
	TenantID string `json:"tenantID"`

	// allowedNamespaces selects the namespaces whose objects may use the identity. Without it, no namespace may use
	// it. {} allows all namespaces. Otherwise the namespaces of the list and of the selector are allowed.
	// +optional
	// +nullable
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// allowedResources lists Azure resources that clusters of other namespaces may use with the identity although the
	// resources are not part of the cluster, for example the managed identity of VMs, a disk encryption set or a fleet.
	// Each entry is the ID of a subscription, resource group or resource and includes everything below it. Resources of
	// the cluster itself, and networks and subnets to join, need no entry. It has no effect for the identity's own
	// namespace, nor with the manager's flag --tenancy=trusted. At most 500.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^/subscriptions/[^/\\?#%]+(/[^/\\?#%]+)*$`
	AllowedResources []string `json:"allowedResources,omitempty"`

	// allowedRoleScopes lists the scopes at which clusters of other namespaces may assign Azure roles with the
	// identity. Each entry is the ID of a subscription, resource group or resource and includes everything below it.
	// Resource groups that the provider created for the cluster need no entry. Users who may create such a cluster can
	// get every role there that the identity may assign. It has no effect for the identity's own namespace, nor with
	// the manager's flag --tenancy=trusted. At most 100.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^/subscriptions/[^/\\?#%]+(/[^/\\?#%]+)*$`
	AllowedRoleScopes []string `json:"allowedRoleScopes,omitempty"`
}

// AzureClusterIdentityStatus is the state of an identity.
type AzureClusterIdentityStatus struct {
	ObservedStatus `json:",inline"`

	// conditions describe whether the identity can be used. At most one condition of each type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureclusteridentities,scope=Namespaced,categories=cluster-api,shortName=azci
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:metadata:labels=clusterctl.cluster.x-k8s.io/move-hierarchy=true
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.type",description="Way in which the identity signs in"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureClusterIdentity was created"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureClusterIdentity is a credential with which the provider manages the Azure resources of clusters.
type AzureClusterIdentity struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="!(has(self.resourceID) && self.resourceID != '') || self.type == 'UserAssignedMSI'",message="resourceID is for type UserAssignedMSI only",fieldPath=".resourceID",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(self.userAssignedIdentityCredentialsPath) && self.userAssignedIdentityCredentialsPath != '') || self.type == 'UserAssignedIdentityCredential'",message="userAssignedIdentityCredentialsPath is for type UserAssignedIdentityCredential only",fieldPath=".userAssignedIdentityCredentialsPath",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(self.userAssignedIdentityCredentialsCloudType) && self.userAssignedIdentityCredentialsCloudType != '') || self.type == 'UserAssignedIdentityCredential'",message="userAssignedIdentityCredentialsCloudType is for type UserAssignedIdentityCredential only",fieldPath=".userAssignedIdentityCredentialsCloudType",reason="FieldValueForbidden"
	Spec AzureClusterIdentitySpec `json:"spec,omitempty"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureClusterIdentityStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (i *AzureClusterIdentity) GetConditions() []metav1.Condition { return i.Status.Conditions }

// SetConditions replaces the conditions.
func (i *AzureClusterIdentity) SetConditions(conditions []metav1.Condition) {
	i.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
func (i *AzureClusterIdentity) GetObserved() *ObservedStatus { return &i.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureClusterIdentityList is a list of AzureClusterIdentities.
type AzureClusterIdentityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureClusterIdentity `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureClusterIdentity{}, &AzureClusterIdentityList{}) }
