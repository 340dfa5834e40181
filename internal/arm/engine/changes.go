package engine

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// changeRetention is how long changes are kept for an object that nobody asks about any more.
const changeRetention = time.Hour

// changeLog are the changes that operations have brought about, for the next outcome of the object they were for.
type changeLog struct {
	clock Clock

	mu       sync.Mutex
	byObject map[string][]datedChange // by object
}

type datedChange struct {
	arm.Change
	at time.Time
}

func newChangeLog(clock Clock) *changeLog {
	return &changeLog{clock: clock, byObject: map[string][]datedChange{}}
}

// addChange tells of a change that was made for an object; "" is nobody's.
func (n *changeLog) addChange(object string, change arm.Change) {
	if object == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock.Now()
	for other, changes := range n.byObject {
		if now.Sub(changes[len(changes)-1].at) > changeRetention {
			delete(n.byObject, other)
		}
	}
	n.byObject[object] = append(n.byObject[object], datedChange{change, now})
}

// takeChanges are the changes for an object that were not taken yet.
func (n *changeLog) takeChanges(object string) []arm.Change {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []arm.Change
	for _, change := range n.byObject[object] {
		out = append(out, change.Change)
	}
	delete(n.byObject, object)
	return out
}

// finishedWrite is a write that the news are about.
type finishedWrite struct {
	id     arm.ID
	object string
	method string
	state  arm.State
	// drift are the paths that it changed, and repairs tells that the resource had been as desired.
	drift   []string
	repairs bool
}

// recordChange adds the news of a write that has succeeded.
func (e *Engine) recordChange(w finishedWrite, took time.Duration) {
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
	e.changes.addChange(w.object, change)
}
