package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AzureMachineSpec describes a virtual machine.
// +kubebuilder:validation:XValidation:rule="!self.?disableExtensionOperations.orValue(false) || !has(self.vmExtensions) || size(self.vmExtensions) == 0 || oldSelf.?vmExtensions.orValue([]) == self.vmExtensions",message="disableExtensionOperations does not allow extensions: remove vmExtensions, or set disableExtensionOperations to false",fieldPath=".vmExtensions",reason="FieldValueForbidden",optionalOldSelf=true
type AzureMachineSpec struct {
	VirtualMachineProfile `json:",inline"`
	ManagedIdentities     `json:",inline"`

	// providerID is "azure://" followed by the Azure resource ID of the VM. The provider sets it.
	// +optional
	ProviderID *string `json:"providerID,omitempty"`

	// failureDomain is the availability zone of the VM, for example "1". spec.failureDomain of the Machine takes
	// precedence.
	// +optional
	FailureDomain *string `json:"failureDomain,omitempty"`

	// additionalTags are tags for all Azure resources of the machine, in addition to those of the cluster. They take
	// precedence over the cluster's.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// allocatePublicIP gives a worker machine a public IP address. The default is false.
	// +optional
	AllocatePublicIP bool `json:"allocatePublicIP,omitempty"`

	// enableIPForwarding lets the network interfaces receive traffic for other addresses than their own, as a router
	// does. The default is false.
	// +optional
	EnableIPForwarding bool `json:"enableIPForwarding,omitempty"`

	// dnsServers are the IP addresses of DNS servers for the first network interface. The default is those of the
	// virtual network. At most 64.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	DNSServers []string `json:"dnsServers,omitempty"`

	// disableExtensionOperations does not allow extensions on the VM, the bootstrap extension of the provider included. The
	// default is false.
	// +optional
	DisableExtensionOperations *bool `json:"disableExtensionOperations,omitempty"`

	// virtualMachineScaleSetID is the Azure resource ID of an existing scale set with flexible orchestration to which
	// the VM is added.
	// +optional
	// +kubebuilder:validation:Pattern=`(?i)^(azure://)?/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/virtualMachineScaleSets/[^/]+/?$`
	VirtualMachineScaleSetID *string `json:"virtualMachineScaleSetID,omitempty"`
}

// Values of status.vmState in addition to Azure's provisioning states.
const (
	// VMStateDeleting means that Azure is deleting the VM.
	VMStateDeleting = "Deleting"
	// VMStateDeleted means that the VM existed and no longer exists.
	VMStateDeleted = "Deleted"
)

// AzureMachineStatus is the state of a VM.
type AzureMachineStatus struct {
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

	// vmState is Azure's provisioning state of the VM, for example Succeeded. It is Deleted if the VM no longer exists.
	// +optional
	VMState string `json:"vmState,omitempty"`

	// resources lists the Azure resources of the machine with their states.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremachines,scope=Namespaced,categories=cluster-api,shortName=azm
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".status.failureDomain",description="Availability zone of the VM"
// +kubebuilder:printcolumn:name="IP",type="string",JSONPath=".status.addresses[?(@.type=='InternalIP')].address",description="First private IP address of the VM"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.addresses[?(@.type=='InternalDNS')].address",description="Name of the VM and of its Node"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.vmSize",description="Size of the VM"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.vmState",description="Azure's provisioning state of the VM"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureMachine was created"
// +kubebuilder:printcolumn:name="Cluster",type="string",priority=1,JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureMachine belongs"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureMachine is the infrastructure of a Machine: a virtual machine with its disks and network interfaces.
type AzureMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="(!has(oldSelf.identity) || oldSelf.identity == 'None') ? (!has(self.identity) || self.identity in ['None', 'UserAssigned']) : (has(self.identity) && self.identity == oldSelf.identity)",message="identity can change from None to UserAssigned only after the machine was created; create a new machine",fieldPath=".identity",reason="FieldValueForbidden"
	// +capz:immutable:field=".sshPublicKey",as="text",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="(has(self.sshPublicKey) && self.sshPublicKey != '') == (has(oldSelf.sshPublicKey) && oldSelf.sshPublicKey != '') && (!(has(self.sshPublicKey) && self.sshPublicKey != '') || self.sshPublicKey == oldSelf.sshPublicKey)",message="sshPublicKey cannot change after the machine was created; create a new machine",fieldPath=".sshPublicKey",reason="FieldValueForbidden"
	// +capz:immutable:field=".allocatePublicIP",as="flag",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="(has(self.allocatePublicIP) && self.allocatePublicIP) == (has(oldSelf.allocatePublicIP) && oldSelf.allocatePublicIP)",message="allocatePublicIP cannot change after the machine was created; create a new machine",fieldPath=".allocatePublicIP",reason="FieldValueForbidden"
	// +capz:immutable:field=".enableIPForwarding",as="flag",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="(has(self.enableIPForwarding) && self.enableIPForwarding) == (has(oldSelf.enableIPForwarding) && oldSelf.enableIPForwarding)",message="enableIPForwarding cannot change after the machine was created; create a new machine",fieldPath=".enableIPForwarding",reason="FieldValueForbidden"
	// +capz:immutable:field=".capacityReservationGroupID",as="text",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="(has(self.capacityReservationGroupID) && self.capacityReservationGroupID != '') == (has(oldSelf.capacityReservationGroupID) && oldSelf.capacityReservationGroupID != '') && (!(has(self.capacityReservationGroupID) && self.capacityReservationGroupID != '') || self.capacityReservationGroupID == oldSelf.capacityReservationGroupID)",message="capacityReservationGroupID cannot change after the machine was created; create a new machine",fieldPath=".capacityReservationGroupID",reason="FieldValueForbidden"
	// +capz:immutable:field=".virtualMachineScaleSetID",as="text",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="(has(self.virtualMachineScaleSetID) && self.virtualMachineScaleSetID != '') == (has(oldSelf.virtualMachineScaleSetID) && oldSelf.virtualMachineScaleSetID != '') && (!(has(self.virtualMachineScaleSetID) && self.virtualMachineScaleSetID != '') || self.virtualMachineScaleSetID == oldSelf.virtualMachineScaleSetID)",message="virtualMachineScaleSetID cannot change after the machine was created; create a new machine",fieldPath=".virtualMachineScaleSetID",reason="FieldValueForbidden"
	// +capz:immutable:field=".disableExtensionOperations",as="flag",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="(has(self.disableExtensionOperations) && self.disableExtensionOperations) == (has(oldSelf.disableExtensionOperations) && oldSelf.disableExtensionOperations)",message="disableExtensionOperations cannot change after the machine was created; create a new machine",fieldPath=".disableExtensionOperations",reason="FieldValueForbidden"
	// +capz:immutable:field=".disableVMBootstrapExtension",as="once",because="once it is set; create a new machine"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.disableVMBootstrapExtension) || (has(self.disableVMBootstrapExtension) && self.disableVMBootstrapExtension == oldSelf.disableVMBootstrapExtension)",message="disableVMBootstrapExtension cannot change once it is set; create a new machine",fieldPath=".disableVMBootstrapExtension",reason="FieldValueForbidden"
	// +capz:immutable:field=".image",as="optional",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="has(self.image) == has(oldSelf.image) && (!has(self.image) || self.image == oldSelf.image)",message="image cannot change after the machine was created; create a new machine",fieldPath=".image",reason="FieldValueForbidden"
	// +capz:immutable:field=".securityProfile",as="optional",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="has(self.securityProfile) == has(oldSelf.securityProfile) && (!has(self.securityProfile) || self.securityProfile == oldSelf.securityProfile)",message="securityProfile cannot change after the machine was created; create a new machine",fieldPath=".securityProfile",reason="FieldValueForbidden"
	// +capz:immutable:field=".osDisk",as="exact",because="after the machine was created; create a new machine"
	// +kubebuilder:validation:XValidation:rule="self.osDisk == oldSelf.osDisk",message="osDisk cannot change after the machine was created; create a new machine",fieldPath=".osDisk",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="self.vmSize != '' || oldSelf.?vmSize.orValue('none') == ''",message="set the size of the VM, for example Standard_D2s_v5",fieldPath=".vmSize",reason="FieldValueRequired",optionalOldSelf=true
	Spec AzureMachineSpec `json:"spec,omitempty"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureMachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (m *AzureMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions.
func (m *AzureMachine) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }

// GetObserved returns the generation and the request that the status was computed for.
func (m *AzureMachine) GetObserved() *ObservedStatus { return &m.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureMachineList is a list of AzureMachines.
type AzureMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureMachine `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureMachine{}, &AzureMachineList{}) }
