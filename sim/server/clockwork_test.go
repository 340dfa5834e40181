package server

import (
	"testing"
	"testing/synctest"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// TestClockworkWaitsAfterAFailure checks that the clockwork rests between its attempts to end an operation. Otherwise it takes a whole
// processor for as long as the disk is full.
func TestClockworkWaitsAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.store.Update(func(tx *store.Tx) error {
			tx.PutOperation(&store.Operation{ID: "op", ResourceID: "no ID", Status: store.InProgress, Due: tx.Now()})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // returns when the clockwork waits
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
