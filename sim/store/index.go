package store

import (
	"slices"
	"strings"
)

// keys are keys of resources in their order, so that a list can begin anywhere without reading the keys before.
type keys []string

func (k keys) withKey(key string) keys {
	at, found := slices.BinarySearch(k, key)
	if found {
		return k
	}
	return slices.Insert(k, at, key)
}

func (k keys) withoutKey(key string) keys {
	at, found := slices.BinarySearch(k, key)
	if !found {
		return k
	}
	return slices.Delete(k, at, at+1)
}

// keysBelow begins with the first key that has the prefix and stands behind after.
func (k keys) keysBelow(prefix, after string) keys {
	at, found := slices.BinarySearch(k, max(prefix, after))
	if found && after >= prefix {
		at++
	}
	return k[at:]
}

// updateIndex updates the order of keys when the resource of one of them changes.
func (s *Store) updateIndex(key string, old, r *Resource) {
	if old != nil && r != nil && strings.EqualFold(old.Type, r.Type) {
		return
	}
	if old != nil {
		t := strings.ToLower(old.Type)
		s.keys, s.byType[t] = s.keys.withoutKey(key), s.byType[t].withoutKey(key)
	}
	if r != nil {
		t := strings.ToLower(r.Type)
		s.keys, s.byType[t] = s.keys.withKey(key), s.byType[t].withKey(key)
	}
}
