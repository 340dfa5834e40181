package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Snapshot returns the whole state as one document: resources, operations and notes. The same state gives the same
// bytes. It calls during while it blocks other writers, for data that must be of the same moment.
func (s *Store) Snapshot(during func()) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := record{Meta: s.meta, Operations: (&Tx{s: s}).Operations()}
	for _, key := range s.keys {
		rec.Put = append(rec.Put, s.byKey[key])
	}
	raw, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	during()
	return raw, nil
}

// Restore replaces the whole state with a snapshot, on disk too. It calls during at that moment, before others see
// the new state. After an error nothing has changed in memory.
func (s *Store) Restore(snapshot json.RawMessage, during func()) error {
	var rec record
	if err := json.Unmarshal(snapshot, &rec); err != nil {
		return fmt.Errorf("state of the snapshot: %w", err)
	}
	fresh := newEmpty(s.Clock)
	fresh.replayRecord(rec)
	return s.replaceState(fresh, during)
}

// CopyState replaces the whole state with that of another store, on disk too. Both share the resources and operations, which never change.
// It calls taken while it blocks writers of the other store, and during at the moment of the replacement.
func (s *Store) CopyState(from *Store, taken, during func()) error {
	fresh := newEmpty(s.Clock)
	from.mu.Lock()
	fresh.byKey, fresh.keys = maps.Clone(from.byKey), slices.Clone(from.keys)
	for typ, keys := range from.byType {
		fresh.byType[typ] = slices.Clone(keys)
	}
	for to, refs := range from.refs {
		fresh.refs[to] = maps.Clone(refs)
	}
	fresh.ops, fresh.running, fresh.meta = maps.Clone(from.ops), maps.Clone(from.running), maps.Clone(from.meta)
	taken()
	from.mu.Unlock()
	return s.replaceState(fresh, during)
}

func (s *Store) replaceState(fresh *Store, during func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != nil {
		s.journal.store = fresh
		err := s.journal.compactJournal()
		s.journal.store = s
		if err != nil {
			return err
		}
	}
	s.byKey, s.keys, s.byType, s.refs = fresh.byKey, fresh.keys, fresh.byType, fresh.refs
	s.ops, s.running, s.meta = fresh.ops, fresh.running, fresh.meta
	during()
	s.revision++
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}
