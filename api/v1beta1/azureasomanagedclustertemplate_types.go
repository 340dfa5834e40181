package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AzureASOManagedClusterTemplateResourceSpec is the part of the spec that AzureASOManagedClusters of one class share.
type AzureASOManagedClusterTemplateResourceSpec struct {
	AzureASOManagedResources `json:",inline"`

	// identityRef names the AzureClusterIdentity that Azure is asked as for the documents of the Cluster that name no Secret by the
	// annotation serviceoperator.azure.com/credential-from.
	// +optional
	IdentityRef *corev1.ObjectReference `json:"identityRef,omitempty"`

	// subscriptionID is the subscription of the documents, where an AzureClusterIdentity is used. The default is the manager's.
	// +optional
	SubscriptionID string `json:"subscriptionID,omitempty"`

	// azureEnvironment is the name of the Azure cloud. The default is AzurePublicCloud.
	// +optional
	AzureEnvironment string `json:"azureEnvironment,omitempty"`
}

// AzureASOManagedClusterTemplateSpec describes a template of AzureASOManagedClusters.
type AzureASOManagedClusterTemplateSpec struct {
	// template is what AzureASOManagedClusters are made from.
	// +required
	Template AzureASOManagedClusterTemplateResource `json:"template"`
}

// AzureASOManagedClusterTemplateResource is what AzureASOManagedClusters are made from.
type AzureASOManagedClusterTemplateResource struct {
	// metadata are labels and annotations for the AzureASOManagedClusters.
	// +optional
	ObjectMeta TemplateMetadata `json:"metadata,omitempty,omitzero"`

	// spec is that of the AzureASOManagedClusters.
	// +optional
	Spec AzureASOManagedClusterTemplateResourceSpec `json:"spec,omitempty,omitzero"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=azureasomanagedclustertemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1

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
