package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Finalizers of the AzureASOManaged kinds. The finalizer of clusters and pools has the name of the finalizer of
// Clusters, because stored objects carry it.
const (
	// ASOManagedControlPlaneFinalizer is on an AzureASOManagedControlPlane until its Azure resources are gone.
	ASOManagedControlPlaneFinalizer = "azureasomanagedcontrolplane.infrastructure.cluster.x-k8s.io"
	// ASOManagedFinalizer is on an AzureASOManagedCluster or AzureASOManagedMachinePool until its Azure resources are gone.
	ASOManagedFinalizer = "cluster.cluster.x-k8s.io"
)

// AzureASOManagedResources are resource manifests.
type AzureASOManagedResources struct {
	// resources lists Azure resources as manifests in the format of the Azure Service Operator: apiVersion, kind,
	// metadata with a name, and spec. The Azure Service Operator does not need to be installed. At most 500.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:Type=object
	// +kubebuilder:validation:items:XPreserveUnknownFields
	Resources []runtime.RawExtension `json:"resources,omitempty"`
}

// ASOResource identifies a resource manifest.
type ASOResource struct {
	// group is the API group in the apiVersion of the manifest, for example containerservice.azure.com.
	// +required
	Group string `json:"group"`

	// version is the version in the apiVersion of the manifest, for example v1api20250301.
	// +required
	Version string `json:"version"`

	// kind is the kind of the manifest, for example ManagedCluster.
	// +required
	Kind string `json:"kind"`

	// name is metadata.name of the manifest.
	// +required
	Name string `json:"name"`
}

// ASOResourceStatus is the state of the Azure resource of one manifest. It is information for users. The controllers
// never read it.
type ASOResourceStatus struct {
	// resource identifies the manifest.
	// +required
	Resource ASOResource `json:"resource"`

	// ready is true when the Azure resource is in place as the manifest describes it. For a resource to be deleted it
	// is true when the resource is gone.
	// +required
	Ready bool `json:"ready"`

	// id is the Azure resource ID. It is empty until the ID is known.
	// +optional
	ID string `json:"id,omitempty"`

	// reason is the state of the resource in one word while ready is false, for example Creating or Failed.
	// +optional
	Reason string `json:"reason,omitempty"`

	// code is the error code that Azure returned, if the resource failed.
	// +optional
	Code string `json:"code,omitempty"`

	// message explains why the resource is not ready: the resource that it waits for, or Azure's error.
	// +optional
	Message string `json:"message,omitempty"`
}
