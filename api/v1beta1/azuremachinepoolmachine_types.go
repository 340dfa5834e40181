package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureMachinePoolMachineSpec identifies a VM of a scale set.
type AzureMachinePoolMachineSpec struct {
	// providerID is "azure://" followed by the Azure resource ID of the VM. The provider sets it.
	// +required
	ProviderID string `json:"providerID"`

	// instanceID identifies the VM within the scale set. The provider sets it.
	// +optional
	InstanceID string `json:"instanceID,omitempty"`
}

// AzureMachinePoolMachineStatus is the state of a VM of a scale set.
type AzureMachinePoolMachineStatus struct {
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

	// addresses lists the host name and the IP addresses of the VM.
	// +optional
	// +listType=atomic
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// failureDomain is the availability zone of the VM.
	// +optional
	FailureDomain string `json:"failureDomain,omitempty"`

	// ready is true when initialization.provisioned is true and the VM exists.
	// Deprecated: use initialization.provisioned. It is kept for clients of contract v1beta1 of Cluster API.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// nodeRef refers to the Node of the VM in the workload cluster.
	// +optional
	NodeRef *corev1.ObjectReference `json:"nodeRef,omitempty"`

	// version is the version of the kubelet on the VM, for example v1.33.2.
	// +optional
	Version string `json:"version,omitempty"`

	// provisioningState is Azure's provisioning state of the VM, for example Succeeded.
	// +optional
	ProvisioningState string `json:"provisioningState,omitempty"`

	// instanceName is the name of the VM.
	// +optional
	InstanceName string `json:"instanceName,omitempty"`

	// latestModelApplied is true if the VM has the current model of the scale set.
	// +optional
	LatestModelApplied bool `json:"latestModelApplied,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremachinepoolmachines,scope=Namespaced,categories=cluster-api,shortName=ampm
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".status.failureDomain",description="Availability zone of the VM"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeRef.name",description="Node of the VM"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Version of the kubelet on the VM"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.provisioningState",description="Azure's provisioning state of the VM"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureMachinePoolMachine was created"
// +kubebuilder:printcolumn:name="Cluster",type="string",priority=1,JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureMachinePoolMachine belongs"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureMachinePoolMachine is the infrastructure of a Machine of a MachinePool: a VM of a scale set.
type AzureMachinePoolMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self.providerID != '' || oldSelf.hasValue()",message="set the provider ID of the VM",fieldPath=".providerID",reason="FieldValueRequired",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="self.providerID == oldSelf.providerID || oldSelf.providerID == ''",message="providerID cannot change, because it identifies the VM of the object",fieldPath=".providerID",reason="FieldValueForbidden"
	Spec AzureMachinePoolMachineSpec `json:"spec,omitempty"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureMachinePoolMachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (m *AzureMachinePoolMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions.
func (m *AzureMachinePoolMachine) SetConditions(conditions []metav1.Condition) {
	m.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
func (m *AzureMachinePoolMachine) GetObserved() *ObservedStatus { return &m.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureMachinePoolMachineList is a list of AzureMachinePoolMachines.
type AzureMachinePoolMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureMachinePoolMachine `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureMachinePoolMachine{}, &AzureMachinePoolMachineList{})
}
