package identity

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRecentIsBounded(t *testing.T) {
	made := map[string]int{}
	now := time.Unix(0, 0)
	r := newRecent[string](2, func() time.Time { return now })
	get := func(key string) {
		t.Helper()
		if got, err := r.get(key, func() (string, error) { made[key]++; return key, nil }); err != nil || got != key {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	for _, key := range []string{"a", "b", "a", "c", "a", "b"} {
		get(key)
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2, "c": 1}, made); diff != "" {
		t.Errorf("the entry used longest ago goes first: %s", diff)
	}
	if _, err := r.get("bad", func() (string, error) { return "", os.ErrInvalid }); err == nil {
		t.Error("no error")
	}
	if got, err := r.get("bad", func() (string, error) { return "good", nil }); err != nil || got != "good" {
		t.Errorf("a failure was kept: %q, %v", got, err)
	}
	now = now.Add(unused)
	get("bad2")
	now = now.Add(time.Second)
	get("bad2")
	if len(r.entries) != 1 || r.order.Len() != 1 {
		t.Errorf("%d entries are kept that nobody has used for an hour", len(r.entries)-1)
	}
}
