package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// crowd are requests that wait for a budget, and come again when they were told to.
type crowd struct {
	*testing.T
	client *client.Client
	clock  time.Time
	served int
	// due are those that wait, by what they are.
	due map[asking]time.Time
	// done is when each was served.
	done map[asking]time.Duration
}

// asking is one request.
type asking struct {
	method string
	id     arm.ID
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{T: t, clock: now, due: map[asking]time.Time{}, done: map[asking]time.Duration{}}
	c.client = serve(t, credential.Token("t"), client.NewBudgets(func() time.Time { return c.clock }), func(w http.ResponseWriter, _ *http.Request) {
		c.served++
		fmt.Fprint(w, `{}`)
	})
	return c
}

// ask sends a request, or has it wait.
func (c *crowd) ask(asked asking) {
	c.Helper()
	request := client.Request{Method: asked.method, ID: asked.id, APIVersion: "v"}
	if asked.method == http.MethodPut {
		request.Body = map[string]any{"location": "eastus"}
	}
	_, err := c.client.Do(context.Background(), request)
	var held *arm.Error
	switch {
	case err == nil:
		delete(c.due, asked)
		c.done[asked] = c.clock.Sub(now)
	case errors.As(err, &held) && held.Code == arm.CodeBudgetEmpty:
		if held.RetryAfter < time.Second {
			c.Fatalf("%s %s may come again after %s", asked.method, asked.id, held.RetryAfter)
		}
		c.due[asked] = c.clock.Add(held.RetryAfter)
	default:
		c.Fatal(err)
	}
}

// pass lets a tenth of a second after the other go by, in which everybody comes whose time it is.
func (c *crowd) pass(d time.Duration) {
	c.Helper()
	for end := c.clock.Add(d); c.clock.Before(end); {
		c.clock = c.clock.Add(100 * time.Millisecond)
		for asked, due := range c.due {
			if !due.After(c.clock) {
				c.ask(asked)
			}
		}
	}
}

func disk(group string, i int) arm.ID {
	return arm.NewID("s", group, "Microsoft.Compute/disks", fmt.Sprint("d", i))
}

// TestTurns has one cluster ask for a thousand writes, and another one for three later on: it need not wait for the thousand. No token is
// left lying while somebody waits, and nobody is forgotten.
func TestTurns(t *testing.T) {
	c := newCrowd(t)
	for i := range 1000 {
		c.ask(asking{http.MethodPut, disk("large", i)})
	}
	c.pass(20 * time.Second)
	begun := c.clock.Sub(now)
	for i := range 3 {
		c.ask(asking{http.MethodPut, disk("small", i)})
	}
	before := c.served
	c.pass(30 * time.Second)
	// 10 tokens come in a second.
	if got := c.served - before; got < 290 || got > 305 {
		t.Errorf("%d writes were sent in 30 s, Azure takes 300", got)
	}
	for i := range 3 {
		if done, ok := c.done[asking{http.MethodPut, disk("small", i)}]; !ok || done-begun > 5*time.Second {
			t.Errorf("write %d of the other cluster is sent after %s", i, done-begun)
		}
	}
	c.pass(time.Minute)
	if len(c.due) > 0 || c.served != 1003 {
		t.Errorf("%d of 1003 writes are sent, %d wait", c.served, len(c.due))
	}
}

// TestTenants has one tenant ask for the writes of 238 clusters, again and again, and another tenant of the same principal for four later on: it
// does not wait for the 238. A tenant gets half of the tokens then and not one in 239, and no token is left lying.
func TestTenants(t *testing.T) {
	c := newCrowd(t)
	large, small := c.client.ForTenant("large"), c.client.ForTenant("small")
	c.client = large
	for i := range 5 {
		for group := range 238 {
			c.ask(asking{http.MethodPut, disk(fmt.Sprint("large", group), i)})
		}
	}
	c.pass(10 * time.Second)
	begun, before := c.clock.Sub(now), c.served
	own := &crowd{T: t, client: small, clock: c.clock, due: map[asking]time.Time{}, done: map[asking]time.Duration{}}
	for i := range 4 {
		own.ask(asking{http.MethodPut, disk("small", i)})
	}
	for range 300 {
		c.pass(100 * time.Millisecond)
		own.pass(100 * time.Millisecond)
	}
	for i := range 4 {
		if done, ok := own.done[asking{http.MethodPut, disk("small", i)}]; !ok || done-begun > 4*time.Second {
			t.Errorf("write %d of the small tenant is sent after %s", i, done-begun)
		}
	}
	if got := c.served - before; got < 290 || got > 305 {
		t.Errorf("%d writes were sent in 30 s, Azure takes 300", got)
	}
	c.pass(3 * time.Minute)
	if len(c.due) > 0 || c.served != 5*238+4 {
		t.Errorf("%d of %d writes are sent, %d wait", c.served, 5*238+4, len(c.due))
	}
}

// TestWindow has a cluster make a thousand interfaces and more: Microsoft.Network is never sent more than it takes in five minutes, and
// most of it is used. A deletion goes before what is made.
func TestWindow(t *testing.T) {
	c := newCrowd(t)
	nic := func(group string, i int) arm.ID {
		return arm.NewID("s", group, "Microsoft.Network/networkInterfaces", fmt.Sprint("n", i))
	}
	for i := range 4000 {
		c.ask(asking{http.MethodPut, nic("large", i)})
	}
	var sent []int
	for range 90 {
		sent = append(sent, c.served)
		c.pass(10 * time.Second)
		if end := len(sent) - 30; end >= 0 && c.served-sent[end] > 1000 {
			t.Fatalf("%d writes in five minutes, Azure takes 1000", c.served-sent[end])
		}
	}
	if c.served < 85*3*10 {
		t.Errorf("%d writes in 15 minutes, Azure takes 3000", c.served)
	}

	if len(c.due) == 0 {
		t.Fatal("nobody waits")
	}
	for last := -1; last != c.served; {
		last = c.served
		c.pass(time.Second)
	}
	remove, asked := asking{http.MethodDelete, nic("large", 0)}, c.clock.Sub(now)
	c.ask(remove)
	c.pass(6 * time.Minute)
	removed, done := c.done[remove]
	if !done || removed == asked {
		t.Fatalf("the deletion is done: %t, after %s; it has to wait for a while", done, removed-asked)
	}
	for put, at := range c.done {
		if at > asked && at < removed {
			t.Errorf("%s was sent at %s, before the deletion at %s, which was asked for at %s", put.id, at, removed, asked)
		}
	}
}
