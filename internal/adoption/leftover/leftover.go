// Package leftover lets objects of the Azure Service Operator go that a management cluster of the established provider has left.
//
// It asks Azure nothing. First every object is told to be skipped, so that an operator that is installed again leaves its resource
// alone; only then are the operator's finalizer and owners taken off. It may be repeated at any time.
package leftover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/document"
)

const (
	// finalizer is the operator's. Objects without it are not the operator's, or have been let go.
	finalizer = "serviceoperator.azure.com/finalizer"
	// groupSuffix ends the groups of the operator's kinds, and of others'.
	groupSuffix = ".azure.com"
	// deployment is the name of the operator's Deployment.
	deployment = "azureserviceoperator-controller-manager"
)

// Release lets the objects of a namespace go and says what it did. It changes nothing where the operator runs, or where objects say
// something about their resources that documents do not say.
func Release(ctx context.Context, config *rest.Config, namespace string, said io.Writer) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, apiextensionsv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := stopped(ctx, c); err != nil {
		return err
	}
	objects, err := find(ctx, c, namespace)
	if err != nil {
		return err
	}
	unsaid, err := compare(ctx, c, namespace, objects)
	if err != nil {
		return err
	}
	for _, line := range unsaid {
		fmt.Fprintln(said, line)
	}
	if len(unsaid) > 0 {
		return errors.New("documents do not say all that objects of the operator say, so nothing was changed: write it into the documents")
	}
	for i := range objects {
		if err := skip(ctx, c, &objects[i]); err != nil {
			return fmt.Errorf("nothing was let go yet: %w", err)
		}
	}
	for i := range objects {
		if err := letGo(ctx, c, &objects[i]); err != nil {
			return err
		}
		fmt.Fprintf(said, "let go: %s %s\n", objects[i].Kind, objects[i].Name)
	}
	fmt.Fprintf(said, "%d objects let go, nothing changed in Azure\n", len(objects))
	return nil
}

// stopped refuses while the operator runs: it would put its finalizer back, and write what was not told to be skipped yet.
func stopped(ctx context.Context, c client.Client) error {
	list := &appsv1.DeploymentList{}
	if err := c.List(ctx, list, client.MatchingFields{metav1.ObjectNameField: deployment}); err != nil {
		return fmt.Errorf("look for the operator: %w", err)
	}
	for _, found := range list.Items {
		if replicas := found.Spec.Replicas; replicas == nil || *replicas > 0 || found.Status.Replicas > 0 {
			return fmt.Errorf("the operator runs, and would put back what is taken off: kubectl -n %s scale deployment %s --replicas 0", found.Namespace, found.Name)
		}
	}
	return nil
}

// find lists the operator's objects of a namespace in the version that they are stored in: the webhook that would convert them to
// another one is the operator's.
func find(ctx context.Context, c client.Client, namespace string) ([]metav1.PartialObjectMetadata, error) {
	kinds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.List(ctx, kinds); err != nil {
		return nil, fmt.Errorf("list the kinds of the operator: %w", err)
	}
	var out []metav1.PartialObjectMetadata
	for _, kind := range kinds.Items {
		if !strings.HasSuffix(kind.Spec.Group, groupSuffix) {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Spec.Group, Version: stored(kind), Kind: kind.Spec.Names.Kind + "List"})
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Name, err)
		}
		for _, item := range list.Items {
			if !slices.Contains(item.Finalizers, finalizer) {
				continue
			}
			item.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Spec.Group, Version: stored(kind), Kind: kind.Spec.Names.Kind})
			out = append(out, item)
		}
	}
	return out, nil
}

func stored(kind apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range kind.Spec.Versions {
		if version.Storage {
			return version.Name
		}
	}
	return ""
}

// skip tells an operator to leave the resource alone.
func skip(ctx context.Context, c client.Client, object *metav1.PartialObjectMetadata) error {
	before := object.DeepCopy()
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[document.PolicyAnnotation] = document.Skip
	if err := c.Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("have %s %s skipped: %w", object.Kind, object.Name, err)
	}
	return nil
}

// letGo takes off what holds the object.
func letGo(ctx context.Context, c client.Client, object *metav1.PartialObjectMetadata) error {
	before := object.DeepCopy()
	controllerutil.RemoveFinalizer(object, finalizer)
	object.OwnerReferences = nil
	if err := c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("let %s %s go: %w", object.Kind, object.Name, err)
	}
	return nil
}
