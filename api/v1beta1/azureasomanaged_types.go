package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Finalizers of the AzureASOManaged kinds. Those of clusters and pools are called as that of Clusters, because stored objects
// have it.
const (
	// ASOManagedControlPlaneFinalizer is on an AzureASOManagedControlPlane until its Azure resources are gone.
	ASOManagedControlPlaneFinalizer = "azureasomanagedcontrolplane.infrastructure.cluster.x-k8s.io"
	// ASOManagedFinalizer is on an AzureASOManagedCluster or AzureASOManagedMachinePool until its Azure resources are gone.
	ASOManagedFinalizer = "cluster.cluster.x-k8s.io"
)

// AzureASOManagedResources are documents of Azure resources.
type AzureASOManagedResources struct {
	// resources are the Azure resources, as documents of the Azure Service Operator: apiVersion, kind, metadata with a name, and
	// spec. No operator is needed for them.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:Type=object
	// +kubebuilder:validation:items:XPreserveUnknownFields
	Resources []runtime.RawExtension `json:"resources,omitempty"`
}

// ASOResource names a document.
type ASOResource struct {
	// group is the group of its apiVersion.
	// +required
	Group string `json:"group"`

	// version is the version of its apiVersion.
	// +required
	Version string `json:"version"`

	// kind is its kind.
	// +required
	Kind string `json:"kind"`

	// name is its name.
	// +required
	Name string `json:"name"`
}

// ASOResourceStatus tells where the Azure resource of a document stands. It is for people to read; the controllers never read
// it back.
type ASOResourceStatus struct {
	// resource names the document.
	// +required
	Resource ASOResource `json:"resource"`

	// ready is true when the Azure resource is as the document says, and when nothing is left of one that has to go.
	// +required
	Ready bool `json:"ready"`

	// id is the Azure resource ID, once it is known.
	// +optional
	ID string `json:"id,omitempty"`

	// reason is one word for where the resource stands while it is not ready.
	// +optional
	Reason string `json:"reason,omitempty"`

	// code is Azure's code for why the resource failed.
	// +optional
	Code string `json:"code,omitempty"`

	// message says what the resource waits for or why it failed.
	// +optional
	Message string `json:"message,omitempty"`
}
