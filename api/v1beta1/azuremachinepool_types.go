package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OrchestrationMode is the way in which a scale set manages its VMs.
// +kubebuilder:validation:Enum=Flexible;Uniform
type OrchestrationMode string

const (
	// UniformOrchestration means identical VMs that are instances of the scale set.
	UniformOrchestration OrchestrationMode = "Uniform"
	// FlexibleOrchestration means VMs that are Azure resources of their own.
	FlexibleOrchestration OrchestrationMode = "Flexible"
)

// AzureMachinePoolSpec describes a virtual machine scale set. The MachinePool has the number of VMs, their Kubernetes
// version and their zones.
type AzureMachinePoolSpec struct {
	ManagedIdentities `json:",inline"`

	// location is the Azure region of the scale set, for example westeurope. It cannot change.
	// +required
	Location string `json:"location"`

	// template describes the VMs of the scale set.
	// +required
	// +kubebuilder:validation:XValidation:rule="self.vmSize != '' || oldSelf.?vmSize.orValue('none') == ''",message="set the size of the VMs, for example Standard_D2s_v5",fieldPath=".vmSize",reason="FieldValueRequired",optionalOldSelf=true
	Template AzureMachinePoolMachineTemplate `json:"template"`

	// additionalTags are tags for all Azure resources of the pool, in addition to those of the cluster. They take
	// precedence over the cluster's.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// providerID is "azure://" followed by the Azure resource ID of the scale set. The provider sets it.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// providerIDList lists the provider IDs of the VMs. The provider sets it. At most 5000.
	// +optional
	// +kubebuilder:validation:MaxItems=5000
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// strategy is the way in which VMs of an older model are replaced. The default is a rolling update with maxSurge 1
	// and maxUnavailable 0.
	// +optional
	// +kubebuilder:default={type: "RollingUpdate", rollingUpdate: {maxSurge: 1, maxUnavailable: 0, deletePolicy: Oldest}}
	Strategy AzureMachinePoolDeploymentStrategy `json:"strategy,omitempty,omitzero"`

	// orchestrationMode is the way in which the scale set manages its VMs: Uniform (the default) or Flexible. It cannot
	// change.
	// +optional
	// +kubebuilder:default=Uniform
	OrchestrationMode OrchestrationMode `json:"orchestrationMode,omitempty"`

	// platformFaultDomainCount is the number of fault domains in each zone over which VMs are spread, at most 5. The
	// default is Azure's for Uniform and 1 for Flexible. It cannot change.
	// +optional
	// +kubebuilder:validation:Maximum=5
	PlatformFaultDomainCount *int32 `json:"platformFaultDomainCount,omitempty"`

	// zoneBalance keeps the number of VMs in each zone equal, even if that means fewer VMs because a zone has no
	// capacity. It has no effect with fewer than two zones. The default is false.
	// +optional
	ZoneBalance *bool `json:"zoneBalance,omitempty"`
}

// AzureMachinePoolMachineTemplate describes the VMs of a scale set.
type AzureMachinePoolMachineTemplate struct {
	VirtualMachineProfile `json:",inline"`

	// terminateNotificationTimeout is the number of minutes, 5 to 15, between Azure's scheduled event on a VM and its
	// deletion. Without it, VMs get no such event.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=15
	TerminateNotificationTimeout *int `json:"terminateNotificationTimeout,omitempty"`
}

// AzureMachinePoolStatus is the state of a scale set.
type AzureMachinePoolStatus struct {
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

	// replicas is the number of VMs of the scale set.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of VMs whose Machines are Ready. A change of it makes Cluster API count the ready
	// replicas of the MachinePool again.
	// +optional
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// lastReconciledReplicas is the number of replicas at the last time when the scale set had as many VMs as
	// requested.
	// +optional
	LastReconciledReplicas *int32 `json:"lastReconciledReplicas,omitempty"`

	// instances lists the VMs of the scale set.
	// +optional
	// +listType=atomic
	Instances []AzureMachinePoolInstanceStatus `json:"instances,omitempty"`

	// capacity has the resources of one node of the pool. The cluster autoscaler needs it to scale up a pool without
	// nodes.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo has the architecture and the operating system of the nodes. Without it, the cluster autoscaler assumes Linux on amd64 for a
	// pool that has no nodes.
	// +optional
	NodeInfo *NodeInfo `json:"nodeInfo,omitempty"`

	// image is the image of VMs that are created now.
	// +optional
	Image *Image `json:"image,omitempty"`

	// version is the Kubernetes version of VMs that are created now.
	// +optional
	Version string `json:"version,omitempty"`

	// provisioningState is Azure's provisioning state of the scale set, for example Succeeded.
	// +optional
	ProvisioningState string `json:"provisioningState,omitempty"`

	// infrastructureMachineKind is the kind of the objects that represent the VMs, AzureMachinePoolMachine. Cluster API
	// creates a Machine for each of them.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`

	// resources lists the Azure resources of the pool with their states.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
}

// AzureMachinePoolInstanceStatus is the state of a VM of a scale set.
type AzureMachinePoolInstanceStatus struct {
	// version is the Kubernetes version of the VM.
	// +optional
	Version string `json:"version,omitempty"`

	// provisioningState is Azure's provisioning state of the VM.
	// +optional
	ProvisioningState string `json:"provisioningState,omitempty"`

	// providerID is "azure://" followed by the Azure resource ID of the VM.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// instanceID identifies the VM within the scale set.
	// +optional
	InstanceID string `json:"instanceID,omitempty"`

	// instanceName is the name of the VM.
	// +optional
	InstanceName string `json:"instanceName,omitempty"`

	// latestModelApplied is true if the VM has the current model of the scale set.
	// +required
	LatestModelApplied bool `json:"latestModelApplied"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremachinepools,scope=Namespaced,categories=cluster-api,shortName=amp
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Replicas",type="string",JSONPath=".status.replicas",description="Number of VMs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Kubernetes version of the pool"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.template.vmSize",description="Size of the VMs"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.provisioningState",description="Azure's provisioning state of the scale set"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureMachinePool was created"
// +kubebuilder:printcolumn:name="Cluster",type="string",priority=1,JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureMachinePool belongs"
// +kubebuilder:printcolumn:name="MachinePool",type="string",priority=1,JSONPath=".metadata.ownerReferences[?(@.kind==\"MachinePool\")].name",description="MachinePool that owns this AzureMachinePool"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureMachinePool is the infrastructure of a MachinePool: a virtual machine scale set.
type AzureMachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="(has(oldSelf.providerID) ? oldSelf.providerID : '') == '' || self.location == oldSelf.location",message="location cannot change after the scale set was created; create a new pool",fieldPath=".location",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(oldSelf.providerID) ? oldSelf.providerID : '') == '' || (has(self.orchestrationMode) ? self.orchestrationMode : 'Uniform') == (has(oldSelf.orchestrationMode) ? oldSelf.orchestrationMode : 'Uniform')",message="orchestrationMode cannot change after the scale set was created; create a new pool",fieldPath=".orchestrationMode",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(oldSelf.providerID) ? oldSelf.providerID : '') == '' || (has(self.platformFaultDomainCount) ? self.platformFaultDomainCount : 0) == (has(oldSelf.platformFaultDomainCount) ? oldSelf.platformFaultDomainCount : 0)",message="platformFaultDomainCount cannot change after the scale set was created; create a new pool",fieldPath=".platformFaultDomainCount",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(oldSelf.providerID) ? oldSelf.providerID : '') == '' || self.template.osDisk.osType == oldSelf.template.osDisk.osType",message="osType cannot change after the scale set was created; create a new pool",fieldPath=".template.osDisk.osType",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(oldSelf.providerID) ? oldSelf.providerID : '') == '' || has(self.template.spotVMOptions) == has(oldSelf.template.spotVMOptions)",message="Azure does not turn a scale set into one of spot VMs or back; create a new pool",fieldPath=".template.spotVMOptions",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.template.disableVMBootstrapExtension) || has(self.template.disableVMBootstrapExtension) && self.template.disableVMBootstrapExtension == oldSelf.template.disableVMBootstrapExtension",message="disableVMBootstrapExtension cannot change once it is set; create a new pool",fieldPath=".template.disableVMBootstrapExtension",reason="FieldValueForbidden"
	Spec AzureMachinePoolSpec `json:"spec,omitempty"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureMachinePoolStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (p *AzureMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *AzureMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
func (p *AzureMachinePool) GetObserved() *ObservedStatus { return &p.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureMachinePoolList is a list of AzureMachinePools.
type AzureMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureMachinePool `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureMachinePool{}, &AzureMachinePoolList{}) }
