package kubernetes

import (
	"context"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// getObject reads a typed object as it is stored. The client below converts each object that it reads to JSON and back, which is much slower.
func (s *Server) getObject(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	s.storing.RLock()
	defer s.storing.RUnlock()
	resource, err := s.resourceOf(obj)
	if err != nil {
		return err
	}
	stored, err := s.tracker.Get(resource, key.Namespace, key.Name)
	if err != nil || !setObject(obj, stored) {
		return c.Get(ctx, key, obj, options...)
	}
	return nil
}

// setObject sets a typed object to a stored one, and reports whether both are of the same type.
func setObject(obj client.Object, stored runtime.Object) bool {
	to, from := reflect.ValueOf(obj), reflect.ValueOf(stored)
	if _, raw := stored.(runtime.Unstructured); raw || to.Type() != from.Type() {
		return false
	}
	to.Elem().Set(from.Elem())
	clearServerFields(obj)
	return true
}

// resourceOf returns the resource under which the tracker stores an object.
func (s *Server) resourceOf(obj client.Object) (schema.GroupVersionResource, error) {
	kind, err := apiutil.GVKForObject(obj, s.scheme)
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return resource, err
}

// clearServerFields clears the kind and the managed fields of a typed object, as the client does when it reads one.
func clearServerFields(obj client.Object) {
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	obj.SetManagedFields(nil)
}

// listObjects is getObject for lists. The client below answers lists with a selector of fields.
func (s *Server) listObjects(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	s.storing.RLock()
	defer s.storing.RUnlock()
	wanted := client.ListOptions{}
	wanted.ApplyOptions(options)
	kind, err := apiutil.GVKForObject(list, s.scheme)
	if err != nil {
		return err
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	_, raw := list.(runtime.Unstructured)
	if raw || wanted.FieldSelector != nil {
		return c.List(ctx, list, options...)
	}
	stored, err := s.tracker.List(resource, kind, wanted.Namespace)
	if err != nil || reflect.TypeOf(stored) != reflect.TypeOf(list) {
		return c.List(ctx, list, options...)
	}
	all, err := meta.ExtractList(stored)
	if err != nil {
		return err
	}
	found := []runtime.Object{}
	for _, each := range all {
		object := each.(client.Object)
		if wanted.LabelSelector == nil || wanted.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			clearServerFields(object)
			found = append(found, object)
		}
	}
	reflect.ValueOf(list).Elem().SetZero()
	return meta.SetList(list, found)
}
