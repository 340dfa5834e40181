package steps

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// restoreObjects gives the provider's objects a form that the established provider can decode.
func (m *Move) restoreObjects(ctx context.Context) error {
	return backup.ForEachObject(ctx, m.Client, func(object *unstructured.Unstructured) error {
		before := object.DeepCopy()
		restoreAnnotations(object)
		if !equality.Semantic.DeepEqual(before.GetAnnotations(), object.GetAnnotations()) {
			if err := client.IgnoreNotFound(m.Client.Patch(ctx, object, client.MergeFrom(before))); err != nil {
				return fmt.Errorf("restore the annotations of %s: %w", describe(object), err)
			}
		}
		before = object.DeepCopy()
		if restoreFailureDomains(object) {
			if err := client.IgnoreNotFound(m.Client.Status().Patch(ctx, object, client.MergeFrom(before))); err != nil {
				return fmt.Errorf("restore the status of %s: %w", describe(object), err)
			}
		}
		return nil
	})
}

// restoreAnnotations removes this provider's records about the object. The owner ID stays: tags in Azure are computed from it, and a
// later migration has to recognize them. An object with nothing but an owner ID counts as one of the established provider.
func restoreAnnotations(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	owner := applied.ReadOwnerID(annotations)
	for _, key := range append(applied.FormerKeys(), infrav1.AppliedAnnotation, infrav1.EndpointAnnotation) {
		delete(annotations, key)
	}
	object.SetAnnotations(annotations)
	if owner != "" {
		applied.Content{OwnerID: owner}.Store(object)
	}
}

// restoreFailureDomains stores failure domains as the map of contract v1beta1. The established provider cannot decode a list, and then
// reconciles no object of the kind.
func restoreFailureDomains(object *unstructured.Unstructured) (changed bool) {
	list, found, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "failureDomains")
	domains, isList := list.([]any)
	if !found || !isList {
		return false
	}
	out := map[string]any{}
	for _, item := range domains {
		domain, _ := item.(map[string]any)
		name, _ := domain["name"].(string)
		entry := map[string]any{}
		for _, field := range []string{"controlPlane", "attributes"} {
			if value, has := domain[field]; has {
				entry[field] = value
			}
		}
		out[name] = entry
	}
	return unstructured.SetNestedField(object.Object, out, "status", "failureDomains") == nil
}

// restoreOperatorObjects gives the objects of the operator their finalizers, owner references and policies back.
func (m *Move) restoreOperatorObjects(ctx context.Context) error {
	current, err := backup.ReadGenerations(ctx, m.Client)
	if err != nil {
		return err
	}
	for _, stored := range m.backup.Operator {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(stored.GroupVersionKind)
		err := m.Client.Get(ctx, client.ObjectKey{Namespace: stored.Namespace, Name: stored.Name}, object)
		if client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) { // A kind without a definition has no objects.
			return fmt.Errorf("get %s: %w", stored.Describe(), err)
		}
		state := m.backup.OwnerState(stored, current)
		if err != nil || object.UID != stored.UID || state == backup.OwnerGone {
			fmt.Fprintf(m.Out, "      not restored: %s\n", stored.Describe())
			continue
		}
		before := object.DeepCopy()
		object.Finalizers = stored.Finalizers
		object.OwnerReferences = stored.OwnerReferences
		if state == backup.OwnerChanged {
			fmt.Fprintf(m.Out, "      keeps the policy skip, because its owner was changed: %s\n", stored.Describe())
		} else {
			restorePolicy(object, stored.Policy)
		}
		if equality.Semantic.DeepEqual(before, object) {
			continue
		}
		if err := m.Client.Patch(ctx, object, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("restore %s: %w", stored.Describe(), err)
		}
	}
	return nil
}

func restorePolicy(object *metav1.PartialObjectMetadata, policy *string) {
	if policy == nil {
		delete(object.Annotations, asoresource.PolicyAnnotation)
		return
	}
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, asoresource.PolicyAnnotation, *policy)
}

// removeFinalizer removes a finalizer of an object.
func (m *Move) removeFinalizer(ctx context.Context, object client.Object, finalizer string) error {
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		return nil
	}
	before := object.DeepCopyObject().(client.Object)
	controllerutil.RemoveFinalizer(object, finalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(m.Client.Patch(ctx, object, patch)); err != nil {
		return fmt.Errorf("remove the finalizer of %s: %w", describe(object), err)
	}
	return nil
}

// differingDefinitions returns the definitions that restore changes, and the changed ones. Without a backup there are none.
func (m *Move) differingDefinitions(ctx context.Context, restore func(*apiextensionsv1.CustomResourceDefinition)) (
	before, after []apiextensionsv1.CustomResourceDefinition, err error) {
	if m.backup == nil {
		return nil, nil, nil
	}
	definitions, err := m.listDefinitions(ctx)
	for _, definition := range definitions {
		changed := definition.DeepCopy()
		if restore(changed); !equality.Semantic.DeepEqual(&definition, changed) {
			before, after = append(before, definition), append(after, *changed)
		}
	}
	return before, after, err
}

// areRestored returns a function that reports whether restore changes no definition.
func (m *Move) areRestored(restore func(*apiextensionsv1.CustomResourceDefinition)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		before, _, err := m.differingDefinitions(ctx, restore)
		return len(before) == 0, err
	}
}

// restoreDefinitions returns a function that stores the definitions that restore changes.
func (m *Move) restoreDefinitions(restore func(*apiextensionsv1.CustomResourceDefinition)) func(context.Context) error {
	return func(ctx context.Context) error {
		before, after, err := m.differingDefinitions(ctx, restore)
		if err != nil {
			return err
		}
		for i := range after {
			patch := client.MergeFromWithOptions(&before[i], client.MergeFromWithOptimisticLock{})
			if err := m.Client.Patch(ctx, &after[i], patch); err != nil {
				return fmt.Errorf("restore %s: %w", after[i].Name, err)
			}
		}
		return nil
	}
}

// restoreConversion lets the webhooks of the established provider and its operator convert objects again, now that they run.
func (m *Move) restoreConversion(definition *apiextensionsv1.CustomResourceDefinition) {
	i := slices.IndexFunc(m.backup.Definitions, func(d backup.Definition) bool { return d.Name == definition.Name })
	if i < 0 {
		return
	}
	definition.Spec.Conversion = m.backup.Definitions[i].Conversion
	for v := range definition.Spec.Versions {
		version := &definition.Spec.Versions[v]
		version.Served = slices.Contains(m.backup.Definitions[i].Served, version.Name)
	}
}

// restoreContracts has Cluster API read the provider's objects by the contract of the established provider again.
func (m *Move) restoreContracts(definition *apiextensionsv1.CustomResourceDefinition) {
	if prepareupgrade.IsProviderKind(*definition) {
		m.backup.RestoreContracts(definition)
	}
}
