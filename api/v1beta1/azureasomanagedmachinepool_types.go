package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedMachinePoolSpec describes an agent pool of an AKS cluster.
type AzureASOManagedMachinePoolSpec struct {
	AzureASOManagedResources `json:",inline"`

	// providerIDList lists the provider IDs of the nodes' virtual machines. The provider sets it. At most 5000.
	// +optional
	// +kubebuilder:validation:MaxItems=5000
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// AzureASOManagedMachinePoolStatus is the state of an agent pool.
type AzureASOManagedMachinePoolStatus struct {
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

	// ready is true when initialization.provisioned is true. Cluster API reads ready of a pool.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// replicas is the number of virtual machines of the pool.
	// +optional
	Replicas int32 `json:"replicas"`

	// version is the Kubernetes version that the pool runs, as Azure reports it, for example 1.33.2.
	// +optional
	Version string `json:"version,omitempty"`

	// resources lists the resource manifests of spec.resources with the states of their Azure resources.
	// +optional
	// +listType=atomic
	Resources []ASOResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azureasomanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=aasommp
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureASOManagedMachinePool belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.resources[?(@.kind=='ManagedClustersAgentPool')].spec.mode",description="Mode of the pool in its manifest: System or User"
// +kubebuilder:printcolumn:name="Replicas",type="string",JSONPath=".status.replicas",description="Number of VMs"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Kubernetes version that the pool runs"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.resources[?(@.kind=='ManagedClustersAgentPool')].spec.vmSize",description="Size of the VMs in the manifest"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedMachinePool was created"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureASOManagedMachinePool is the infrastructure of a MachinePool: an agent pool of an AKS cluster.
type AzureASOManagedMachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedMachinePoolSpec `json:"spec,omitempty,omitzero"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureASOManagedMachinePoolStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (o *AzureASOManagedMachinePool) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the conditions.
func (o *AzureASOManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	o.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
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
