package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureManagedMachinePoolTemplateSpec describes a template of AzureManagedMachinePools.
type AzureManagedMachinePoolTemplateSpec struct {
	// template has the metadata and the spec of the AzureManagedMachinePools to create.
	// +required
	Template AzureManagedMachinePoolTemplateResource `json:"template"`
}

// AzureManagedMachinePoolTemplateResource has the metadata and the spec of AzureManagedMachinePools that are created
// from a template.
type AzureManagedMachinePoolTemplateResource struct {
	// metadata has labels and annotations for the AzureManagedMachinePools that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureManagedMachinePools that are created from the template. Fields that differ between
	// pools of a ClusterClass are not part of it.
	// +required
	Spec AzureManagedMachinePoolTemplateResourceSpec `json:"spec"`
}

// AzureManagedMachinePoolTemplateResourceSpec is the part of the spec of an AzureManagedMachinePool that all pools of a
// ClusterClass have in common.
type AzureManagedMachinePoolTemplateResourceSpec struct {
	AzureManagedMachinePoolClassSpec `json:",inline"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azuremanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=ammpt
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.template.spec.mode",description="Mode of the pools: System or User"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.template.spec.sku",description="Size of the VMs"
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedMachinePoolTemplate was created"

// AzureManagedMachinePoolTemplate is a template of AzureManagedMachinePools, for ClusterClasses.
type AzureManagedMachinePoolTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureManagedMachinePoolTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// AzureManagedMachinePoolTemplateList is a list of AzureManagedMachinePoolTemplates.
type AzureManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureManagedMachinePoolTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureManagedMachinePoolTemplate{}, &AzureManagedMachinePoolTemplateList{})
}
