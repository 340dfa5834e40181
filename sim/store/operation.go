package store

import (
	"cmp"
	"time"
)

// Terminal and running states of an Operation.
const (
	InProgress = "InProgress"
	Succeeded  = "Succeeded"
	Failed     = "Failed"
	Canceled   = "Canceled"
)

// Operation is one long-running operation. Records are kept after the end, because clients hold on to resume tokens.
type Operation struct {
	ID         string    `json:"id"`
	Style      string    `json:"style"`
	ResourceID string    `json:"resourceID"`
	Type       string    `json:"type"`
	Verb       string    `json:"verb"` // "create", "update", "delete" or the name of an action
	Name       string    `json:"name,omitempty"`
	Location   string    `json:"location,omitempty"`
	APIVersion string    `json:"apiVersion,omitempty"`
	Principal  string    `json:"principal,omitempty"`
	RequestID  string    `json:"requestID,omitempty"`
	Started    time.Time `json:"started"`
	Due        time.Time `json:"due"` // zero: never ends by itself
	// Earliest is when an operation that waits for others may end at the earliest.
	Earliest time.Time `json:"earliest,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Status   string    `json:"status"`
	// MinPolls is how many polls still have to be answered with InProgress although the work is done.
	MinPolls int      `json:"minPolls,omitempty"`
	Polls    int      `json:"polls,omitempty"`
	Keys     []string `json:"keys,omitempty"` // lower-case IDs no other write may touch meanwhile
	// Broken is how it ends with its error: Failed when empty.
	Broken string         `json:"broken,omitempty"`
	Error  map[string]any `json:"error,omitempty"`
	Result map[string]any `json:"result,omitempty"`
	Data   map[string]any `json:"data,omitempty"` // provider's own notes
	Seq    int64          `json:"seq"`
}

// CompareDue is negative if the operation is due before the other one. Of two that are due at the same time the one that began first is
// before; those that never end come last.
func (o *Operation) CompareDue(other *Operation) int {
	if never := o.Due.IsZero(); never != other.Due.IsZero() {
		if never {
			return 1
		}
		return -1
	}
	return cmp.Or(o.Due.Compare(other.Due), cmp.Compare(o.Seq, other.Seq))
}

// IsRunning reports whether the operation has not ended.
func (o *Operation) IsRunning() bool { return o.Status == InProgress }

// FailedState returns the state that its error leaves.
func (o *Operation) FailedState() string { return cmp.Or(o.Broken, Failed) }

// VisibleStatus returns the status a poller is shown: an operation that ended at once is still InProgress for MinPolls polls.
func (o *Operation) VisibleStatus() string {
	if o.Polls <= o.MinPolls && o.MinPolls > 0 {
		return InProgress
	}
	return o.Status
}
