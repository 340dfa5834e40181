package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

func TestBudgets(t *testing.T) {
	clock := now
	var answer func(w http.ResponseWriter)
	served := 0
	c := serveClient(t, credential.Token("t"), client.NewBudgets(func() time.Time { return clock }, 1),
		func(w http.ResponseWriter, r *http.Request) {
			served++
			if answer != nil {
				answer(w)
				return
			}
			fmt.Fprint(w, `{}`)
		})
	get := func(id arm.ID) error { _, err := c.Get(context.Background(), id, "v", nil); return err }
	remove := func() error { _, err := c.Delete(context.Background(), id, "v", nil); return err }
	held := func(err error) time.Duration {
		var e *arm.Error
		if errors.As(err, &e) && e.Code == arm.CodeBudgetEmpty && arm.Classify(err) == arm.ClassWaiting {
			return e.RetryAfter
		}
		return 0
	}

	for held(get(id)) == 0 {
		if served > 250 {
			t.Fatal("more reads were sent than Azure's bucket holds")
		}
	}
	if served < 200 {
		t.Errorf("not sent after %d reads, Azure's bucket holds 250", served)
	}
	if spare := c.ReadBudgetLeft("s"); spare > 0.01 {
		t.Errorf("ReadBudgetLeft of an empty budget is %.2f", spare)
	}
	if err := remove(); err != nil {
		t.Errorf("deletions have a budget of their own: %v", err)
	}
	if err := get(arm.SubscriptionID("other")); err != nil {
		t.Errorf("so has another subscription: %v", err)
	}
	clock = clock.Add(time.Second)
	if err := get(id); err != nil {
		t.Errorf("it refills: %v", err)
	}

	clock = clock.Add(time.Hour)
	answer = func(w http.ResponseWriter) {
		w.Header().Set("x-ms-ratelimit-remaining-subscription-reads", "0")
		fmt.Fprint(w, `{}`)
	}
	if err := get(id); err != nil {
		t.Fatal(err)
	}
	if wait := held(get(id)); wait == 0 || wait > time.Second {
		t.Errorf("Azure's header has 0 remaining requests: wait %s", wait)
	}

	clock = clock.Add(time.Hour)
	answer = func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(429)
		fmt.Fprint(w, `{"error":{"code":"OperationNotAllowed","details":[{"code":"TooManyRequests"}]}}`)
	}
	if err := get(id); held(err) != 0 || arm.Classify(err) != arm.ClassWaiting {
		t.Errorf("%v", err)
	}
	answer = nil
	if wait := held(get(id)); wait != 30*time.Second {
		t.Errorf("the provider's Retry-After is 30 s: wait %s", wait)
	}
	if err := get(arm.NewID("s", "g", "Microsoft.Compute/disks", "d")); err != nil {
		t.Errorf("another provider is not throttled: %v", err)
	}
	clock = clock.Add(31 * time.Second)
	if err := get(id); err != nil {
		t.Errorf("%v", err)
	}

	clock = clock.Add(time.Hour)
	answer = func(w http.ResponseWriter) {
		w.WriteHeader(429)
		fmt.Fprint(w, `{"error":{"code":"TooManyRequests"}}`)
	}
	for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
		want := time.Duration(seconds) * time.Second
		if err := get(id); held(err) != 0 {
			t.Errorf("%v", err)
		}
		if wait := held(get(id)); wait != want {
			t.Errorf("Azure returned no wait time: wait %s, want %s", wait, want)
		}
		clock = clock.Add(want)
	}
	clock = clock.Add(2 * time.Minute)
	if err := get(id); held(err) != 0 {
		t.Errorf("%v", err)
	}
	if wait := held(get(id)); wait != time.Second {
		t.Errorf("the throttling had ended before: wait %s", wait)
	}
	clock = clock.Add(time.Minute)
	for _, busy := range []string{`{"code":"RetryableError","details":[{"code":"RetryableErrorDueToAnotherOperation"}]}`,
		`{"code":"RetryableErrorDueToAnotherOperation"}`} {
		answer = func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "14")
			w.WriteHeader(429)
			fmt.Fprintf(w, `{"error":%s}`, busy)
		}
		if err := get(id); arm.Classify(err) != arm.ClassWaiting {
			t.Errorf("%v", err)
		}
		answer = nil
		if err := get(id); err != nil {
			t.Errorf("a busy resource is not throttling: %v", err)
		}
	}
}

// TestAnswersToOneBurstCountOnce: 429 answers to requests that were sent before the first of them came do not lengthen the wait.
func TestAnswersToOneBurstCountOnce(t *testing.T) {
	const burst = 8
	var sent sync.WaitGroup
	sent.Add(burst)
	c := serveClient(t, credential.Token("t"), client.NewBudgets(func() time.Time { return now }, 1),
		func(w http.ResponseWriter, _ *http.Request) {
			sent.Done()
			sent.Wait()
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"code":"TooManyRequests"}}`)
		})
	var answered sync.WaitGroup
	for range burst {
		answered.Go(func() {
			if _, err := c.Get(context.Background(), id, "v", nil); arm.Classify(err) != arm.ClassWaiting {
				t.Errorf("%v", err)
			}
		})
	}
	answered.Wait()
	_, err := c.Get(context.Background(), id, "v", nil)
	var held *arm.Error
	if !errors.As(err, &held) || held.Code != arm.CodeBudgetEmpty || held.RetryAfter != time.Second {
		t.Errorf("after a burst: %v, want a wait of a second", err)
	}
}

// TestNetworkBudgetsAreCountedByRegion: each region has its own limit of Microsoft.Network. The bodies of writes and reads name the region.
func TestNetworkBudgetsAreCountedByRegion(t *testing.T) {
	clock := now
	c := serveClient(t, credential.Token("t"), client.NewBudgets(func() time.Time { return clock }, 1),
		func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"location":"westeurope"}`) })
	in := func(group, location string) error {
		at := arm.NewID("s", group, "Microsoft.Network/networkInterfaces", "n")
		_, err := c.Put(context.Background(), at, "v", json.RawMessage(`{"location":"`+location+`"}`), "")
		return err
	}
	const takes = 950
	for i := range takes {
		clock = clock.Add(200 * time.Millisecond)
		if err := in("west", "West Europe"); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
	if err := in("west-too", "westeurope"); !arm.IsBudgetEmpty(err) {
		t.Errorf("the same region: %v, want an empty budget", err)
	}
	if err := in("east", "eastus"); err != nil {
		t.Errorf("another region: %v", err)
	}
	if err := in("west", "global"); !arm.IsBudgetEmpty(err) {
		t.Errorf("a global resource, as a private DNS zone, in a group of the same region: %v, want an empty budget", err)
	}
	existing := arm.NewID("s", "existing", "Microsoft.Network/networkInterfaces", "n")
	if _, err := c.Get(context.Background(), existing, "v", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(context.Background(), existing, "v", nil); !arm.IsBudgetEmpty(err) {
		t.Errorf("deletion of a resource that was read in the same region: %v, want an empty budget", err)
	}
}

// TestReservedTokenIsKept: ReserveWrite reserves the token that is available and spends none.
func TestReservedTokenIsKept(t *testing.T) {
	clock, served := now, 0
	c := serveClient(t, credential.Token("t"), client.NewBudgets(func() time.Time { return clock }, 1),
		func(w http.ResponseWriter, r *http.Request) {
			served++
			fmt.Fprint(w, `{}`)
		})
	at := func(name string) arm.ID { return arm.NewID("s", "g", "Microsoft.Compute/virtualMachines", name) }
	put := func(name string) error { _, err := c.Put(context.Background(), at(name), "v", nil, ""); return err }
	for put("many") == nil {
		if served > 200 {
			t.Fatal("more writes were sent than Azure's bucket holds")
		}
	}
	if err := c.ReserveWrite(http.MethodPut, at("first"), nil); !arm.IsBudgetEmpty(err) {
		t.Fatalf("no token is left, and the next request has the turn: %v", err)
	}
	clock = clock.Add(250 * time.Millisecond) // Two tokens: one for the refused request and one for the first.
	for range 3 {
		if err := c.ReserveWrite(http.MethodPut, at("first"), nil); err != nil {
			t.Fatalf("its turn: %v", err)
		}
	}
	if err := put("late"); !arm.IsBudgetEmpty(err) {
		t.Errorf("a later request got the reserved token of an earlier one: %v", err)
	}
	if err := put("first"); err != nil {
		t.Errorf("the earlier request: %v", err)
	}
}
