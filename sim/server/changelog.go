package server

import (
	"encoding/json"
	"io"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Change is a resource as it is after a change of the state.
type Change struct {
	// ID is the resource ID, in lower case.
	ID string `json:"id"`
	// Body is the resource as a GET would show it, without write-only values; nil means that it is gone.
	Body body.Object `json:"body,omitempty"`
}

// ChangeRecord is a line of the log of changes.
type ChangeRecord struct {
	Time time.Time `json:"time"`
	Change
}

// showCommits calls Options.Committed, and writes the log of changes, after each commit.
func (s *Server) showCommits() {
	s.store.OnCommit(func(tx *store.Tx, keys []string) {
		changes := make([]Change, 0, len(keys))
		for _, key := range keys {
			change := Change{ID: key}
			if r := tx.Get(key); r != nil {
				change.Body = s.showResource(tx, r)
			}
			changes = append(changes, change)
		}
		if s.opts.ChangeLog != nil {
			logChanges(s.opts.ChangeLog, s.opts.Clock.Now(), changes)
		}
		if s.opts.Committed != nil {
			s.opts.Committed(changes)
		}
	})
}

func logChanges(out io.Writer, at time.Time, changes []Change) {
	for _, change := range changes {
		if raw, err := json.Marshal(ChangeRecord{Time: at, Change: change}); err == nil {
			// A log that cannot be written must not stop the simulator.
			_, _ = out.Write(append(raw, '\n'))
		}
	}
}
