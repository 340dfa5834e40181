package prepareupgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

const (
	// providerFieldManager is the field manager with which the established provider applies manifests, and sets the policy skip
	// while a Cluster is paused.
	providerFieldManager = "capz-manager"
	// commandFieldManager is the field manager of this command. A repetition after an interruption recognizes its own annotation by
	// it.
	commandFieldManager = "adopt-prepare-upgrade"
)

// FindMissingAnnotations returns the annotations on the operator's objects that their manifests lack. Adoption by the established
// provider, for example, leaves the credential only on the operator's object.
func FindMissingAnnotations(ctx context.Context, c client.Reader, objects []metav1.PartialObjectMetadata) ([]string, error) {
	var out []string
	documents := map[string][]asoresource.Manifest{}
	for _, object := range objects {
		if _, read := documents[object.Namespace]; !read {
			of, err := listManifests(ctx, c, object.Namespace)
			if err != nil {
				return nil, err
			}
			documents[object.Namespace] = of
		}
		for _, d := range documents[object.Namespace] {
			if d.Group != object.GroupVersionKind().Group || d.Kind != object.Kind || d.Name != object.Name || !isOwnedBy(object, d.DeclaredIn) {
				continue
			}
			for _, key := range []string{asoresource.CredentialAnnotation, asoresource.PolicyAnnotation} {
				value := object.Annotations[key]
				if value == "" || value == d.Annotations[key] || value == asoresource.PolicyManage && d.Annotations[key] == "" ||
					isAppliedAnnotation(object, key) {
					continue
				}
				out = append(out, fmt.Sprintf("namespace %s, %s: %s of %s lacks the annotation %s: %s of its object", object.Namespace, d.DeclaredIn, d,
					d.Path, key, value))
			}
		}
	}
	return out, nil
}

// isOwnedBy reports whether the object belongs to the object with its manifest.
func isOwnedBy(object metav1.PartialObjectMetadata, holder string) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.Kind+" "+ref.Name == holder })
}

// isAppliedAnnotation reports whether the established provider or this command has set an annotation.
func isAppliedAnnotation(object metav1.PartialObjectMetadata, key string) bool {
	return slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return (entry.Manager == providerFieldManager || entry.Manager == commandFieldManager) && entry.FieldsV1 != nil &&
			strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+key+`"`)
	})
}

// listManifests returns the resource manifests in the objects of a namespace.
func listManifests(ctx context.Context, c client.Reader, namespace string) ([]asoresource.Manifest, error) {
	var out []asoresource.Manifest
	add := func(kind, name string, resources []runtime.RawExtension) {
		documents, _ := asoresource.ReadManifests(kind+" "+name, resources) // An unreadable manifest was never applied.
		out = append(out, documents...)
	}
	clusters, controlPlanes, pools := &infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{},
		&infrav1.AzureASOManagedMachinePoolList{}
	for _, list := range []client.ObjectList{clusters, controlPlanes, pools} {
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("list objects with resource manifests: %w", err)
		}
	}
	for _, item := range clusters.Items {
		add("AzureASOManagedCluster", item.Name, item.Spec.Resources)
	}
	for _, item := range controlPlanes.Items {
		add("AzureASOManagedControlPlane", item.Name, item.Spec.Resources)
	}
	for _, item := range pools.Items {
		add("AzureASOManagedMachinePool", item.Name, item.Spec.Resources)
	}
	return out, nil
}
