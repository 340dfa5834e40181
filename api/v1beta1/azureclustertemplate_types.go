package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureClusterTemplateSpec describes a template of AzureClusters.
type AzureClusterTemplateSpec struct {
	// template is what AzureClusters are made from.
	// +required
	Template AzureClusterTemplateResource `json:"template"`
}

// AzureClusterTemplateResource is what AzureClusters are made from.
type AzureClusterTemplateResource struct {
	// metadata are labels and annotations for the AzureClusters.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the part of the AzureCluster's spec that is the same for every cluster of the class.
	// +required
	Spec AzureClusterTemplateResourceSpec `json:"spec"`
}

// AzureClusterTemplateResourceSpec is the part of an AzureCluster's spec that is the same for every cluster of a class.
type AzureClusterTemplateResourceSpec struct {
	AzureClusterClassSpec `json:",inline"`

	// networkSpec describes the network.
	// +optional
	NetworkSpec NetworkTemplateSpec `json:"networkSpec,omitempty,omitzero"`

	// bastionSpec describes how people reach the machines.
	// +optional
	BastionSpec BastionTemplateSpec `json:"bastionSpec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azureclustertemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1

// AzureClusterTemplate is a template of AzureClusters, for ClusterClasses.
type AzureClusterTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureClusterTemplateSpec `json:"spec,omitempty"`
}

// +kubebuilder:object:root=true

// AzureClusterTemplateList is a list of AzureClusterTemplates.
type AzureClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureClusterTemplate `json:"items"`
}

func init() { objectTypes = append(objectTypes, &AzureClusterTemplate{}, &AzureClusterTemplateList{}) }
