package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureASOManagedControlPlaneSpec describes an AKS cluster.
type AzureASOManagedControlPlaneSpec struct {
	AzureASOManagedResources `json:",inline"`

	// version is the Kubernetes version of the control plane, as in v1.33.2. Without it, that is what the document of the
	// ManagedCluster says.
	// +optional
	Version string `json:"version,omitempty"`
}

// AzureASOManagedControlPlaneStatus is the state of an AKS cluster.
type AzureASOManagedControlPlaneStatus struct {
	ObservedStatus `json:",inline"`

	// initialization tells how far the first provisioning is.
	// +optional
	Initialization ControlPlaneInitializationStatus `json:"initialization,omitempty,omitzero"`

	// conditions tell the state of the parts.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ready mirrors initialization, for scripts written before there was that.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// initialized mirrors initialization.controlPlaneInitialized, for scripts written before there was that.
	// +optional
	Initialized bool `json:"initialized,omitempty"`

	// externalManagedControlPlane is true: no Machine runs the control plane.
	// +optional
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// version is the Kubernetes version that the control plane runs.
	// +optional
	Version string `json:"version,omitempty"`

	// versions are the same, as Cluster API wants to see it.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// controlPlaneEndpoint is where the API server is reached.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// resources are the documents and where their Azure resources stand.
	// +optional
	// +listType=atomic
	Resources []ASOResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureasomanagedcontrolplanes,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureASOManagedControlPlane belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether the provider leaves the object alone"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedControlPlane was created"

// AzureASOManagedControlPlane is the control plane of an AKS cluster.
type AzureASOManagedControlPlane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedControlPlaneSpec `json:"spec,omitempty,omitzero"`

	Status AzureASOManagedControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (o *AzureASOManagedControlPlane) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *AzureASOManagedControlPlane) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObserved tells what of the object the status is about.
func (o *AzureASOManagedControlPlane) GetObserved() *ObservedStatus { return &o.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureASOManagedControlPlaneList is a list of AzureASOManagedControlPlanes.
type AzureASOManagedControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureASOManagedControlPlane `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureASOManagedControlPlane{}, &AzureASOManagedControlPlaneList{})
}
