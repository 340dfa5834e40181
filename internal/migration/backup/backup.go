// Package backup stores the objects that a migration changes, so that they can be restored. The content is in Secrets of the manager's
// namespace, which no upgrade deletes. It has no credentials: only metadata of the operator's objects, conversions of definitions, names,
// and variables of clusterctl.
package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// Backup is the state before a migration.
type Backup struct {
	// From is the version of the established provider.
	From        string           `json:"from"`
	Definitions []Definition     `json:"definitions"`
	Operator    []OperatorObject `json:"operator"`
	// Generations are those of the specs of the provider's objects.
	Generations map[types.UID]int64 `json:"generations"`
	// Ready has the readiness of the provider's objects, by kind, namespace and name.
	Ready map[string]string `json:"ready"`
	// Variables are those with which clusterctl gives a manager the feature gates, the subscription and the cloud of the established one.
	// The upgrade deletes its Deployment and the settings of its operator, and replaces the Secret with its subscription.
	Variables map[string]string `json:"variables,omitempty"`
	// Contracts are the labels of the provider's definitions that name contracts of Cluster API, by definition. Backups of the first
	// versions of the command have none.
	Contracts map[string]map[string]string `json:"contracts,omitempty"`
}

// Definition is the part of a CustomResourceDefinition that a migration changes.
type Definition struct {
	Name       string                                    `json:"name"`
	Conversion *apiextensionsv1.CustomResourceConversion `json:"conversion"`
	Served     []string                                  `json:"served"`
}

// OperatorObject is the part of an object of the operator that a migration changes.
type OperatorObject struct {
	GroupVersionKind schema.GroupVersionKind `json:"groupVersionKind"`
	Namespace        string                  `json:"namespace"`
	Name             string                  `json:"name"`
	UID              types.UID               `json:"uid"`
	// Policy is the annotation with the policy, nil if there was none.
	Policy          *string                 `json:"policy"`
	Finalizers      []string                `json:"finalizers"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
}

// Describe returns kind, namespace and name.
func (o OperatorObject) Describe() string {
	return fmt.Sprintf("%s %s/%s", o.GroupVersionKind.Kind, o.Namespace, o.Name)
}

// Collect reads the present state, except the readiness of objects. Those that a migration has changed keep the state that they have in an
// earlier backup, which may be nil.
func Collect(ctx context.Context, c client.Reader, from string, earlier *Backup) (*Backup, error) {
	out := &Backup{From: from, Contracts: map[string]map[string]string{}}
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.List(ctx, definitions); err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	for _, item := range definitions.Items {
		if prepareupgrade.NeedsOperator(item) {
			out.Definitions = append(out.Definitions, NewDefinition(item))
		}
		if prepareupgrade.IsProviderKind(item) {
			out.Contracts[item.Name] = readContracts(item)
		}
	}
	if earlier != nil && earlier.From == from {
		maps.Copy(out.Contracts, earlier.Contracts) // An upgrade that was interrupted has added labels.
	}
	objects, _, err := prepareupgrade.ListOperatorObjects(ctx, c, definitions.Items)
	if err != nil {
		return nil, err
	}
	for _, item := range objects {
		if prepareupgrade.IsChanged(item) && earlier.Has(item.UID) {
			continue
		}
		one := OperatorObject{GroupVersionKind: item.GroupVersionKind(), Namespace: item.Namespace, Name: item.Name, UID: item.UID,
			Finalizers: item.Finalizers, OwnerReferences: item.OwnerReferences}
		if policy, has := item.Annotations[asoresource.PolicyAnnotation]; has {
			one.Policy = &policy
		}
		out.Operator = append(out.Operator, one)
	}
	if out.Variables, err = readVariables(ctx, c); err != nil {
		return nil, err
	}
	if out.Generations, err = ReadGenerations(ctx, c); err != nil || earlier == nil {
		return out, err
	}
	kept, err := earlier.withoutGone(ctx, c, out)
	out.AddMissing(kept)
	return out, err
}

// NewDefinition returns the part of a definition that a migration changes.
func NewDefinition(definition apiextensionsv1.CustomResourceDefinition) Definition {
	out := Definition{Name: definition.Name, Conversion: definition.Spec.Conversion}
	for _, version := range definition.Spec.Versions {
		if version.Served {
			out.Served = append(out.Served, version.Name)
		}
	}
	slices.Sort(out.Served)
	return out
}

// ForEachMetadata calls do with the metadata of every object of the provider's kinds. A kind without a definition has no objects.
func ForEachMetadata(ctx context.Context, c client.Reader, do func(client.Object) error) error {
	return forEach(ctx, c, func() client.ObjectList { return &metav1.PartialObjectMetadataList{} }, do)
}

// ForEachObject calls do with every object of the provider's kinds. A kind without a definition has no objects.
func ForEachObject(ctx context.Context, c client.Reader, do func(*unstructured.Unstructured) error) error {
	return forEach(ctx, c, func() client.ObjectList { return &unstructured.UnstructuredList{} },
		func(object client.Object) error { return do(object.(*unstructured.Unstructured)) })
}

// forEach calls do with every object of the provider's kinds, of the type of newList.
func forEach(ctx context.Context, c client.Reader, newList func() client.ObjectList, do func(client.Object) error) error {
	for _, kind := range migration.Kinds {
		list := newList()
		list.GetObjectKind().SetGroupVersionKind(migration.GroupVersion.WithKind(kind + "List"))
		if err := pages.ForEach(ctx, c, list, do); err != nil && !meta.IsNoMatchError(err) {
			return err
		}
	}
	return nil
}
