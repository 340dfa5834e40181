package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(store.NewVirtual(epoch), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closeStore only closes the files, so what it leaves is what a kill leaves.
func closeStore(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func updateStore(t *testing.T, s *store.Store, f func(tx *store.Tx)) {
	t.Helper()
	if err := s.Update(func(tx *store.Tx) error { f(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func newResource(id string, body map[string]any) *store.Resource {
	return &store.Resource{ID: id, Type: "Microsoft.X/things", Body: body}
}

func TestParseID(t *testing.T) {
	cases := map[string]struct {
		reason               string
		in, out, typ, parent string
		collection           bool
	}{
		"group": {"fixed parts get Azure's casing", "/SUBSCRIPTIONS/s/resourcegroups/RG", "/subscriptions/s/resourceGroups/RG",
			"Microsoft.Resources/resourceGroups", "/subscriptions/s/resourceGroups/RG", false},
		"top": {"the parent of a top-level resource is its scope", "/subscriptions/s/resourceGroups/g/providers/N.S/ts/a",
			"/subscriptions/s/resourceGroups/g/providers/N.S/ts/a", "N.S/ts", "/subscriptions/s/resourceGroups/g", false},
		"child": {"a child's parent is the resource above", "/subscriptions/s/resourceGroups/g/providers/N.S/ts/a/us/b",
			"/subscriptions/s/resourceGroups/g/providers/N.S/ts/a/us/b", "N.S/ts/us", "/subscriptions/s/resourceGroups/g/providers/N.S/ts/a", false},
		"list": {"an ID that ends with a type is a collection", "/subscriptions/s/providers/N.S/ts", "/subscriptions/s/providers/N.S/ts",
			"N.S/ts", "/subscriptions/s", true},
		"extension": {"the last provider counts", "/subscriptions/s/resourceGroups/g/providers/N.S/ts/a/providers/M.A/locks/l",
			"/subscriptions/s/resourceGroups/g/providers/N.S/ts/a/providers/M.A/locks/l", "M.A/locks",
			"/subscriptions/s/resourceGroups/g/providers/N.S/ts/a", false},
		"slashes": {"doubled and trailing slashes are tolerated", "//subscriptions/s/resourceGroups/g/providers/N.S/ts/a/",
			"/subscriptions/s/resourceGroups/g/providers/N.S/ts/a", "N.S/ts", "/subscriptions/s/resourceGroups/g", false},
		"name": {"a resource may be called providers", "/subscriptions/s/resourceGroups/providers/providers/N.S/ts/a",
			"/subscriptions/s/resourceGroups/providers/providers/N.S/ts/a", "N.S/ts", "/subscriptions/s/resourceGroups/providers", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id, err := store.ParseID(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if id.String() != tc.out || id.Type() != tc.typ || id.IsCollection() != tc.collection {
				t.Errorf("%s: %s %s collection %v", tc.reason, id, id.Type(), id.IsCollection())
			}
			if name != "group" && id.Parent().String() != tc.parent {
				t.Errorf("%s: parent %s, want %s", tc.reason, id.Parent(), tc.parent)
			}
		})
	}
	for _, bad := range []string{"/subscriptions/s/resourceGroups/g/providers", "/subscriptions", "/foo/bar/baz"} {
		if id, err := store.ParseID(bad); err == nil {
			t.Errorf("%s parsed as %v", bad, id)
		}
	}
}

func TestAnErrorUndoesTheTransaction(t *testing.T) {
	s := openStore(t, "")
	updateStore(t, s, func(tx *store.Tx) {
		tx.Put(newResource("/subscriptions/s/a", map[string]any{"v": 1.0}))
		tx.SetMeta("m", "old")
	})
	boom := errors.New("boom")
	err := s.Update(func(tx *store.Tx) error {
		tx.Put(newResource("/subscriptions/s/a", map[string]any{"v": 2.0}))
		tx.Put(newResource("/subscriptions/s/b", nil))
		tx.Delete("/subscriptions/s/a")
		tx.SetMeta("m", "new")
		tx.PutOperation(&store.Operation{ID: "op", Status: store.InProgress})
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("err = %v", err)
	}
	s.View(func(tx *store.Tx) {
		var m string
		tx.ReadNote("m", &m)
		if r := tx.Get("/Subscriptions/S/A"); r == nil || r.Body["v"] != 1.0 || tx.Get("/subscriptions/s/b") != nil || m != "old" ||
			len(tx.Running()) != 0 {
			t.Errorf("after the rollback: %v %v %q", tx.Get("/subscriptions/s/a"), tx.Get("/subscriptions/s/b"), m)
		}
	})
}

// TestRunningInTheOrderOfTheirEnds lists operations that end, two of them at once, and one that never ends.
func TestRunningInTheOrderOfTheirEnds(t *testing.T) {
	s := openStore(t, "")
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	updateStore(t, s, func(tx *store.Tx) {
		tx.PutOperation(&store.Operation{ID: "stuck", Status: store.InProgress})
		tx.PutOperation(&store.Operation{ID: "late", Status: store.InProgress, Due: begin.Add(time.Minute)})
		tx.PutOperation(&store.Operation{ID: "first", Status: store.InProgress, Due: begin})
		tx.PutOperation(&store.Operation{ID: "second", Status: store.InProgress, Due: begin})
		tx.PutOperation(&store.Operation{ID: "ended", Status: store.Succeeded, Due: begin})
	})
	s.View(func(tx *store.Tx) {
		var got []string
		for _, op := range tx.Running() {
			got = append(got, op.ID)
		}
		if want := []string{"first", "second", "late", "stuck"}; !slices.Equal(got, want) {
			t.Errorf("running operations are %v, want %v", got, want)
		}
	})
}

func TestReferrers(t *testing.T) {
	s := openStore(t, "")
	const subnet = "/subscriptions/s/subnet"
	updateStore(t, s, func(tx *store.Tx) {
		tx.Put(newResource("/subscriptions/s/nic", map[string]any{"properties": map[string]any{"ipConfigurations": []any{
			map[string]any{"name": "ip1",
				"properties": map[string]any{"subnet": map[string]any{"id": "/Subscriptions/S/Subnet"},
					"pools": []any{map[string]any{"id": "/subscriptions/s/pool"}}}},
		}}}))
		tx.Put(newResource("/subscriptions/s/vm",
			map[string]any{"identity": map[string]any{"userAssignedIdentities": map[string]any{"/subscriptions/s/mi": map[string]any{}}}}))
	})
	s.View(func(tx *store.Tx) {
		want := []store.Ref{{From: "/subscriptions/s/nic", Sub: "ipConfigurations/ip1", Field: "subnet", To: "/Subscriptions/S/Subnet"}}
		if d := cmp.Diff(want, tx.Referrers(subnet)); d != "" {
			t.Error(d)
		}
		if got := tx.Referrers("/subscriptions/s/pool"); len(got) != 1 || got[0].Field != "pools" ||
			got[0].Path() != "/subscriptions/s/nic/ipConfigurations/ip1" {
			t.Errorf("pool: %v", got)
		}
		if got := tx.Referrers("/subscriptions/s/mi"); len(got) != 1 || got[0].From != "/subscriptions/s/vm" {
			t.Errorf("identity: %v", got)
		}
	})
	updateStore(t, s, func(tx *store.Tx) { tx.Delete("/subscriptions/s/nic") })
	s.View(func(tx *store.Tx) {
		if got := tx.Referrers(subnet); len(got) != 0 {
			t.Errorf("after the delete: %v", got)
		}
	})
}

func TestStateSurvivesAHalfWrittenRecord(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	updateStore(t, s, func(tx *store.Tx) {
		tx.Put(newResource("/subscriptions/s/a", map[string]any{"v": 1.0}))
		tx.PutOperation(&store.Operation{ID: "Op", Status: store.InProgress, Due: epoch})
		tx.SetMeta("gone", 1)
	})
	updateStore(t, s, func(tx *store.Tx) {
		tx.Put(newResource("/subscriptions/s/b", nil))
		tx.Delete("/subscriptions/s/a")
		tx.SetMeta("gone", nil)
	})
	f, err := os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"put":[{"id":"/subscriptions/s/c"`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the snapshot the first one wrote
		closeStore(t, s)
		again := openStore(t, dir)
		s = again
		again.View(func(tx *store.Tx) {
			var n int
			if tx.Get("/subscriptions/s/a") != nil || tx.Get("/subscriptions/s/b") == nil || tx.Get("/subscriptions/s/c") != nil ||
				len(tx.Running()) != 1 || tx.ReadNote("gone", &n) {
				t.Errorf("reloaded: a=%v b=%v c=%v running=%d", tx.Get("/subscriptions/s/a"), tx.Get("/subscriptions/s/b"),
					tx.Get("/subscriptions/s/c"), len(tx.Running()))
			}
		})
	}
	closeStore(t, s)
	if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(store.Real{}, dir); err == nil {
		t.Error("a damaged journal must be reported, not ignored")
	}
}

// TestStateOfMany stores many resources in parts, so that all of their JSON never has to be in memory at a time.
func TestStateOfMany(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	updateStore(t, s, func(tx *store.Tx) {
		for i := range 2000 {
			tx.Put(newResource(fmt.Sprintf("/subscriptions/s/%04d", i), map[string]any{"v": float64(i)}))
			tx.PutOperation(&store.Operation{ID: fmt.Sprintf("Op%d", i), Status: store.InProgress, Due: epoch})
		}
		tx.SetMeta("kept", 7)
	})
	for range 2 {
		closeStore(t, s)
		s = openStore(t, dir)
		s.View(func(tx *store.Tx) {
			var kept int
			if last := tx.Get("/subscriptions/s/1999"); !tx.ReadNote("kept", &kept) || kept != 7 || len(tx.Running()) != 2000 || last == nil ||
				len(tx.List("", "/subscriptions/s")) != 2000 {
				t.Errorf("%d kept, %d operations, %v, %d resources", kept, len(tx.Running()), last, len(tx.List("", "/subscriptions/s")))
			}
		})
		raw, err := os.ReadFile(filepath.Join(dir, "state.json"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			if len(line) > len(raw)/5 {
				t.Errorf("a line has %d of %d bytes", len(line), len(raw))
			}
		}
	}
}

func TestOperationShowsInProgressWhilePollsAreOwed(t *testing.T) {
	op := store.Operation{Status: store.Succeeded, MinPolls: 1, Polls: 1}
	if op.VisibleStatus() != store.InProgress {
		t.Error("the first poll of an operation that ended at once must show InProgress")
	}
	op.Polls = 2
	if op.VisibleStatus() != store.Succeeded {
		t.Error("the second poll must show the end")
	}
}

func TestClocks(t *testing.T) {
	v := store.NewVirtual(epoch)
	v.Set(epoch.Add(time.Hour))
	v.Set(epoch)
	if !v.Now().Equal(epoch.Add(time.Hour)) {
		t.Error("a virtual clock must not go back")
	}
}
