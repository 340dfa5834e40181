package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedControlPlaneTemplateResourceSpec is the part of the spec that all AzureASOManagedControlPlanes of a
// ClusterClass have in common.
type AzureASOManagedControlPlaneTemplateResourceSpec struct {
	AzureASOManagedResources `json:",inline"`

	// version is the Kubernetes version of the control plane, for example v1.33.2. The topology of the Cluster sets it.
	// +optional
	Version string `json:"version,omitempty"`
}

// AzureASOManagedControlPlaneTemplateSpec describes a template of AzureASOManagedControlPlanes.
type AzureASOManagedControlPlaneTemplateSpec struct {
	// template has the metadata and the spec of the AzureASOManagedControlPlanes to create.
	// +required
	Template AzureASOManagedControlPlaneTemplateResource `json:"template"`
}

// AzureASOManagedControlPlaneTemplateResource has the metadata and the spec of AzureASOManagedControlPlanes that are
// created from a template.
type AzureASOManagedControlPlaneTemplateResource struct {
	// metadata has labels and annotations for the AzureASOManagedControlPlanes that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureASOManagedControlPlanes that are created from the template.
	// +optional
	Spec AzureASOManagedControlPlaneTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azureasomanagedcontrolplanetemplates,scope=Namespaced,categories=cluster-api,shortName=aasomcpt
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.template.spec.version",description="Kubernetes version"
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedControlPlaneTemplate was created"

// AzureASOManagedControlPlaneTemplate is a template of AzureASOManagedControlPlanes, for ClusterClasses.
type AzureASOManagedControlPlaneTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedControlPlaneTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// AzureASOManagedControlPlaneTemplateList is a list of AzureASOManagedControlPlaneTemplates.
type AzureASOManagedControlPlaneTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureASOManagedControlPlaneTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureASOManagedControlPlaneTemplate{}, &AzureASOManagedControlPlaneTemplateList{})
}
