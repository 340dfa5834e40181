package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedClusterTemplateResourceSpec is the part of the spec that all AzureASOManagedClusters of a ClusterClass
// have in common.
type AzureASOManagedClusterTemplateResourceSpec struct {
	AzureASOManagedResources `json:",inline"`

	// identityRef names the AzureClusterIdentity that the provider uses for the resource manifests of the Cluster. A
	// manifest with the annotation serviceoperator.azure.com/credential-from uses the Secret named there instead.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// subscriptionID is the ID of the Azure subscription of resource manifests that use identityRef. The default is the
	// environment variable AZURE_SUBSCRIPTION_ID of the manager.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// azureEnvironment is the name of the Azure cloud: AzurePublicCloud (the default), AzureChinaCloud or
	// AzureUSGovernmentCloud.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`
}

// AzureASOManagedClusterTemplateSpec describes a template of AzureASOManagedClusters.
type AzureASOManagedClusterTemplateSpec struct {
	// template has the metadata and the spec of the AzureASOManagedClusters to create.
	// +required
	Template AzureASOManagedClusterTemplateResource `json:"template"`
}

// AzureASOManagedClusterTemplateResource has the metadata and the spec of AzureASOManagedClusters that are created from
// a template.
type AzureASOManagedClusterTemplateResource struct {
	// metadata has labels and annotations for the AzureASOManagedClusters that are created from the template.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is the spec of the AzureASOManagedClusters that are created from the template.
	// +optional
	Spec AzureASOManagedClusterTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azureasomanagedclustertemplates,scope=Namespaced,categories=cluster-api,shortName=aasomct
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="ClusterClass",type="string",JSONPath=".metadata.ownerReferences[?(@.kind=='ClusterClass')].name",description="ClusterClass that uses the template"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureASOManagedClusterTemplate was created"

// AzureASOManagedClusterTemplate is a template of AzureASOManagedClusters, for ClusterClasses.
type AzureASOManagedClusterTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureASOManagedClusterTemplateSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true

// AzureASOManagedClusterTemplateList is a list of AzureASOManagedClusterTemplates.
type AzureASOManagedClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureASOManagedClusterTemplate `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureASOManagedClusterTemplate{}, &AzureASOManagedClusterTemplateList{})
}
