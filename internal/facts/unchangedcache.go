package facts

import (
	"context"
	"maps"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// Unchanged tells whether what was learned of a resource, or of the collection with that path, at a time and with a mark of then still
// holds, and the mark for what is learned from here on; 0 is that nothing tells, so that it cannot be kept.
type Unchanged func(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark uint64) (now uint64, same bool)

// unchangedCache are answers for as long as Azure shows that what they are about was not written, and no longer than Unchanged allows.
type unchangedCache[V any] struct {
	unchanged Unchanged
	now       func() time.Time
	// neverExpires means that the list of all resources shows all that the answers say, so that they do not grow old.
	neverExpires bool

	mu      sync.Mutex
	entries map[string]keptAnswer[V]
}

// maxAnswerAge is how long an answer is kept at most, also of what nobody asks for any more.
const maxAnswerAge = 24 * time.Hour

type keptAnswer[V any] struct {
	value V
	at    time.Time
	mark  uint64
}

func newUnchangedCache[V any](options Options, neverExpires bool) *unchangedCache[V] {
	return &unchangedCache[V]{unchanged: options.Unchanged, now: options.Now, neverExpires: neverExpires, entries: map[string]keptAnswer[V]{}}
}

// getOrAsk gives what was learned of id under key, unless it does not hold any more or does not suit; then it is asked for. What is asked for
// with a mark must be from after that was seen.
func (k *unchangedCache[V]) getOrAsk(ctx context.Context, c *client.Client, key string, id arm.ID, suits func(V) bool, ask func(mark uint64) (V, error)) (V, error) {
	if k.unchanged == nil {
		return ask(0)
	}
	k.mu.Lock()
	before := k.entries[key]
	k.mu.Unlock()
	if k.neverExpires {
		before.at = k.now()
	}
	mark, same := k.unchanged(ctx, c, id, before.at, before.mark)
	if same && suits(before.value) {
		return before.value, nil
	}
	at := k.now()
	value, err := ask(mark)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.entries, key)
	maps.DeleteFunc(k.entries, func(_ string, old keptAnswer[V]) bool { return at.Sub(old.at) > maxAnswerAge })
	if err == nil && mark != 0 {
		k.entries[key] = keptAnswer[V]{value, at, mark}
	}
	return value, err
}
