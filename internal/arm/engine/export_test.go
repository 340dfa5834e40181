package engine

import "maps"

// Remembered counts what the engine holds in memory, by what it is.
func (e *Engine) Remembered() map[string]int {
	e.memory.mu.Lock()
	defer e.memory.mu.Unlock()
	out := map[string]int{"records": len(e.memory.records)}
	maps.Copy(out, e.operate.Sizes())
	maps.Copy(out, e.cache.Sizes())
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}
