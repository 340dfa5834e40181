package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedClusterSpec describes the infrastructure of an AKS cluster.
type AzureASOManagedClusterSpec struct {
	AzureASOManagedResources `json:",inline"`

	// identityRef names the AzureClusterIdentity that Azure is asked as for the documents of the Cluster that name no Secret by the
	// annotation serviceoperator.azure.com/credential-from.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// subscriptionID is the subscription of the documents, where an AzureClusterIdentity is used. The default is the manager's.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// azureEnvironment is the name of the Azure cloud. The default is AzurePublicCloud.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`

	// controlPlaneEndpoint is where the API server is reached. The provider sets it.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// AzureASOManagedClusterStatus is the state of the infrastructure of an AKS cluster.
type AzureASOManagedClusterStatus struct {
	ObservedStatus `json:",inline"`

	// initialization tells how far the first provisioning is.
	// +optional
	Initialization InitializationStatus `json:"initialization,omitempty,omitzero"`

	// conditions tell the state of the parts.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ready mirrors initialization, for scripts written before there was that.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// resources are the documents and where their Azure resources stand.
	// +optional
	// +listType=atomic
	Resources []ASOResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureasomanagedclusters,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureASOManagedCluster belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether the provider leaves the object alone"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedCluster was created"

// AzureASOManagedCluster is the infrastructure of a Cluster whose control plane is an AzureASOManagedControlPlane, as its
// resource group.
type AzureASOManagedCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedClusterSpec `json:"spec,omitempty,omitzero"`

	Status AzureASOManagedClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (o *AzureASOManagedCluster) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *AzureASOManagedCluster) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObserved tells what of the object the status is about.
func (o *AzureASOManagedCluster) GetObserved() *ObservedStatus { return &o.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureASOManagedClusterList is a list of AzureASOManagedClusters.
type AzureASOManagedClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureASOManagedCluster `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureASOManagedCluster{}, &AzureASOManagedClusterList{})
}
