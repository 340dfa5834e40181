package engine

import "maps"

// StateCounts returns the number of entries that the engine holds in memory, by kind.
func (e *Engine) StateCounts() map[string]int {
	out := map[string]int{"records": e.states.count()}
	maps.Copy(out, e.operate.EntryCounts())
	maps.Copy(out, e.cache.EntryCounts())
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}

// count returns the number of records. It panics if a group without records is kept.
func (s *stateStore) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for group, records := range s.states {
		if len(records) == 0 {
			panic("the group " + group + " has no records and is kept")
		}
		n += len(records)
	}
	return n
}
