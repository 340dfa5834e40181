package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedClusterSpec describes the infrastructure of an AKS cluster.
type AzureASOManagedClusterSpec struct {
	AzureASOManagedResources `json:",inline"`

	// identityRef names the AzureClusterIdentity that the provider uses for the resource manifests of the Cluster. A
	// manifest with the annotation serviceoperator.azure.com/credential-from uses the Secret named there instead.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// subscriptionID is the ID of the Azure subscription of resource manifests that use identityRef. The default is the
	// environment variable AZURE_SUBSCRIPTION_ID of the manager.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// azureEnvironment is the name of the Azure cloud: AzurePublicCloud (the default), AzureChinaCloud or
	// AzureUSGovernmentCloud.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`

	// controlPlaneEndpoint is the address of the API server. The provider sets it.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// AzureASOManagedClusterStatus is the state of the infrastructure of an AKS cluster.
type AzureASOManagedClusterStatus struct {
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

	// ready is true when initialization.provisioned is true.
	// Deprecated: use initialization.provisioned. It is kept for clients of contract v1beta1 of Cluster API.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// resources lists the resource manifests of spec.resources with the states of their Azure resources.
	// +optional
	// +listType=atomic
	Resources []ASOResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureasomanagedclusters,scope=Namespaced,categories=cluster-api,shortName=aasomc
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureASOManagedCluster belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.controlPlaneEndpoint.host",description="Control plane endpoint"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedCluster was created"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureASOManagedCluster is the infrastructure, for example the resource group, of a Cluster whose control plane is an
// AzureASOManagedControlPlane.
type AzureASOManagedCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedClusterSpec `json:"spec,omitempty,omitzero"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureASOManagedClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (o *AzureASOManagedCluster) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *AzureASOManagedCluster) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
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
