// Package owner finds owners of Cluster API in owner references. A tool may own an object beside Cluster API, by an object of another API group
// with the same kind. The functions are pure.
package owner

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// IsKind reports whether a reference names an object of a kind of Cluster API's core group, for example Cluster, in any version.
func IsKind(reference metav1.OwnerReference, kind string) bool {
	version, err := schema.ParseGroupVersion(reference.APIVersion)
	return err == nil && version.Group == clusterv1.GroupVersion.Group && reference.Kind == kind
}

// FindName returns the name of the first owner of a kind of Cluster API's core group, or "".
func FindName(object metav1.Object, kind string) string {
	for _, reference := range object.GetOwnerReferences() {
		if IsKind(reference, kind) {
			return reference.Name
		}
	}
	return ""
}

// HasCluster reports whether a Cluster of this name is one of the owners.
func HasCluster(object metav1.Object, name string) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(reference metav1.OwnerReference) bool {
		return IsKind(reference, clusterv1.ClusterKind) && reference.Name == name
	})
}
