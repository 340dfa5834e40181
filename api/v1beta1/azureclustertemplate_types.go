package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureClusterTemplateSpec describes a template of AzureClusters.
type AzureClusterTemplateSpec struct {
	// template has the metadata and the spec of the AzureClusters to create.
	// +required
	Template AzureClusterTemplateResource `json:"template"`
}

// AzureClusterTemplateResource has the metadata and the spec of AzureClusters that are created from a template.
type AzureClusterTemplateResource struct {
	// metadata has labels and annotations for the AzureClusters that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureClusters that are created from the template. Fields that differ between clusters of
	// a ClusterClass are not part of it.
	// +required
	Spec AzureClusterTemplateResourceSpec `json:"spec"`
}

// AzureClusterTemplateResourceSpec is the part of the spec of an AzureCluster that all clusters of a ClusterClass have
// in common.
type AzureClusterTemplateResourceSpec struct {
	AzureClusterClassSpec `json:",inline"`

	// networkSpec describes the virtual network, its subnets and the load balancers.
	// +optional
	NetworkSpec NetworkTemplateSpec `json:"networkSpec,omitempty,omitzero"`

	// bastionSpec adds a bastion host for SSH and RDP connections to the machines.
	// +optional
	BastionSpec BastionTemplateSpec `json:"bastionSpec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azureclustertemplates,scope=Namespaced,categories=cluster-api,shortName=azct
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Location",type="string",JSONPath=".spec.template.spec.location",description="Region of Azure"
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureClusterTemplate was created"

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
