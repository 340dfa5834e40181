// Package prepareupgrade prepares a management cluster of the established provider for an upgrade. It removes the parts of the Azure
// Service Operator that would block the upgrade.
//
// It sends no request to Azure and deletes no object of the operator. After an interruption at any step the command can be repeated.
// A repetition only makes the changes that are still missing.
package prepareupgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

const (
	// operatorFinalizer is the finalizer of the operator. Objects without it do not belong to the operator, or were released.
	operatorFinalizer = "serviceoperator.azure.com/finalizer"
	// groupSuffix is the end of the groups of the operator's kinds. Other programs may use it, too.
	groupSuffix = ".azure.com"
)

// RunSteps does all steps and prints their results. It changes nothing while the operator or the established provider runs, or if
// objects have annotations that their manifests lack.
func RunSteps(ctx context.Context, config *rest.Config, out io.Writer) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, apiextensionsv1.AddToScheme,
		infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := waitUntilStopped(ctx, c); err != nil {
		return err
	}
	kinds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.List(ctx, kinds); err != nil {
		return fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	clusters, others, err := ListOperatorObjects(ctx, c, kinds.Items)
	if err != nil {
		return err
	}
	missing, err := FindMissingAnnotations(ctx, c, clusters)
	if err != nil {
		return err
	}
	for _, line := range missing {
		fmt.Fprintln(out, line)
	}
	if len(missing) > 0 {
		return errors.New("objects of the operator have annotations that their resource manifests lack. Nothing was changed. Add the annotations to the manifests")
	}
	if err := DeleteWebhooks(ctx, c); err != nil {
		return err
	}
	if err := ReleaseObjects(ctx, c, clusters, out); err != nil {
		return err
	}
	if err := DisableConversion(ctx, c, kinds.Items, out); err != nil {
		return err
	}
	for _, object := range others {
		fmt.Fprintf(out, "left alone: %s\n", describeObject(object))
	}
	if len(others) > 0 {
		fmt.Fprintf(out, "%d objects belong to no cluster. Install the Azure Service Operator by itself after the upgrade: without it, their changes have no effect and they cannot be deleted\n", len(others))
	}
	return nil
}

// describeObject returns kind, namespace and name.
func describeObject(object metav1.PartialObjectMetadata) string {
	return fmt.Sprintf("%s %s/%s", object.Kind, object.Namespace, object.Name)
}

// ListOperatorObjects lists the operator's objects in their stored version, because only the operator's webhook could convert them.
// Objects that are not of clusters belong to other users of the operator.
func ListOperatorObjects(ctx context.Context, c client.Reader, kinds []apiextensionsv1.CustomResourceDefinition) (clusters,
	others []metav1.PartialObjectMetadata, err error) {
	declared, err := listManifests(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	err = forEachOperatorObject(ctx, c, kinds, func(item metav1.PartialObjectMetadata) {
		switch {
		case !slices.Contains(item.Finalizers, operatorFinalizer):
		case hasProviderOwner(item) || item.Labels[FormerOwnerLabel] != "" || declared.contain(item):
			clusters = append(clusters, item)
		default:
			others = append(others, item)
		}
	})
	return clusters, others, err
}

// ListReleasedObjects lists the operator's objects that have the policy skip from ReleaseObjects, or with it and without the finalizer.
func ListReleasedObjects(ctx context.Context, c client.Reader, kinds []apiextensionsv1.CustomResourceDefinition) ([]metav1.PartialObjectMetadata, error) {
	var out []metav1.PartialObjectMetadata
	err := forEachOperatorObject(ctx, c, kinds, func(item metav1.PartialObjectMetadata) {
		isSkipped := item.Annotations[asoresource.PolicyAnnotation] == asoresource.PolicySkip
		if isSkipped && (IsChanged(item) || !slices.Contains(item.Finalizers, operatorFinalizer)) {
			out = append(out, item)
		}
	})
	return out, err
}

// forEachOperatorObject calls do for the objects of the kinds in the operator's groups.
func forEachOperatorObject(ctx context.Context, c client.Reader, kinds []apiextensionsv1.CustomResourceDefinition,
	do func(metav1.PartialObjectMetadata)) error {
	for _, kind := range kinds {
		if !strings.HasSuffix(kind.Spec.Group, groupSuffix) {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Spec.Group, Version: StorageVersion(kind),
			Kind: kind.Spec.Names.Kind + "List"})
		err := pages.ForEach(ctx, c, list, func(object client.Object) error {
			do(*object.(*metav1.PartialObjectMetadata))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// FormerOwnerLabel is the label with the name of the Cluster by which the established provider recognizes objects of the operator without
// owner references, and adopts them. Its former versions set it.
const FormerOwnerLabel = "sigs.k8s.io_cluster-api-provider-azure_owned"

// hasProviderOwner reports whether an object of the provider owns the object.
func hasProviderOwner(object metav1.PartialObjectMetadata) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool {
		group, err := schema.ParseGroupVersion(ref.APIVersion)
		return err == nil && group.Group == infrav1.GroupVersion.Group
	})
}

// StorageVersion returns the version that objects of a kind are stored in.
func StorageVersion(kind apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range kind.Spec.Versions {
		if version.Storage {
			return version.Name
		}
	}
	return ""
}

// ReleaseObjects sets the policy skip on every object before it removes the first finalizer, so that a newly installed operator
// leaves all resources alone.
func ReleaseObjects(ctx context.Context, c client.Client, objects []metav1.PartialObjectMetadata, out io.Writer) error {
	for i := range objects {
		if err := setSkipPolicy(ctx, c, &objects[i]); err != nil {
			return fmt.Errorf("no object was released yet: %w", err)
		}
	}
	for i := range objects {
		if err := removeFinalizer(ctx, c, &objects[i]); err != nil {
			return err
		}
		fmt.Fprintf(out, "released: %s\n", describeObject(objects[i]))
	}
	fmt.Fprintf(out, "%d objects of clusters released, nothing changed in Azure\n", len(objects))
	return nil
}

// setSkipPolicy sets the policy with which the operator leaves the resource alone.
func setSkipPolicy(ctx context.Context, c client.Client, object *metav1.PartialObjectMetadata) error {
	if object.Annotations[asoresource.PolicyAnnotation] == asoresource.PolicySkip {
		return nil
	}
	before := object.DeepCopy()
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[asoresource.PolicyAnnotation] = asoresource.PolicySkip
	if err := patchPastWebhooks(ctx, c, object, client.MergeFrom(before), client.FieldOwner(commandFieldManager)); err != nil {
		return fmt.Errorf("annotate %s: %w", describeObject(*object), err)
	}
	return nil
}

// removeFinalizer removes the finalizer, and the owner references that block a deletion.
func removeFinalizer(ctx context.Context, c client.Client, object *metav1.PartialObjectMetadata) error {
	before := object.DeepCopy()
	controllerutil.RemoveFinalizer(object, operatorFinalizer)
	object.OwnerReferences = nil
	if err := patchPastWebhooks(ctx, c, object,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release %s: %w", describeObject(*object), err)
	}
	return nil
}
