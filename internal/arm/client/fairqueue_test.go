package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// crowd has requests that wait for a budget and return at the time of their next try.
type crowd struct {
	*testing.T
	client *client.Client
	clock  time.Time
	served int
	// due has the waiting requests with the time of their next try.
	due map[waitingRequest]time.Time
	// done has the time when each was served.
	done map[waitingRequest]time.Duration
	// delay is the time until the next try after an error; nil is the wait time of the error.
	delay func(error) time.Duration
	// answer answers requests; nil returns an empty resource.
	answer http.HandlerFunc
}

// waitingRequest is one request.
type waitingRequest struct {
	method string
	id     arm.ID
	// tenant is the sender; "" is the tenant of the client.
	tenant string
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{T: t, clock: now, due: map[waitingRequest]time.Time{}, done: map[waitingRequest]time.Duration{}}
	c.client = serveClient(t, credential.Token("t"), client.NewBudgets(func() time.Time { return c.clock }, 1),
		func(w http.ResponseWriter, r *http.Request) {
			c.served++
			if c.answer != nil {
				c.answer(w, r)
				return
			}
			fmt.Fprint(w, `{}`)
		})
	return c
}

// sendRequest sends a request, or lets it wait.
func (c *crowd) sendRequest(asked waitingRequest) {
	c.Helper()
	request := client.Request{Method: asked.method, ID: asked.id, APIVersion: "v"}
	if asked.method == http.MethodPut {
		request.Body = map[string]any{"location": "eastus"}
	}
	sender := c.client
	if asked.tenant != "" {
		sender = sender.ForTenant(asked.tenant)
	}
	_, err := sender.Do(context.Background(), request)
	var held *arm.Error
	switch {
	case err == nil:
		delete(c.due, asked)
		c.done[asked] = c.clock.Sub(now)
	case errors.As(err, &held) && held.Code == arm.CodeBudgetEmpty:
		if held.RetryAfter < time.Second {
			c.Fatalf("%s %s may come again after %s", asked.method, asked.id, held.RetryAfter)
		}
		delay := held.RetryAfter
		if c.delay != nil {
			delay = c.delay(err)
		}
		c.due[asked] = c.clock.Add(delay)
	default:
		c.Fatal(err)
	}
}

// passTime advances the clock in steps of a tenth of a second and sends the requests that are due.
func (c *crowd) passTime(d time.Duration) {
	c.Helper()
	for end := c.clock.Add(d); c.clock.Before(end); {
		c.clock = c.clock.Add(100 * time.Millisecond)
		for asked, due := range c.due {
			if !due.After(c.clock) {
				c.sendRequest(asked)
			}
		}
	}
}

func newDiskID(group string, i int) arm.ID {
	return arm.NewID("s", group, "Microsoft.Compute/disks", fmt.Sprint("d", i))
}

// TestClustersShareTheBudget lets one cluster request a thousand writes and another one three writes later. It expects that the second does
// not wait for the thousand, that no token is unused while requests wait, and that every request is served.
func TestClustersShareTheBudget(t *testing.T) {
	c := newCrowd(t)
	for i := range 1000 {
		c.sendRequest(waitingRequest{method: http.MethodPut, id: newDiskID("large", i)})
	}
	c.passTime(20 * time.Second)
	begun := c.clock.Sub(now)
	for i := range 3 {
		c.sendRequest(waitingRequest{method: http.MethodPut, id: newDiskID("small", i)})
	}
	before := c.served
	c.passTime(30 * time.Second)
	// 10 tokens per second are added.
	if got := c.served - before; got < 290 || got > 305 {
		t.Errorf("%d writes were sent in 30 s, Azure accepts 300", got)
	}
	for i := range 3 {
		if done, ok := c.done[waitingRequest{method: http.MethodPut, id: newDiskID("small", i)}]; !ok || done-begun > 5*time.Second {
			t.Errorf("write %d of the other cluster is sent after %s", i, done-begun)
		}
	}
	c.passTime(time.Minute)
	if len(c.due) > 0 || c.served != 1003 {
		t.Errorf("%d of 1003 writes are sent, %d wait", c.served, len(c.due))
	}
}

// TestListsEndWhileOthersWait sends single reads of other clusters all the time, so that each token is taken at once, and lists of three
// pages. A list waits for the token of its first page only, and the tokens of its other pages are paid back.
func TestListsEndWhileOthersWait(t *testing.T) {
	c := newCrowd(t)
	pages := 0
	c.answer = func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/disks") {
			fmt.Fprint(w, `{}`)
			return
		}
		pages++
		next := map[string]string{"": "2", "2": "3"}[r.URL.Query().Get("page")]
		if next == "" {
			fmt.Fprint(w, `{"value":[]}`)
			return
		}
		fmt.Fprintf(w, `{"value":[],"nextLink":"https://%s%s?page=%s"}`, r.Host, r.URL.Path, next)
	}
	other := c.client.ForTenant("other")
	for i := range 2000 {
		c.sendRequest(waitingRequest{http.MethodGet, newDiskID("large", i), fmt.Sprint("tenant ", i%60)})
	}
	lists, next := 0, c.clock
	before := c.served
	for range 600 {
		c.passTime(100 * time.Millisecond)
		if c.clock.Before(next) {
			continue
		}
		_, err := other.List(context.Background(), "/subscriptions/s/resourceGroups/small/providers/Microsoft.Compute/disks", "v", nil)
		var held *arm.Error
		switch {
		case err == nil:
			lists++
			next = c.clock.Add(10 * time.Second)
		case errors.As(err, &held) && held.Code == arm.CodeBudgetEmpty:
			next = c.clock.Add(held.RetryAfter)
		default:
			t.Fatal(err)
		}
	}
	if lists < 5 || pages != 3*lists {
		t.Errorf("%d lists of three pages were read in a minute, one each ten seconds was asked for, and %d pages", lists, pages)
	}
	if got := c.served - before; got < 1480 || got > 1510 {
		t.Errorf("%d requests were sent in a minute, Azure accepts 1500", got)
	}
}

// TestTenantsShareTheBudget lets one tenant request the writes of 238 clusters repeatedly, and another tenant of the same principal four
// writes later. It expects that the second does not wait for the 238: it gets half of the tokens instead of one in 239, and no token is
// unused.
func TestTenantsShareTheBudget(t *testing.T) {
	c := newCrowd(t)
	large, small := c.client.ForTenant("large"), c.client.ForTenant("small")
	c.client = large
	for i := range 5 {
		for group := range 238 {
			c.sendRequest(waitingRequest{method: http.MethodPut, id: newDiskID(fmt.Sprint("large", group), i)})
		}
	}
	c.passTime(10 * time.Second)
	begun, before := c.clock.Sub(now), c.served
	own := &crowd{T: t, client: small, clock: c.clock, due: map[waitingRequest]time.Time{}, done: map[waitingRequest]time.Duration{}}
	for i := range 4 {
		own.sendRequest(waitingRequest{method: http.MethodPut, id: newDiskID("small", i)})
	}
	for range 300 {
		c.passTime(100 * time.Millisecond)
		own.passTime(100 * time.Millisecond)
	}
	for i := range 4 {
		if done, ok := own.done[waitingRequest{method: http.MethodPut, id: newDiskID("small", i)}]; !ok || done-begun > 4*time.Second {
			t.Errorf("write %d of the small tenant is sent after %s", i, done-begun)
		}
	}
	if got := c.served - before; got < 290 || got > 305 {
		t.Errorf("%d writes were sent in 30 s, Azure accepts 300", got)
	}
	c.passTime(3 * time.Minute)
	if len(c.due) > 0 || c.served != 5*238+4 {
		t.Errorf("%d of %d writes are sent, %d wait", c.served, 5*238+4, len(c.due))
	}
}

// TestFactsKeepTheirPlace lets a tenant send more writes than the budget allows, and another one return with its request after the delay of
// facts and actions; it expects that the request has kept its place.
func TestFactsKeepTheirPlace(t *testing.T) {
	c := newCrowd(t)
	large, small := c.client.ForTenant("large"), c.client.ForTenant("small")
	c.client = large
	for i := range 2000 {
		c.sendRequest(waitingRequest{method: http.MethodPut, id: newDiskID("large", i)})
	}
	c.passTime(10 * time.Second)
	begun := c.clock.Sub(now)
	own := &crowd{T: t, client: small, clock: c.clock, due: map[waitingRequest]time.Time{}, done: map[waitingRequest]time.Duration{},
		delay: arm.ReadRetryDelay}
	asked := waitingRequest{method: http.MethodPut, id: newDiskID("small", 0)}
	own.sendRequest(asked)
	if _, waits := own.due[asked]; !waits {
		t.Fatal("the budget is not used up")
	}
	for range 600 {
		c.passTime(100 * time.Millisecond)
		own.passTime(100 * time.Millisecond)
	}
	if done, ok := own.done[asked]; !ok || done-begun > 4*time.Second {
		t.Errorf("the request of the small tenant is sent after %s: %t", done-begun, ok)
	}
}

// TestNetworkWindowIsNotExceeded lets a cluster create more than a thousand interfaces. It expects that Microsoft.Network never gets more
// requests than its five-minute limit, that most of the limit is used, and that deletions go before creations.
func TestNetworkWindowIsNotExceeded(t *testing.T) {
	c := newCrowd(t)
	nic := func(group string, i int) arm.ID {
		return arm.NewID("s", group, "Microsoft.Network/networkInterfaces", fmt.Sprint("n", i))
	}
	for i := range 4000 {
		c.sendRequest(waitingRequest{method: http.MethodPut, id: nic("large", i)})
	}
	var sent []int
	for range 90 {
		sent = append(sent, c.served)
		c.passTime(10 * time.Second)
		if end := len(sent) - 30; end >= 0 && c.served-sent[end] > 1000 {
			t.Fatalf("%d writes in five minutes, Azure accepts 1000", c.served-sent[end])
		}
	}
	if c.served < 85*3*10 {
		t.Errorf("%d writes in 15 minutes, Azure accepts 3000", c.served)
	}

	if len(c.due) == 0 {
		t.Fatal("no request waits")
	}
	for last := -1; last != c.served; {
		last = c.served
		c.passTime(time.Second)
	}
	remove, asked := waitingRequest{method: http.MethodDelete, id: nic("large", 0)}, c.clock.Sub(now)
	c.sendRequest(remove)
	c.passTime(6 * time.Minute)
	removed, done := c.done[remove]
	if !done || removed == asked {
		t.Fatalf("the deletion is done: %t, after %s; it has to wait for a while", done, removed-asked)
	}
	for put, at := range c.done {
		if at > asked && at < removed {
			t.Errorf("%s was sent at %s, before the deletion at %s, which was requested at %s", put.id, at, removed, asked)
		}
	}
}
