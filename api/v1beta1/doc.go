// Package v1beta1 is the API that users write and read: the kinds of the group infrastructure.cluster.x-k8s.io, version
// v1beta1. The fields, enums and names are those that manifests for Cluster API on Azure have used all along; status follows
// the contract v1beta2 of Cluster API. The package holds types, constants and accessors and no logic, and imports nothing
// but Kubernetes' and Cluster API's own types, so that other programs can import it without weight.
//
// Rules that need one field only are in the schema, immutability included. What needs several fields, parsing or another
// object is checked by the admission webhooks.
//
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1beta1
