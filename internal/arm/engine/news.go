package engine

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// newsKept is how long changes are kept for an object that nobody asks about any more.
const newsKept = time.Hour

// news are the changes that operations have brought about, for the next outcome of the object they were for.
type news struct {
	clock Clock

	mu sync.Mutex
	of map[string][]dated // by object
}

type dated struct {
	arm.Change
	at time.Time
}

func newNews(clock Clock) *news { return &news{clock: clock, of: map[string][]dated{}} }

// add tells of a change that was made for an object; "" is nobody's.
func (n *news) add(object string, change arm.Change) {
	if object == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock.Now()
	for other, changes := range n.of {
		if now.Sub(changes[len(changes)-1].at) > newsKept {
			delete(n.of, other)
		}
	}
	n.of[object] = append(n.of[object], dated{change, now})
}

// take are the changes for an object that were not taken yet.
func (n *news) take(object string) []arm.Change {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []arm.Change
	for _, change := range n.of[object] {
		out = append(out, change.Change)
	}
	delete(n.of, object)
	return out
}

// written is a write that the news are about.
type written struct {
	id     arm.ID
	object string
	verb   string
	state  arm.State
	// drift are the paths that it changed, and repairs tells that the resource had been as desired.
	drift   []string
	repairs bool
}

// tell adds the news of a write that has succeeded.
func (e *Engine) tell(w written, took time.Duration) {
	change := arm.Change{ID: w.id, Kind: arm.Updated, Paths: w.drift, Duration: took}
	switch {
	case w.state == arm.Deleting:
		change.Kind, change.Paths = arm.Deleted, nil
	case w.state == arm.Creating, slices.Equal(w.drift, []string{failedPath}):
		// One that had failed is made by another PUT.
		change.Kind, change.Paths = arm.Created, nil
	case w.repairs:
		change.Kind = arm.Repaired
	}
	e.news.add(w.object, change)
}
