package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureMachineTemplateSpec describes a template of AzureMachines.
type AzureMachineTemplateSpec struct {
	// template has the metadata and the spec of the AzureMachines to create.
	// +required
	Template AzureMachineTemplateResource `json:"template"`
}

// AzureMachineTemplateResource has the metadata and the spec of AzureMachines that are created from a template.
type AzureMachineTemplateResource struct {
	// metadata has labels and annotations for the AzureMachines that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureMachines that are created from the template. It cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.?roleAssignmentName.orValue('') == ''",message="must be empty in a template: every machine needs a role assignment of its own",fieldPath=".roleAssignmentName",reason="FieldValueForbidden",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.?systemAssignedIdentityRole.?name.orValue('') == ''",message="must be empty in a template: every machine needs a role assignment of its own",fieldPath=".systemAssignedIdentityRole.name",reason="FieldValueForbidden",optionalOldSelf=true
	Spec AzureMachineSpec `json:"spec"`
}

// TemplateMetadata has labels and annotations for objects that are created from a template.
type TemplateMetadata struct {
	// labels are added to the labels of the created objects.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the annotations of the created objects.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Architecture is a processor architecture, as in the label kubernetes.io/arch of nodes.
// +kubebuilder:validation:Enum=amd64;arm64
type Architecture string

const (
	// ArchitectureAmd64 is x86-64.
	ArchitectureAmd64 Architecture = "amd64"
	// ArchitectureArm64 is 64-bit Arm.
	ArchitectureArm64 Architecture = "arm64"
)

// OperatingSystem is an operating system, as in the label kubernetes.io/os of nodes.
// +kubebuilder:validation:Enum=linux;windows
type OperatingSystem string

const (
	// OperatingSystemLinux is Linux.
	OperatingSystemLinux OperatingSystem = "linux"
	// OperatingSystemWindows is Windows.
	OperatingSystemWindows OperatingSystem = "windows"
)

// NodeInfo describes the nodes of a template or of a pool. The names and values are those that the cluster autoscaler reads.
type NodeInfo struct {
	// architecture is the processor architecture of the VM size: amd64 or arm64.
	// +optional
	Architecture Architecture `json:"architecture,omitempty"`

	// operatingSystem is the operating system of the nodes: linux or windows.
	// +optional
	OperatingSystem OperatingSystem `json:"operatingSystem,omitempty"`
}

// AzureMachineTemplateStatus describes the nodes of the template for the cluster autoscaler, which needs it to scale up
// from zero nodes, and the state of the template.
type AzureMachineTemplateStatus struct {
	ObservedStatus `json:",inline"`

	// conditions describe the state of the template. The condition Ready is False while the properties of a node cannot be
	// determined, for example because the region does not have the VM size. At most one condition of each type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// capacity has the resources of one node, for example cpu and memory.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo has the architecture and the operating system of the nodes.
	// +optional
	NodeInfo *NodeInfo `json:"nodeInfo,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremachinetemplates,scope=Namespaced,categories=cluster-api,shortName=azmt
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.template.spec.vmSize",description="Size of the VMs"
// +kubebuilder:printcolumn:name="OS",type="string",JSONPath=".spec.template.spec.osDisk.osType",description="Operating system of the VMs"
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.capacity.cpu",description="vCPUs of one VM"
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.capacity.memory",description="Memory of one VM"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureMachineTemplate was created"
// +kubebuilder:printcolumn:name="Cluster",type="string",priority=1,JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureMachineTemplate belongs"
// +kubebuilder:printcolumn:name="ClusterClass",type="string",priority=1,JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"

// AzureMachineTemplate is a template of AzureMachines.
type AzureMachineTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureMachineTemplateSpec `json:"spec,omitempty"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureMachineTemplateStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (t *AzureMachineTemplate) GetConditions() []metav1.Condition { return t.Status.Conditions }

// SetConditions replaces the conditions.
func (t *AzureMachineTemplate) SetConditions(conditions []metav1.Condition) {
	t.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
func (t *AzureMachineTemplate) GetObserved() *ObservedStatus { return &t.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureMachineTemplateList is a list of AzureMachineTemplates.
type AzureMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureMachineTemplate `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureMachineTemplate{}, &AzureMachineTemplateList{}) }
