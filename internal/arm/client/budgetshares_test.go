package client_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestRemainingShares sends requests in several subscriptions.
func TestRemainingShares(t *testing.T) {
	clock, throttle := now, false
	budgets := client.NewBudgets(func() time.Time { return clock }, 1)
	c := serveClient(t, credential.Token("t"), budgets, func(w http.ResponseWriter, _ *http.Request) {
		if throttle {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"code":"SubscriptionRequestsThrottled"}}`)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	read := func(subscription string, times int) {
		for range times {
			_, _ = c.Get(context.Background(), arm.ResourceGroupID(subscription, "rg"), "v", nil)
		}
	}
	expect := func(reason string, limit int, want ...client.BudgetShare) {
		t.Helper()
		if diff := cmp.Diff(want, budgets.RemainingShares(limit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	expect("no request was sent", 9)
	read("A", 9)
	read("b", 45)
	expect("subscriptions are compared without case, and sorted", 9,
		client.BudgetShare{Subscription: "a", Class: "reads", Remaining: 216. / 225}, client.BudgetShare{Subscription: "b", Class: "reads", Remaining: 180. / 225})
	expect("those with the least left are kept", 1, client.BudgetShare{Subscription: "b", Class: "reads", Remaining: 180. / 225})
	network := arm.NewID("b", "rg", "Microsoft.Network/virtualNetworks", "vnet")
	if _, err := c.Delete(context.Background(), network, "v", nil); err != nil {
		t.Fatal(err)
	}
	expect("Microsoft.Network has limits of its own, and counts deletions as writes", 1,
		client.BudgetShare{Subscription: "b", Class: "deletes", Remaining: 179. / 180},
		client.BudgetShare{Subscription: "b", Class: "network writes", Remaining: 949. / 950},
		client.BudgetShare{Subscription: "b", Class: "reads", Remaining: 180. / 225})
	throttle = true
	read("a", 1)
	expect("a class that Azure throttles has nothing left", 1, client.BudgetShare{Subscription: "a", Class: "reads", Remaining: 0})
	clock = clock.Add(2 * time.Minute)
	expect("budgets fill up again, and what Microsoft.Network counts stays for its window", 1,
		client.BudgetShare{Subscription: "b", Class: "deletes", Remaining: 1},
		client.BudgetShare{Subscription: "b", Class: "network writes", Remaining: 949. / 950},
		client.BudgetShare{Subscription: "b", Class: "reads", Remaining: 1})
}
