package engine

import (
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

type standingClock struct{ now time.Time }

func (c *standingClock) Now() time.Time { return c.now }

func (*standingClock) AfterFunc(time.Duration, func()) func() bool {
	return func() bool { return true }
}

// TestRecordsAreKeptWhileTheyHaveContent changes a record and counts the records in the store.
func TestRecordsAreKeptWhileTheyHaveContent(t *testing.T) {
	failed := errors.New("failed")
	fail := func(state *resourceState) { state.retry.record("hash", failed, time.Time{}, 0) }
	for name, test := range map[string]struct {
		reason  string
		changes []func(*resourceState)
		want    int
	}{
		"nothing": {"a change that adds nothing stores no record", []func(*resourceState){(*resourceState).resetMissing}, 0},
		"in place": {"a resource that was never seen in its desired state is read again nevertheless",
			[]func(*resourceState){func(state *resourceState) { state.alignment.inPlace = true }}, 0},
		"failure": {"a failure counts until it is cleared", []func(*resourceState){fail}, 1},
		"cleared": {"a record without content is dropped",
			[]func(*resourceState){fail, func(state *resourceState) { state.retry = retryState{} }}, 0},
		"aligned": {"a failure ends when the desired state is reached",
			[]func(*resourceState){fail, func(state *resourceState) { state.recordAligned("hash") }}, 1},
		"missing": {"a failure of the creation stays", []func(*resourceState){fail, (*resourceState).resetMissing}, 1},
		"taken": {"a result is taken once",
			[]func(*resourceState){func(state *resourceState) { state.actions = newActionResults([]string{"object"}, nil) },
				func(state *resourceState) { state.actions.take("object") }}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &standingClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			store := newStateStore(clock)
			for _, change := range test.changes {
				store.update("key", change)
			}
			if len(store.states) != test.want {
				t.Errorf("%s: %d records, want %d", test.reason, len(store.states), test.want)
			}
			store.get("other")
			if len(store.states) != test.want {
				t.Error("a read stores a record")
			}
			clock.now = clock.now.Add(retention + time.Second)
			store.update("other", func(*resourceState) {})
			if len(store.states) != 0 {
				t.Error("an unused record is kept")
			}
		})
	}
}

// TestReadRecordIsACopy changes a record that was read before.
func TestReadRecordIsACopy(t *testing.T) {
	store := newStateStore(&standingClock{})
	store.update("key", func(state *resourceState) { state.recordAligned("one") })
	before := store.get("key")
	store.update("key", func(state *resourceState) { state.recordAligned("two") })
	if before.alignment.hash != "one" || store.get("key").alignment.hash != "two" {
		t.Errorf("before %q, now %q", before.alignment.hash, store.get("key").alignment.hash)
	}
	store.forgetResource(arm.ID("key"))
	if store.get("key").alignment.hash != "" {
		t.Error("the record of a deleted resource is kept")
	}
}
