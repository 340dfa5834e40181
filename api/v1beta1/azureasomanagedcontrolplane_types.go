package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureASOManagedControlPlaneSpec describes an AKS cluster.
type AzureASOManagedControlPlaneSpec struct {
	AzureASOManagedResources `json:",inline"`

	// version is the Kubernetes version of the control plane, for example v1.33.2. The default is kubernetesVersion of
	// the manifest of the ManagedCluster.
	// +optional
	Version string `json:"version,omitempty"`
}

// AzureASOManagedControlPlaneStatus is the state of an AKS cluster.
type AzureASOManagedControlPlaneStatus struct {
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

	// externalManagedControlPlane is always true: AKS runs the control plane, so it has no Machines. Cluster API reads
	// it.
	// +optional
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// version is the Kubernetes version that the control plane runs, for example v1.33.2.
	// +optional
	Version string `json:"version,omitempty"`

	// versions has one entry, the Kubernetes version that the control plane runs. Cluster API reads it.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Versions []clusterv1.StatusVersion `json:"versions,omitempty"`

	// controlPlaneEndpoint is the address of the API server.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// resources lists the resource manifests of spec.resources with the states of their Azure resources.
	// +optional
	// +listType=atomic
	Resources []ASOResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureasomanagedcontrolplanes,scope=Namespaced,categories=cluster-api,shortName=aasomcp
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureASOManagedControlPlane belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Kubernetes version that the control plane runs"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".status.controlPlaneEndpoint.host",description="Control plane endpoint"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedControlPlane was created"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureASOManagedControlPlane is the control plane of an AKS cluster.
type AzureASOManagedControlPlane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedControlPlaneSpec `json:"spec,omitempty,omitzero"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureASOManagedControlPlaneStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (o *AzureASOManagedControlPlane) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *AzureASOManagedControlPlane) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
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
