package facts

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// Unchanged reports whether an answer about a resource still holds. id is a resource or the path of a collection, at the time of the
// answer, mark the mark of that time. It also returns the mark for an answer read from now on. 0 means that the answer cannot be
// kept.
type Unchanged func(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark uint64, options observe.ReadOptions) (now uint64,
	same bool)

// unchangedCache keeps answers while Azure shows no write to their resource, and no longer than Unchanged allows.
type unchangedCache[V any] struct {
	unchanged Unchanged
	now       func() time.Time
	// neverExpires means that the list of all resources shows every property of the answers, so their age does not matter.
	neverExpires bool

	answers *expiring.Cache[keptAnswer[V]]
}

// maxAnswerAge is the maximum age of an answer.
const maxAnswerAge = 24 * time.Hour

type keptAnswer[V any] struct {
	value V
	at    time.Time
	mark  uint64
}

func newUnchangedCache[V any](options Options, neverExpires bool) *unchangedCache[V] {
	return &unchangedCache[V]{unchanged: options.Unchanged, now: options.Now, neverExpires: neverExpires,
		answers: expiring.New[keptAnswer[V]](maxAnswerAge, 0, options.Now)}
}

// getOrAsk returns the answer about id for key. If it does not hold any more or does not suit, it calls ask. An answer that is read
// with a mark must be newer than the mark.
func (k *unchangedCache[V]) getOrAsk(ctx context.Context, caller Caller, key string, id arm.ID, suits func(V) bool,
	ask func(mark uint64) (V, error)) (V, error) {
	if k.unchanged == nil {
		return ask(0)
	}
	before, _ := k.answers.Get(key)
	if k.neverExpires {
		before.at = k.now()
	}
	mark, same := k.unchanged(ctx, caller.Client, id, before.at, before.mark, caller.Read)
	if same && suits(before.value) {
		return before.value, nil
	}
	at := k.now()
	value, err := ask(mark)
	if err == nil && mark != 0 {
		k.answers.Set(key, keptAnswer[V]{value, at, mark})
	} else {
		k.answers.Take(key)
	}
	return value, err
}
