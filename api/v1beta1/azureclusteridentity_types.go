package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IdentityType is how an AzureClusterIdentity signs in to Microsoft Entra ID.
// +kubebuilder:validation:Enum=ServicePrincipal;UserAssignedMSI;ManualServicePrincipal;ServicePrincipalCertificate;WorkloadIdentity;UserAssignedIdentityCredential
type IdentityType string

const (
	// ServicePrincipal signs in with a client secret.
	ServicePrincipal IdentityType = "ServicePrincipal"
	// UserAssignedMSI is a managed identity of the machine that the manager runs on.
	UserAssignedMSI IdentityType = "UserAssignedMSI"
	// ManualServicePrincipal is an old name of ServicePrincipal.
	ManualServicePrincipal IdentityType = "ManualServicePrincipal"
	// ServicePrincipalCertificate signs in with a client certificate.
	ServicePrincipalCertificate IdentityType = "ServicePrincipalCertificate"
	// WorkloadIdentity signs in with the token of the manager's Kubernetes service account.
	WorkloadIdentity IdentityType = "WorkloadIdentity"
	// UserAssignedIdentityCredential signs in with the certificate of a managed identity from a file.
	UserAssignedIdentityCredential IdentityType = "UserAssignedIdentityCredential"
)

// AllowedNamespaces are the namespaces whose objects may use an identity.
type AllowedNamespaces struct {
	// list names namespaces. An empty list allows none.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxItems=10000
	NamespaceList []string `json:"list,omitzero"`

	// selector selects namespaces by their labels. An empty selector selects none.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// AzureClusterIdentitySpec describes an identity with which clusters are reconciled.
type AzureClusterIdentitySpec struct {
	// type is how the identity signs in.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="type cannot change; make a new AzureClusterIdentity and refer to it"
	Type IdentityType `json:"type"`

	// resourceID is the Azure resource ID of a user-assigned managed identity.
	// Deprecated: it has no effect.
	// +optional
	ResourceID string `json:"resourceID,omitempty"`

	// clientID is the client ID of the application or managed identity.
	// +required
	ClientID string `json:"clientID"`

	// clientSecret names the Secret with the credential: key clientSecret for a client secret; certificate and password,
	// or clientSecret, for a certificate.
	// +optional
	ClientSecret corev1.SecretReference `json:"clientSecret,omitempty,omitzero"`

	// certPath is a file in the manager's container with the certificate.
	// +optional
	CertPath string `json:"certPath,omitempty"`

	// userAssignedIdentityCredentialsPath is a file in the manager's container with the credential of a
	// UserAssignedIdentityCredential.
	// +optional
	UserAssignedIdentityCredentialsPath string `json:"userAssignedIdentityCredentialsPath,omitempty"`

	// userAssignedIdentityCredentialsCloudType is the cloud of a UserAssignedIdentityCredential: public, china or
	// usgovernment.
	// +optional
	UserAssignedIdentityCredentialsCloudType string `json:"userAssignedIdentityCredentialsCloudType,omitempty"`

	// tenantID is the Microsoft Entra tenant.
	// +required
	TenantID string `json:"tenantID"`

	// allowedNamespaces are the namespaces whose objects may use the identity: none without it, all with an empty object,
	// else those in the list and those that the selector selects.
	// +optional
	// +nullable
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// allowedResources are the Azure resources of others that clusters of other namespaces may use with the identity, such as the
	// identity of VMs, a disk encryption set or a fleet. Each is the ID of a subscription, resource group or resource, and
	// includes everything below it. Resources of the cluster itself, and networks and subnets to join, need not be listed. It has no
	// effect on the namespace of the identity, nor with the manager's flag --tenancy=trusted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^/subscriptions/[^/\\?#%]+(/[^/\\?#%]+)*$`
	AllowedResources []string `json:"allowedResources,omitempty"`

	// allowedRoleScopes are the scopes at or below which clusters of other namespaces may assign Azure roles with the identity,
	// beside resource groups that were created for the cluster. Each is the ID of a subscription, resource group or resource. Whoever may create
	// such a cluster can get every role there that the identity may assign. It has no effect on the namespace of the identity, nor
	// with the manager's flag --tenancy=trusted.
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

	// conditions tell whether the identity can be used.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureclusteridentities,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:metadata:labels=clusterctl.cluster.x-k8s.io/move-hierarchy=true
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.type",description="How the identity signs in"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether the provider leaves the object alone"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureClusterIdentity was created"

// AzureClusterIdentity is an identity with which clusters are reconciled.
type AzureClusterIdentity struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="!(has(self.resourceID) && self.resourceID != '') || self.type == 'UserAssignedMSI'",message="resourceID is for type UserAssignedMSI only",fieldPath=".resourceID",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(self.userAssignedIdentityCredentialsPath) && self.userAssignedIdentityCredentialsPath != '') || self.type == 'UserAssignedIdentityCredential'",message="userAssignedIdentityCredentialsPath is for type UserAssignedIdentityCredential only",fieldPath=".userAssignedIdentityCredentialsPath",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!(has(self.userAssignedIdentityCredentialsCloudType) && self.userAssignedIdentityCredentialsCloudType != '') || self.type == 'UserAssignedIdentityCredential'",message="userAssignedIdentityCredentialsCloudType is for type UserAssignedIdentityCredential only",fieldPath=".userAssignedIdentityCredentialsCloudType",reason="FieldValueForbidden"
	Spec AzureClusterIdentitySpec `json:"spec,omitempty"`

	Status AzureClusterIdentityStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (i *AzureClusterIdentity) GetConditions() []metav1.Condition { return i.Status.Conditions }

// SetConditions replaces the conditions.
func (i *AzureClusterIdentity) SetConditions(conditions []metav1.Condition) {
	i.Status.Conditions = conditions
}

// GetObserved tells what of the object the status is about.
func (i *AzureClusterIdentity) GetObserved() *ObservedStatus { return &i.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureClusterIdentityList is a list of AzureClusterIdentities.
type AzureClusterIdentityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureClusterIdentity `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureClusterIdentity{}, &AzureClusterIdentityList{}) }
