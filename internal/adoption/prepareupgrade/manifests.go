package prepareupgrade

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// manifests are the resource manifests of the AzureASOManaged objects, by namespace. The established provider applies them in the
// namespace of the object that has them.
type manifests map[string][]asoresource.Manifest

// listManifests returns the resource manifests of all namespaces.
func listManifests(ctx context.Context, c client.Reader) (manifests, error) {
	out := manifests{}
	for _, list := range []client.ObjectList{&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{},
		&infrav1.AzureASOManagedMachinePoolList{}} {
		err := pages.ForEach(ctx, c, list, func(object client.Object) error {
			out.add(object)
			return nil
		})
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("list objects with resource manifests: %w", err)
		}
	}
	return out, nil
}

// add adds the manifests of an object. An unreadable manifest was never applied.
func (m manifests) add(object client.Object) {
	var kind string
	var resources []runtime.RawExtension
	switch item := object.(type) {
	case *infrav1.AzureASOManagedCluster:
		kind, resources = "AzureASOManagedCluster", item.Spec.Resources
	case *infrav1.AzureASOManagedControlPlane:
		kind, resources = "AzureASOManagedControlPlane", item.Spec.Resources
	case *infrav1.AzureASOManagedMachinePool:
		kind, resources = "AzureASOManagedMachinePool", item.Spec.Resources
	}
	read, _ := asoresource.ReadManifests(kind+" "+object.GetName(), resources)
	m[object.GetNamespace()] = append(m[object.GetNamespace()], read...)
}

// find returns the manifests of an object of the operator. If the object has an owner, they are the owner's. While a Cluster is paused, the
// established provider applies its manifests alone, which removes the owner references.
func (m manifests) find(object metav1.PartialObjectMetadata) []asoresource.Manifest {
	var out []asoresource.Manifest
	for _, manifest := range m[object.Namespace] {
		isOwner := func(ref metav1.OwnerReference) bool { return ref.Kind+" "+ref.Name == manifest.DeclaredIn }
		if manifest.Group == object.GroupVersionKind().Group && manifest.Kind == object.Kind && manifest.Name == object.Name &&
			(!hasProviderOwner(object) || slices.ContainsFunc(object.OwnerReferences, isOwner)) {
			out = append(out, manifest)
		}
	}
	return out
}

// contain reports whether the object of the operator has a manifest.
func (m manifests) contain(object metav1.PartialObjectMetadata) bool { return len(m.find(object)) > 0 }
