package engine

import (
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// changeRetention is how long changes are kept for an object that is not reconciled any more.
const changeRetention = time.Hour

// addChange records a change made for an object. It ignores changes without an object.
func (e *Engine) addChange(object string, change arm.Change) {
	if object == "" {
		return
	}
	e.changes.Update(object, func(earlier []arm.Change) []arm.Change { return append(earlier, change) })
}

// finishedWrite is a write that has ended, as its report needs it.
type finishedWrite struct {
	id     arm.ID
	object string
	method string
	state  arm.State
	// drift lists the paths that the write changed. repairs means that the resource had matched the plan before.
	drift   []string
	repairs bool
}

// recordChange adds a successful write to the changes of its object, and returns the change.
func (e *Engine) recordChange(write finishedWrite, duration time.Duration) arm.Change {
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
	e.addChange(write.object, change)
	return change
}
