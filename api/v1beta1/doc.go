// Package v1beta1 is the API of the provider: the kinds of the group infrastructure.cluster.x-k8s.io, version v1beta1.
// Fields, enums and names are compatible with existing manifests for Cluster API on Azure. The status follows contract
// v1beta2 of Cluster API. The package has types, constants and accessors and no logic. It imports only the types of
// Kubernetes and Cluster API, so that other programs can import it without further dependencies.
//
// The schema checks rules about a single field, immutability included. Admission webhooks check rules that need several
// fields, parsing or another object.
//
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1beta1
