package virtual

import (
	"container/list"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// held are the packages whose structs are inspected: those of the provider, and those with a queue, its back-off and its items. Other
// reachable structs, such as the objects of the simulated API server, do not belong to the manager.
var held = []string{
	"sigs.k8s.io/cluster-api-provider-azure/internal/", "sigs.k8s.io/controller-runtime/pkg/internal/controller",
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue", "k8s.io/client-go/util/workqueue", "golang.org/x/sync/singleflight",
}

// CountElements returns the numbers of elements of the maps, lists and slices that live as long as the manager, by their place: the type
// of a struct and its field. They include everything that a controller, the engine or a thing that they share keeps, whichever code adds
// it. They do not include values that only a function has captured.
func (m *Manager) CountElements() map[string]int {
	w := walk{sizes: map[string]int{}, seen: map[visit]bool{}}
	for _, root := range []any{m.added, m.Engine, m.Facts, m.Gate} {
		w.walkValue("", reflect.ValueOf(root))
	}
	delete(w.sizes, "")
	return w.sizes
}

type walk struct {
	sizes map[string]int
	seen  map[visit]bool
}

type visit struct {
	at uintptr
	of reflect.Type
}

// walkValue counts the elements of v, which is the value of the field called name.
func (w *walk) walkValue(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.walkValue(name, v.Elem())
	case reflect.Pointer:
		if v.IsNil() || w.markVisited(v.Pointer(), v.Type()) {
			return
		}
		w.walkValue(name, v.Elem())
	case reflect.Map:
		if v.IsNil() || w.markVisited(v.Pointer(), v.Type()) {
			return
		}
		w.sizes[name] += v.Len()
		for each := v.MapRange(); each.Next(); {
			w.walkValue(name+"[]", each.Value())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		w.sizes[name] += v.Len()
		for i := range v.Len() {
			w.walkValue(name+"[]", v.Index(i))
		}
	case reflect.Struct:
		w.walkStruct(name, v)
	}
}

func (w *walk) walkStruct(name string, v reflect.Value) {
	of := v.Type()
	if of == reflect.TypeFor[list.List]() {
		w.sizes[name] += int(v.FieldByName("len").Int())
		return
	}
	if of == reflect.TypeFor[sync.Map]() {
		// Its entries cannot be counted from outside.
		panic(fmt.Sprintf("%s is a sync.Map: use a map and a lock, whose size can be measured", name))
	}
	for _, prefix := range held {
		if strings.HasPrefix(of.PkgPath()+"/", prefix) || strings.HasPrefix(of.PkgPath(), prefix) || of.PkgPath() == "" {
			// Kinds that share a generic type are one place.
			kind, _, _ := strings.Cut(of.String(), "[")
			for i := range of.NumField() {
				w.walkValue(kind+"."+of.Field(i).Name, v.Field(i))
			}
			return
		}
	}
}

func (w *walk) markVisited(at uintptr, of reflect.Type) bool {
	key := visit{at, of}
	before := w.seen[key]
	w.seen[key] = true
	return before
}
