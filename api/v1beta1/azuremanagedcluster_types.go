package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureManagedClusterSpec describes the infrastructure of an AKS cluster. The AzureManagedControlPlane has all
// settings.
type AzureManagedClusterSpec struct {
	// controlPlaneEndpoint is the address of the API server. The provider sets it.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`
}

// AzureManagedClusterStatus is the state of the infrastructure of an AKS cluster.
type AzureManagedClusterStatus struct {
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
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremanagedclusters,scope=Namespaced,categories=cluster-api,shortName=amc
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureManagedCluster belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.controlPlaneEndpoint.host",description="Control plane endpoint"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedCluster was created"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureManagedCluster is the infrastructure object that Cluster API requires for a Cluster. All settings and Azure
// resources of an AKS cluster belong to the AzureManagedControlPlane.
type AzureManagedCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureManagedClusterSpec `json:"spec,omitempty,omitzero"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureManagedClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *AzureManagedCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *AzureManagedCluster) SetConditions(conditions []metav1.Condition) {
	c.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
func (c *AzureManagedCluster) GetObserved() *ObservedStatus { return &c.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureManagedClusterList is a list of AzureManagedClusters.
type AzureManagedClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureManagedCluster `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureManagedCluster{}, &AzureManagedClusterList{}) }
