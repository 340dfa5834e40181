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
func (l *changeLog) addChange(object string, change arm.Change) {
	if object == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for other, changes := range l.byObject {
		if now.Sub(changes[len(changes)-1].at) > changeRetention {
			delete(l.byObject, other)
		}
	}
	l.byObject[object] = append(l.byObject[object], datedChange{change, now})
}

// takeChanges returns and removes the recorded changes of an object.
func (l *changeLog) takeChanges(object string) []arm.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []arm.Change
	for _, change := range l.byObject[object] {
		out = append(out, change.Change)
	}
	delete(l.byObject, object)
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
func (e *Engine) recordChange(write finishedWrite, duration time.Duration) {
	change := arm.Change{ID: write.id, Kind: arm.Updated, Paths: write.drift, Duration: duration}
	switch {
	case write.state == arm.Deleting:
		change.Kind, change.Paths = arm.Deleted, nil
	case write.state == arm.Creating, slices.Equal(write.drift, []string{failedPath}):
		// A PUT after a failed creation completes that creation.
		change.Kind, change.Paths = arm.Created, nil
	case write.repairs:
		change.Kind = arm.Repaired
	}
	e.changes.addChange(write.object, change)
}
