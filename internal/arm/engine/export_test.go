package engine

import "maps"

// StateCounts returns the number of entries that the engine holds in memory, by kind.
func (e *Engine) StateCounts() map[string]int {
	e.states.mu.Lock()
	defer e.states.mu.Unlock()
	out := map[string]int{"records": len(e.states.states)}
	maps.Copy(out, e.operate.EntryCounts())
	maps.Copy(out, e.cache.EntryCounts())
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}
