package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedMachinePoolTemplateResourceSpec is the part of the spec that all AzureASOManagedMachinePools of a
// ClusterClass have in common.
type AzureASOManagedMachinePoolTemplateResourceSpec struct {
	AzureASOManagedResources `json:",inline"`

	// version has no effect. The version of the MachinePool is used.
	// +optional
	Version string `json:"version,omitempty"`
}

// AzureASOManagedMachinePoolTemplateSpec describes a template of AzureASOManagedMachinePools.
type AzureASOManagedMachinePoolTemplateSpec struct {
	// template has the metadata and the spec of the AzureASOManagedMachinePools to create.
	// +required
	Template AzureASOManagedMachinePoolTemplateResource `json:"template"`
}

// AzureASOManagedMachinePoolTemplateResource has the metadata and the spec of AzureASOManagedMachinePools that are
// created from a template.
type AzureASOManagedMachinePoolTemplateResource struct {
	// metadata has labels and annotations for the AzureASOManagedMachinePools that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureASOManagedMachinePools that are created from the template.
	// +optional
	Spec AzureASOManagedMachinePoolTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azureasomanagedmachinepooltemplates,scope=Namespaced,categories=cluster-api,shortName=aasommpt
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.template.spec.resources[?(@.kind=='ManagedClustersAgentPool')].spec.mode",description="Mode of the pools in their manifest: System or User"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.template.spec.resources[?(@.kind=='ManagedClustersAgentPool')].spec.vmSize",description="Size of the VMs in the manifest"
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedMachinePoolTemplate was created"

// AzureASOManagedMachinePoolTemplate is a template of AzureASOManagedMachinePools, for ClusterClasses.
type AzureASOManagedMachinePoolTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedMachinePoolTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// AzureASOManagedMachinePoolTemplateList is a list of AzureASOManagedMachinePoolTemplates.
type AzureASOManagedMachinePoolTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureASOManagedMachinePoolTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureASOManagedMachinePoolTemplate{}, &AzureASOManagedMachinePoolTemplateList{})
}
