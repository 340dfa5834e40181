package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureManagedClusterTemplateSpec describes a template of AzureManagedClusters.
type AzureManagedClusterTemplateSpec struct {
	// template has the metadata and the spec of the AzureManagedClusters to create.
	// +required
	Template AzureManagedClusterTemplateResource `json:"template"`
}

// AzureManagedClusterTemplateResource has the metadata and the spec of AzureManagedClusters that are created from a
// template.
type AzureManagedClusterTemplateResource struct {
	// metadata has labels and annotations for the AzureManagedClusters that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is empty, because all settings of an AKS cluster belong to the AzureManagedControlPlane.
	// +required
	Spec AzureManagedClusterTemplateResourceSpec `json:"spec"`
}

// AzureManagedClusterTemplateResourceSpec has no fields.
type AzureManagedClusterTemplateResourceSpec struct{}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azuremanagedclustertemplates,scope=Namespaced,categories=cluster-api,shortName=amct
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedClusterTemplate was created"

// AzureManagedClusterTemplate is a template of AzureManagedClusters, for ClusterClasses.
type AzureManagedClusterTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureManagedClusterTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// AzureManagedClusterTemplateList is a list of AzureManagedClusterTemplates.
type AzureManagedClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureManagedClusterTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureManagedClusterTemplate{}, &AzureManagedClusterTemplateList{})
}
