package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedMachinePoolSpec describes an agent pool of an AKS cluster.
type AzureASOManagedMachinePoolSpec struct {
	AzureASOManagedResources `json:",inline"`

	// providerIDList are the provider IDs of the machines. The provider sets it.
	// +optional
	// +kubebuilder:validation:MaxItems=5000
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// AzureASOManagedMachinePoolStatus is the state of an agent pool.
type AzureASOManagedMachinePoolStatus struct {
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

	// replicas is the number of machines.
	// +optional
	Replicas int32 `json:"replicas"`

	// resources are the documents and where their Azure resources stand.
	// +optional
	// +listType=atomic
	Resources []ASOResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureasomanagedmachinepools,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureASOManagedMachinePool belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether the provider leaves the object alone"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedMachinePool was created"

// AzureASOManagedMachinePool is the infrastructure of a MachinePool: an agent pool of an AKS cluster.
type AzureASOManagedMachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedMachinePoolSpec `json:"spec,omitempty,omitzero"`

	Status AzureASOManagedMachinePoolStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (o *AzureASOManagedMachinePool) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *AzureASOManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObserved tells what of the object the status is about.
func (o *AzureASOManagedMachinePool) GetObserved() *ObservedStatus { return &o.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureASOManagedMachinePoolList is a list of AzureASOManagedMachinePools.
type AzureASOManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureASOManagedMachinePool `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureASOManagedMachinePool{}, &AzureASOManagedMachinePoolList{})
}
