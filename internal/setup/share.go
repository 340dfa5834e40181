package setup

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Objects are decoded one by one, so each has the sizes, images, keys and names of conditions of a hundred others for itself: half of what it
// takes.

// sharer has equal strings of objects take their place once. The zero value is usable, by several goroutines.
type sharer struct {
	mu      sync.Mutex
	strings map[string]string
	maps    map[content]reflect.Value
}

// content is the type of a map and what is in it.
type content struct {
	of   reflect.Type
	text string
}

// How many strings and maps are looked for, and how long they are, those of maps shorter: long annotations are of one object. When there are more
// strings, those that come later share with each other.
const (
	known        = 4096
	knownMaps    = 1024
	longest      = 1024
	longestValue = 64
)

// own are fields whose text is no other object's.
var own = map[string]bool{"Name": true, "GenerateName": true, "UID": true, "ResourceVersion": true, "ID": true, "ProviderID": true, "Message": true}

// share replaces the strings of what a pointer leads to.
func (s *sharer) share(object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.walk(reflect.ValueOf(object))
}

func (s *sharer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			s.walk(v.Elem())
		}
	case reflect.Struct:
		for _, i := range fields(v.Type()) {
			s.walk(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				s.walk(v.Index(i))
			}
		}
	case reflect.Map:
		if t := v.Type(); !v.IsNil() && t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String {
			v.Set(s.oneMap(v))
		}
	case reflect.String:
		v.SetString(s.one(v.String()))
	}
}

// one is the string that equal ones share.
func (s *sharer) one(text string) string {
	if text == "" || len(text) > longest {
		return text
	}
	if is, ok := s.strings[text]; ok {
		return is
	}
	if s.strings == nil || len(s.strings) >= known {
		s.strings = map[string]string{}
	}
	// What was decoded may be a part of a longer text.
	text = strings.Clone(text)
	s.strings[text] = text
	return text
}

// oneMap is the map that equal ones share, unless there is a long text in it. The smallest map takes more than what is in it, and labels are
// those of a hundred others, too. Nobody changes what is in a cache: who reads an object there gets a copy.
func (s *sharer) oneMap(v reflect.Value) reflect.Value {
	t := v.Type()
	out := reflect.MakeMapWithSize(t, v.Len())
	var parts []string
	short := true
	for each := v.MapRange(); each.Next(); {
		key, value := s.one(each.Key().String()), each.Value().String()
		if len(value) <= longestValue {
			value = s.one(value)
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

// fieldsOf are the fields of types that share looks into.
var fieldsOf sync.Map

func fields(t reflect.Type) []int {
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
