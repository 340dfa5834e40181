package store

import (
	"encoding/json"
	"fmt"
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
