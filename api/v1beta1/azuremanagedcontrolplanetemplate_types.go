package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureManagedControlPlaneTemplateSpec describes a template of AzureManagedControlPlanes.
type AzureManagedControlPlaneTemplateSpec struct {
	// template has the metadata and the spec of the AzureManagedControlPlanes to create.
	// +required
	Template AzureManagedControlPlaneTemplateResource `json:"template"`
}

// AzureManagedControlPlaneTemplateResource has the metadata and the spec of AzureManagedControlPlanes that are created
// from a template.
type AzureManagedControlPlaneTemplateResource struct {
	// metadata has labels and annotations for the AzureManagedControlPlanes that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureManagedControlPlanes that are created from the template. Fields that differ between
	// clusters of a ClusterClass are not part of it.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.identityRef) || oldSelf.hasValue() && !oldSelf.?identityRef.hasValue()",message="set identityRef to an AzureClusterIdentity",fieldPath=".identityRef",reason="FieldValueRequired",optionalOldSelf=true
	Spec AzureManagedControlPlaneTemplateResourceSpec `json:"spec"`
}

// AzureManagedControlPlaneTemplateResourceSpec is the part of the spec of an AzureManagedControlPlane that all clusters
// of a ClusterClass have in common.
type AzureManagedControlPlaneTemplateResourceSpec struct {
	AzureManagedControlPlaneClassSpec `json:",inline"`

	// fleetsMember adds the clusters to a fleet of Azure Kubernetes Fleet Manager.
	// +optional
	FleetsMember *FleetsMemberClassSpec `json:"fleetsMember,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azuremanagedcontrolplanetemplates,scope=Namespaced,categories=cluster-api,shortName=amcpt
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.template.spec.version",description="Kubernetes version"
// +kubebuilder:printcolumn:name="Location",type="string",JSONPath=".spec.template.spec.location",description="Region of Azure"
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedControlPlaneTemplate was created"

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
