package setup

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/trim"
)

// Objects are decoded one by one, so each has its own copy of strings that a hundred others contain, too: sizes, images, keys,
// names of conditions. Those take half of its memory.

// sharer stores equal strings of objects once. The zero value is usable, by several goroutines.
type sharer struct {
	mu      sync.Mutex
	strings map[string]string
	maps    map[content]reflect.Value
}

// content is the type and the content of a map.
type content struct {
	of   reflect.Type
	text string
}

// The largest numbers of shared strings and maps, and their largest lengths. Values of maps have a lower limit, because long
// annotations are rarely equal. When a number is reached the table is emptied, and later strings share with each other.
const (
	known        = 4096
	knownMaps    = 1024
	longest      = 1024
	longestValue = 64
)

// own are the fields whose values differ between objects.
var own = map[string]bool{"Name": true, "GenerateName": true, "UID": true, "ResourceVersion": true, "ID": true, "ProviderID": true,
	"Message": true}

// transform prepares an object for the cache.
func (s *sharer) transform(obj any) (any, error) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return obj, nil // A missed deletion is a tombstone and no object.
	}
	trim.RemoveUnusedParts(object)
	s.shareStrings(obj)
	return obj, nil
}

// shareStrings replaces the strings of the object that a pointer refers to.
func (s *sharer) shareStrings(object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shareValue(reflect.ValueOf(object))
}

func (s *sharer) shareValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			s.shareValue(v.Elem())
		}
	case reflect.Struct:
		for _, i := range fieldsToShare(v.Type()) {
			s.shareValue(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			if v.Cap() > v.Len() && v.CanSet() {
				// Decoding grows a list by doubling, so that five conditions have room for eight.
				exact := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(exact, v)
				v.Set(exact)
			}
			for i := range v.Len() {
				s.shareValue(v.Index(i))
			}
		}
	case reflect.Map:
		if t := v.Type(); !v.IsNil() && t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String {
			v.Set(s.sharedMap(v))
		}
	case reflect.String:
		v.SetString(s.sharedString(v.String()))
	}
}

// sharedString returns the shared copy of a string.
func (s *sharer) sharedString(text string) string {
	if text == "" || len(text) > longest {
		return text
	}
	if is, ok := s.strings[text]; ok {
		return is
	}
	if s.strings == nil || len(s.strings) >= known {
		s.strings = map[string]string{}
	}
	// A decoded string may be a slice of a longer one, which it would keep in memory.
	text = strings.Clone(text)
	s.strings[text] = text
	return text
}

// sharedMap returns the shared copy of a map, or a copy of its own if a value is long. Even a small map takes more memory than its
// content, and a hundred objects have equal labels. Sharing is safe, because readers of the cache get copies.
func (s *sharer) sharedMap(v reflect.Value) reflect.Value {
	t := v.Type()
	out := reflect.MakeMapWithSize(t, v.Len())
	var parts []string
	short := true
	for each := v.MapRange(); each.Next(); {
		key, value := s.sharedString(each.Key().String()), each.Value().String()
		if len(value) <= longestValue {
			value = s.sharedString(value)
		} else {
			short = false
		}
		parts = append(parts, strconv.Quote(key)+strconv.Quote(value))
		out.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), reflect.ValueOf(value).Convert(t.Elem()))
	}
	if !short {
		return out
	}
	slices.Sort(parts)
	key := content{t, strings.Join(parts, "")}
	if is, ok := s.maps[key]; ok {
		return is
	}
	if s.maps == nil || len(s.maps) >= knownMaps {
		s.maps = map[content]reflect.Value{}
	}
	s.maps[key] = out
	return out
}

// fieldsOf caches the indexes of the fields that share visits, by type.
var fieldsOf sync.Map

func fieldsToShare(t reflect.Type) []int {
	if found, ok := fieldsOf.Load(t); ok {
		return found.([]int)
	}
	var out []int
	for i := range t.NumField() {
		if field := t.Field(i); field.IsExported() && !own[field.Name] {
			out = append(out, i)
		}
	}
	fieldsOf.Store(t, out)
	return out
}
