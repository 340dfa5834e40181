package engine

// Remembered counts what the engine holds in memory, by what it is.
func (e *Engine) Remembered() map[string]int {
	out := map[string]int{}
	count := func(name string, n int) {
		if n > 0 {
			out[name] = n
		}
	}
	e.memory.mu.Lock()
	defer e.memory.mu.Unlock()
	count("records", len(e.memory.records))
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	count("operations", len(e.registry.operations))
	count("serial", len(e.registry.serial))
	count("waiting", len(e.registry.waiting))
	e.cache.mu.Lock()
	defer e.cache.mu.Unlock()
	count("written", len(e.cache.written))
	count("touched", len(e.cache.touched))
	count("effects", len(e.cache.effects))
	count("entries", len(e.cache.entries))
	count("lists", len(e.cache.lists))
	count("born", len(e.cache.born))
	return out
}
