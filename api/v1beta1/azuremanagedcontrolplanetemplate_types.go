package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureManagedControlPlaneTemplateSpec describes a template of AzureManagedControlPlanes.
type AzureManagedControlPlaneTemplateSpec struct {
	// template is what AzureManagedControlPlanes are made from.
	// +required
	Template AzureManagedControlPlaneTemplateResource `json:"template"`
}

// AzureManagedControlPlaneTemplateResource is what AzureManagedControlPlanes are made from.
type AzureManagedControlPlaneTemplateResource struct {
	// metadata are labels and annotations for the AzureManagedControlPlanes.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the part of the AzureManagedControlPlane's spec that is the same for every cluster of the class.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.identityRef) || oldSelf.hasValue() && !oldSelf.?identityRef.hasValue()",message="name the AzureClusterIdentity to use",fieldPath=".identityRef",reason="FieldValueRequired",optionalOldSelf=true
	Spec AzureManagedControlPlaneTemplateResourceSpec `json:"spec"`
}

// AzureManagedControlPlaneTemplateResourceSpec is the part of an AzureManagedControlPlane's spec that is the same for every
// cluster of a class.
type AzureManagedControlPlaneTemplateResourceSpec struct {
	AzureManagedControlPlaneClassSpec `json:",inline"`

	// fleetsMember makes the clusters members of a fleet of Azure Kubernetes Fleet Manager.
	// +optional
	FleetsMember *FleetsMemberClassSpec `json:"fleetsMember,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azuremanagedcontrolplanetemplates,scope=Namespaced,categories=cluster-api,shortName=amcpt
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1

// AzureManagedControlPlaneTemplate is a template of AzureManagedControlPlanes, for ClusterClasses.
type AzureManagedControlPlaneTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureManagedControlPlaneTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// AzureManagedControlPlaneTemplateList is a list of AzureManagedControlPlaneTemplates.
type AzureManagedControlPlaneTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureManagedControlPlaneTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureManagedControlPlaneTemplate{}, &AzureManagedControlPlaneTemplateList{})
}
