package store

import (
	"iter"
	"strings"
)

// Origin has resources that a store does not hold yet, as when the store begins as a copy of another Azure. Its methods return nil for
// missing resources. It is called within transactions.
type Origin interface {
	// ReadResource returns the resource with an ID.
	ReadResource(id string) *Resource
	// ListResources returns the resources of a type, or of all types for "", at or below a scope, anywhere for "".
	ListResources(typ, scope string) []*Resource
}

// origin remembers what was copied. A resource is copied once, so that one that is deleted here stays deleted. Nothing below a resource that
// was deleted here is copied.
type origin struct {
	Origin
	copied, listed, deleted map[string]bool
}

// SetOrigin makes the store copy a resource from the origin when it is first needed. A copy is no commit.
func (s *Store) SetOrigin(from Origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origin = origin{Origin: from, copied: map[string]bool{}, listed: map[string]bool{}, deleted: map[string]bool{}}
}

// recordDeletions records the resources of a committed transaction that are gone.
func (o origin) recordDeletions(s *Store, keys iter.Seq[string]) {
	if o.Origin == nil {
		return
	}
	for key := range keys {
		if s.byKey[key] == nil {
			o.deleted[key] = true
		}
	}
}

// isBelowDeleted reports whether a resource with the key above that of a resource was deleted here.
func (o origin) isBelowDeleted(key string) bool {
	for at := strings.LastIndexByte(key, '/'); at > 0; at = strings.LastIndexByte(key[:at], '/') {
		if o.deleted[key[:at]] {
			return true
		}
	}
	return false
}

func (s *Store) copyFromOrigin(id, key string) {
	if s.origin.Origin == nil || s.origin.copied[key] {
		return
	}
	s.origin.copied[key] = true
	if s.byKey[key] == nil && !s.origin.isBelowDeleted(key) {
		s.storeCopy(key, s.origin.ReadResource(id))
	}
}

func (s *Store) copyListFromOrigin(typ, scope string) {
	key := strings.ToLower(typ) + " " + Key(scope)
	if s.origin.Origin == nil || s.origin.listed[key] {
		return
	}
	s.origin.listed[key] = true
	for _, r := range s.origin.ListResources(typ, scope) {
		of := Key(r.ID)
		if !s.origin.copied[of] && s.byKey[of] == nil && !s.origin.isBelowDeleted(of) {
			s.storeCopy(of, r)
		}
		s.origin.copied[of] = true
	}
}

func (s *Store) storeCopy(key string, r *Resource) {
	if r == nil {
		return
	}
	now := s.Clock.Now()
	r.Created, r.Changed, r.Version = now, now, 1
	s.applyResource(key, r)
}
