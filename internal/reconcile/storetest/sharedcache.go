package storetest

import (
	"context"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SharedCache is a cache that lists its own objects and no copies. It refuses to list for callers that ask for copies, because those of all
// objects of a namespace are expensive. It can only list.
type SharedCache struct {
	client.Reader
	objects []client.Object
}

// NewSharedCache returns a cache with these objects, of any namespace.
func NewSharedCache(objects ...client.Object) *SharedCache { return &SharedCache{objects: objects} }

// List implements client.Reader.
func (s *SharedCache) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	if asked.UnsafeDisableDeepCopy == nil || !*asked.UnsafeDisableDeepCopy {
		return fmt.Errorf("%T: all objects of namespace %s are copied", list, asked.Namespace)
	}
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	for _, object := range s.objects {
		if value := reflect.ValueOf(object).Elem(); value.Type() == items.Type().Elem() {
			items.Set(reflect.Append(items, value))
		}
	}
	return nil
}
