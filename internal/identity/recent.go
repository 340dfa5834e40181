package identity

import (
	"container/list"
	"sync"
	"time"
)

// unused is the time after which an unused entry is dropped. It is the lifetime of a token, so that little is lost.
const unused = time.Hour

// recent is a bounded cache. It drops entries that were not used for an hour, and the least recently used one if it would grow
// beyond its limit.
type recent[V any] struct {
	limit int
	now   func() time.Time

	mu      sync.Mutex
	order   *list.List // of *recentEntry[V], last used first
	entries map[string]*list.Element
}

type recentEntry[V any] struct {
	key   string
	value V
	used  time.Time
}

func newRecent[V any](limit int, now func() time.Time) *recent[V] {
	return &recent[V]{limit: limit, now: now, order: list.New(), entries: map[string]*list.Element{}}
}

// get returns the value of key, or makes it. Errors are not cached.
func (r *recent[V]) get(key string, make func() (V, error)) (V, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.use(key); ok {
		return found, nil
	}
	value, err := make()
	if err != nil {
		return value, err
	}
	r.put(key, value)
	return value, nil
}

// find returns the value of key.
func (r *recent[V]) find(key string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.use(key)
}

// keep sets the value of key.
func (r *recent[V]) keep(key string, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.use(key); ok {
		r.entries[key].Value.(*recentEntry[V]).value = value
		return
	}
	r.put(key, value)
}

// use finds an entry and drops unused ones. The caller holds mu.
func (r *recent[V]) use(key string) (value V, ok bool) {
	now := r.now()
	if element, found := r.entries[key]; found {
		entry := element.Value.(*recentEntry[V])
		entry.used, value, ok = now, entry.value, true
		r.order.MoveToFront(element)
	}
	for last := r.order.Back(); last != nil && now.Sub(last.Value.(*recentEntry[V]).used) > unused; last = r.order.Back() {
		r.drop(last)
	}
	return value, ok
}

// put adds an entry. The caller holds mu.
func (r *recent[V]) put(key string, value V) {
	r.entries[key] = r.order.PushFront(&recentEntry[V]{key: key, value: value, used: r.now()})
	if r.order.Len() > r.limit {
		r.drop(r.order.Back())
	}
}

func (r *recent[V]) drop(element *list.Element) {
	delete(r.entries, r.order.Remove(element).(*recentEntry[V]).key)
}
