package expiring

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// manualClock is a clock that stands until it is set.
type manualClock struct{ now time.Time }

func (c *manualClock) Now() time.Time { return c.now }

func TestValuesExpire(t *testing.T) {
	clock := &manualClock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	cache := New[int](time.Minute, 0, clock.Now)
	for _, step := range []struct {
		reason string
		later  time.Duration
		do     func()
		want   int
		ok     bool
		kept   int
	}{
		{"nothing was stored", 0, func() {}, 0, false, 0},
		{"a value is returned while it is young", 0, func() { cache.Set("a", 1) }, 1, true, 1},
		{"to the last moment", time.Minute - 1, func() {}, 1, true, 1},
		{"a value as old as the lifetime is not returned", 1, func() {}, 0, false, 1},
		{"it leaves memory when another one is stored", 0, func() { cache.Set("b", 1) }, 0, false, 1},
		{"an update of an expired value starts with nothing", 0, func() { cache.Update("a", func(old int) int { return old + 5 }) }, 5, true, 2},
		{"an update gets the former value", 59 * time.Second, func() { cache.Update("a", func(old int) int { return old + 5 }) }, 10, true, 2},
		{"the value is as new as the update", 59 * time.Second, func() {}, 10, true, 2},
		{"a value is taken once", 0, func() {
			if value, ok := cache.Take("a"); value != 10 || !ok {
				t.Errorf("took %d, %t", value, ok)
			}
		}, 0, false, 1},
	} {
		clock.now = clock.now.Add(step.later)
		step.do()
		if got, ok := cache.Get("a"); got != step.want || ok != step.ok || cache.Len() != step.kept {
			t.Errorf("%s: got %d, %t with %d values in memory, want %d, %t with %d", step.reason, got, ok, cache.Len(), step.want, step.ok, step.kept)
		}
	}
}

func TestBoundedCacheDropsTheOldestValue(t *testing.T) {
	clock := &manualClock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	cache := New[int](time.Hour, 3, clock.Now)
	for i := range 5 {
		clock.now = clock.now.Add(time.Second)
		cache.Set(fmt.Sprint(i), i)
	}
	for i := range 5 {
		if _, ok := cache.Get(fmt.Sprint(i)); ok != (i >= 2) {
			t.Errorf("value %d is kept: %t", i, ok)
		}
	}
	if cache.Set("5", 5); cache.Len() != 3 {
		t.Errorf("%d values", cache.Len())
	}
	if _, ok := cache.Get("5"); !ok {
		t.Error("the newest value is dropped, although others are as old as it")
	}
}

// TestCallersShareOneFetch has ten callers fetch one key. The first one gives up.
func TestCallersShareOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, fetched := New[string](time.Minute, 0, time.Now), 0
		fetch := func(ctx context.Context) (string, error) {
			fetched++
			select {
			case <-time.After(10 * time.Second):
				return "answer", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		canceled, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := cache.Fetch(canceled, "key", fetch); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first caller: %v", err)
			}
		})
		synctest.Wait()
		for range 9 {
			wait.Go(func() {
				if got, err := cache.Fetch(t.Context(), "key", fetch); got != "answer" || err != nil {
					t.Errorf("another caller: %q, %v", got, err)
				}
			})
		}
		wait.Wait()
		if fetched != 1 {
			t.Errorf("fetched %d times", fetched)
		}
	})
}

func TestErrorsAreNotKept(t *testing.T) {
	cache, fetched := New[int](time.Minute, 0, time.Now), 0
	for range 2 {
		if _, err := cache.Fetch(t.Context(), "key", func(context.Context) (int, error) {
			fetched++
			return 7, errors.New("refused")
		}); err == nil {
			t.Error("no error")
		}
	}
	if _, ok := cache.Get("key"); ok || fetched != 2 {
		t.Errorf("kept %t, fetched %d times, want 2", ok, fetched)
	}
}
