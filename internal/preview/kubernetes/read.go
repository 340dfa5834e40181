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

// getObject reads a typed object as it is stored. The client converts each object to JSON and back, which takes most of the time of a
// reconciliation.
func (s *Server) getObject(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	s.storing.RLock()
	defer s.storing.RUnlock()
	kind, err := apiutil.GVKForObject(obj, s.scheme)
	if err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(kind)
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
	showObject(obj)
	return true
}

// showObject removes what a client does not get.
func showObject(obj client.Object) {
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	obj.SetManagedFields(nil)
}

// listObjects is getObject for lists. Selectors of fields are left to the client.
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
		object, is := each.(client.Object)
		if !is {
			return c.List(ctx, list, options...)
		}
		if wanted.LabelSelector == nil || wanted.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			showObject(object)
			found = append(found, object)
		}
	}
	reflect.ValueOf(list).Elem().SetZero()
	return meta.SetList(list, found)
}
