package expiring

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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
		{"it leaves memory within an eighth of its lifetime", 8 * time.Second, func() {}, 0, false, 0},
		{"another one is stored", 0, func() { cache.Set("b", 1) }, 0, false, 1},
		{"an update of an expired value starts with nothing", 0, func() { cache.Update("a", func(old int) int { return old + 5 }) }, 5, true, 2},
		{"an update gets the former value", 59 * time.Second, func() { cache.Update("a", func(old int) int { return old + 5 }) }, 10, true, 2},
		{"the value is as new as the update, and the other one has expired", 59 * time.Second, func() {}, 10, true, 1},
		{"a value is taken once", 0, func() {
			if value, ok := cache.Take("a"); value != 10 || !ok {
				t.Errorf("took %d, %t", value, ok)
			}
		}, 0, false, 0},
	} {
		clock.now = clock.now.Add(step.later)
		step.do()
		if got, ok := cache.Get("a"); got != step.want || ok != step.ok || cache.Len() != step.kept {
			t.Errorf("%s: got %d, %t with %d values in memory, want %d, %t with %d", step.reason, got, ok, cache.Len(), step.want, step.ok,
				step.kept)
		}
	}
}

// TestBoundedCacheDropsTheUnusedValue stores five values in a cache for three, at the same time. The first one is used in between.
func TestBoundedCacheDropsTheUnusedValue(t *testing.T) {
	clock := &manualClock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, cache := range map[string]*Cache[int]{
		"New": New[int](time.Hour, 3, clock.Now), "NewIdle": NewIdle[int](time.Hour, 3, clock.Now),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 5 {
				if _, err := cache.GetOrMake(fmt.Sprint(i), func() (int, error) { return i, nil }); err != nil {
					t.Fatal(err)
				}
				cache.Get("0")
			}
			var got []int
			for i := range 5 {
				if value, ok := cache.Get(fmt.Sprint(i)); ok {
					got = append(got, value)
				}
			}
			if diff := cmp.Diff([]int{0, 3, 4}, got); diff != "" {
				t.Errorf("the value that was not used for the longest time goes first (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOthersDoNotWaitForAValue asks for a second value while the first one is made, and for the first one twice.
func TestOthersDoNotWaitForAValue(t *testing.T) {
	cache := New[int](time.Hour, 0, time.Now)
	begun, end, calls := make(chan struct{}), make(chan struct{}), 0
	slow := func() (int, error) {
		calls++
		close(begun)
		<-end
		return 1, nil
	}
	results := make(chan int, 2)
	ask := func() {
		value, _ := cache.GetOrMake("slow", slow)
		results <- value
	}
	go ask()
	<-begun
	if value, err := cache.GetOrMake("quick", func() (int, error) { return 2, nil }); value != 2 || err != nil {
		t.Errorf("%d, %v", value, err)
	}
	go ask()
	close(end)
	if first, second := <-results, <-results; first != 1 || second != 1 || calls != 1 {
		t.Errorf("%d and %d of %d calls, want the value of one call", first, second, calls)
	}
}

func TestUsedValuesStay(t *testing.T) {
	clock := &manualClock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	cache := NewIdle[int](time.Hour, 0, clock.Now)
	cache.Set("used", 1)
	cache.Set("unused", 1)
	for range 3 {
		clock.now = clock.now.Add(time.Hour - 1)
		if _, ok := cache.Get("used"); !ok {
			t.Fatal("a value that was used within the hour is gone")
		}
	}
	if cache.Len() != 1 {
		t.Error("an unused value is in memory for longer than an hour")
	}
	clock.now = clock.now.Add(time.Hour)
	if _, ok := cache.Get("used"); ok {
		t.Error("a value that was not used for an hour is returned")
	}
}

// TestCallersShareOneFetch lets ten callers fetch one key, of which the first one gives up.
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
	refused := errors.New("refused")
	for name, get := range map[string]func(*Cache[int], func() (int, error)) (int, error){
		"Fetch": func(c *Cache[int], ask func() (int, error)) (int, error) {
			return c.Fetch(t.Context(), "key", func(context.Context) (int, error) { return ask() })
		},
		"GetOrMake": func(c *Cache[int], ask func() (int, error)) (int, error) { return c.GetOrMake("key", ask) },
	} {
		t.Run(name, func(t *testing.T) {
			cache := New[int](time.Minute, 0, time.Now)
			if _, err := get(cache, func() (int, error) { return 7, refused }); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			for _, next := range []int{8, 9} {
				if got, err := get(cache, func() (int, error) { return next, nil }); got != 8 || err != nil {
					t.Errorf("got %d, %v; want 8", got, err)
				}
			}
		})
	}
}
