package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const snapshotVersion = 1

// snapshot has everything that answers depend on, besides Options, keys, and the requests of the last minutes.
type snapshot struct {
	Version       int             `json:"version"`
	Time          time.Time       `json:"time"`
	Tenant        string          `json:"tenant"`
	Subscriptions []string        `json:"subscriptions"`
	Random        drawn           `json:"random"`
	Polls         map[string]int  `json:"polls"`
	Faults        []fault.Use     `json:"faults"`
	State         json.RawMessage `json:"state"`
}

// drawn is the position of the random numbers.
type drawn struct {
	Operations []byte `json:"operations"`
	IDs        []byte `json:"ids"`
}

// Snapshot writes the whole state as one JSON document: resources with their write-only values, operations including
// running ones, notes, faults with their counters, the clock, and the position of the random numbers. It leaves out
// keys, the log of requests, the number of requests taken of a limit, and the answers that the fault stale keeps. The
// same state gives the same bytes.
func (s *Server) Snapshot(w io.Writer) error {
	out := s.newSnapshot()
	var err error
	out.State, err = s.store.Snapshot(func() { s.fillSnapshot(&out) })
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(out)
}

func (s *Server) newSnapshot() snapshot {
	return snapshot{Version: snapshotVersion, Tenant: s.opts.Tenant, Subscriptions: s.opts.Subscriptions, Faults: s.Faults()}
}

// fillSnapshot adds the time, the positions of the random numbers and the counts of polls. The caller holds the lock of the store, so they
// are of the same moment as the resources.
func (s *Server) fillSnapshot(out *snapshot) {
	out.Time = s.opts.Clock.Now()
	out.Random.Operations, _ = s.random.operations.MarshalBinary() // never fails
	s.idMu.Lock()
	out.Random.IDs, _ = s.random.ids.MarshalBinary()
	s.idMu.Unlock()
	s.pollMu.Lock()
	out.Polls = maps.Clone(s.polls)
	s.pollMu.Unlock()
}

// CopyState replaces the whole state with that of another simulator, as Restore does with its snapshot. It encodes nothing: both simulators
// share the stored resources, which never change. After an error nothing has changed.
func (s *Server) CopyState(from *Server) error {
	in := from.newSnapshot()
	if err := s.checkSnapshot(in); err != nil {
		return err
	}
	if err := s.store.CopyState(from.store, func() { from.fillSnapshot(&in) }, func() { s.takeSnapshot(in) }); err != nil {
		return err
	}
	s.views.clearViews()
	return nil
}

// Restore replaces the whole state with a snapshot. A virtual clock is set to its time; on another clock operations
// whose time has passed meanwhile end now. After an error nothing has changed.
func (s *Server) Restore(r io.Reader) error {
	var in snapshot
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return fmt.Errorf("this is no snapshot: %w", err)
	}
	if err := s.checkSnapshot(in); err != nil {
		return err
	}
	for _, raw := range [][]byte{in.Random.Operations, in.Random.IDs} {
		if !bytes.HasPrefix(raw, []byte("pcg:")) || len(raw) != 20 {
			return fmt.Errorf("the snapshot lacks the positions of its random numbers")
		}
	}
	if err := s.store.Restore(in.State, func() { s.takeSnapshot(in) }); err != nil {
		return err
	}
	s.views.clearViews()
	return nil
}

// checkSnapshot reports why a snapshot is not one of this simulator.
func (s *Server) checkSnapshot(in snapshot) error {
	if in.Version != snapshotVersion {
		return fmt.Errorf("this is no snapshot of version %d: its version is %d", snapshotVersion, in.Version)
	}
	if !strings.EqualFold(in.Tenant, s.opts.Tenant) {
		return fmt.Errorf("the snapshot is of tenant %s, and this simulator's is %s", in.Tenant, s.opts.Tenant)
	}
	for _, sub := range in.Subscriptions {
		if !s.knownSubscription(sub) {
			return fmt.Errorf("the snapshot has subscription %s, which this simulator does not have", sub)
		}
	}
	var faults fault.Script
	if err := faults.Restore(in.Faults); err != nil {
		return fmt.Errorf("faults of the snapshot: %w", err)
	}
	return nil
}

// takeSnapshot sets the clock, the random numbers, the counts of polls and the faults to those of a snapshot.
func (s *Server) takeSnapshot(in snapshot) {
	if v, ok := s.opts.Clock.(*store.Virtual); ok {
		v.Reset(in.Time)
	}
	_ = s.random.operations.UnmarshalBinary(in.Random.Operations) // the form is checked
	s.idMu.Lock()
	_ = s.random.ids.UnmarshalBinary(in.Random.IDs)
	s.idMu.Unlock()
	s.pollMu.Lock()
	s.polls = in.Polls
	if s.polls == nil {
		s.polls = map[string]int{}
	}
	s.pollMu.Unlock()
	_ = s.faults.Restore(in.Faults)
}

// controlSnapshot answers with a snapshot, or takes one.
func (s *Server) controlSnapshot(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		if err := s.Restore(r.Body); err != nil {
			writeRefusal(w, 400, err.Error())
			return
		}
		w.WriteHeader(204)
		return
	}
	var out bytes.Buffer
	if err := s.Snapshot(&out); err != nil {
		writeRefusal(w, 500, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out.Bytes())
}
