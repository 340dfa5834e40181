package engine

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// changeRetention is how long changes are kept for an object that is not reconciled any more.
const changeRetention = time.Hour

// changeLog holds the changes that operations have made in Azure until the next Outcome of their object reports them.
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

// addChange records a change made for an object. It ignores changes without an object.
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

// takeChanges returns and removes the recorded changes of an object.
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

// finishedWrite is a write that has ended, as the change log needs it.
type finishedWrite struct {
	id     arm.ID
	object string
	method string
	state  arm.State
	// drift lists the paths that the write changed. repairs means that the resource had matched the plan before.
	drift   []string
	repairs bool
}

// recordChange adds a successful write to the change log.
func (e *Engine) recordChange(w finishedWrite, took time.Duration) {
	change := arm.Change{ID: w.id, Kind: arm.Updated, Paths: w.drift, Duration: took}
	switch {
	case w.state == arm.Deleting:
		change.Kind, change.Paths = arm.Deleted, nil
	case w.state == arm.Creating, slices.Equal(w.drift, []string{failedPath}):
		// A PUT after a failed creation completes that creation.
		change.Kind, change.Paths = arm.Created, nil
	case w.repairs:
		change.Kind = arm.Repaired
	}
	e.changes.addChange(w.object, change)
}
