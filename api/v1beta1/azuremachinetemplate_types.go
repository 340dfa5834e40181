package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureMachineTemplateSpec describes a template of AzureMachines.
type AzureMachineTemplateSpec struct {
	// template is what AzureMachines are made from.
	// +required
	Template AzureMachineTemplateResource `json:"template"`
}

// AzureMachineTemplateResource is what AzureMachines are made from.
type AzureMachineTemplateResource struct {
	// metadata are labels and annotations for the AzureMachines.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureMachines.
	// +required
	// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.?roleAssignmentName.orValue('') == ''",message="must be empty in a template: every machine needs a role assignment of its own",fieldPath=".roleAssignmentName",reason="FieldValueForbidden",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.?systemAssignedIdentityRole.?name.orValue('') == ''",message="must be empty in a template: every machine needs a role assignment of its own",fieldPath=".systemAssignedIdentityRole.name",reason="FieldValueForbidden",optionalOldSelf=true
	Spec AzureMachineSpec `json:"spec"`
}

// TemplateMetadata are labels and annotations for objects made from a template.
type TemplateMetadata struct {
	// labels are the labels.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are the annotations.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Architecture is a processor architecture, as nodes name it.
// +kubebuilder:validation:Enum=amd64;arm64
type Architecture string

const (
	// ArchitectureAmd64 is x86-64.
	ArchitectureAmd64 Architecture = "amd64"
	// ArchitectureArm64 is 64-bit Arm.
	ArchitectureArm64 Architecture = "arm64"
)

// OperatingSystem is an operating system, as nodes name it.
// +kubebuilder:validation:Enum=linux;windows
type OperatingSystem string

const (
	// OperatingSystemLinux is Linux.
	OperatingSystemLinux OperatingSystem = "linux"
	// OperatingSystemWindows is Windows.
	OperatingSystemWindows OperatingSystem = "windows"
)

// NodeInfo tells what nodes of a template are.
type NodeInfo struct {
	// architecture is the processor architecture.
	// +optional
	Architecture Architecture `json:"architecture,omitempty"`

	// operatingSystem is the operating system.
	// +optional
	OperatingSystem OperatingSystem `json:"operatingSystem,omitempty"`
}

// AzureMachineTemplateStatus tells the cluster autoscaler what a node of the template would be, so that it can scale up
// from nothing.
type AzureMachineTemplateStatus struct {
	ObservedStatus `json:",inline"`

	// capacity are the resources of a node.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo is what a node is.
	// +optional
	NodeInfo *NodeInfo `json:"nodeInfo,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremachinetemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1

// AzureMachineTemplate is a template of AzureMachines.
type AzureMachineTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AzureMachineTemplateSpec   `json:"spec,omitempty"`
	Status AzureMachineTemplateStatus `json:"status,omitempty,omitzero"`
}

// GetObserved tells what of the object the status is about.
func (t *AzureMachineTemplate) GetObserved() *ObservedStatus { return &t.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureMachineTemplateList is a list of AzureMachineTemplates.
type AzureMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureMachineTemplate `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureMachineTemplate{}, &AzureMachineTemplateList{}) }
