package client

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestUnusedBudgetsAreForgotten lets a hundred secrets of an identity follow each other, each of which is another principal, with clusters
// in groups of their own that Azure throttles; it expects that unused budgets leave the memory.
func TestUnusedBudgetsAreForgotten(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := NewBudgets(func() time.Time { return clock }, 1)
	send := func(principal, group string) {
		t.Helper()
		request := Request{Method: http.MethodPut, ID: arm.NewID("s", group, "Microsoft.Network/networkInterfaces", "n"),
			Body: map[string]any{"location": "eastus"}}
		if err := b.takeToken(principal, "", request); err != nil {
			t.Fatal(err)
		}
		b.learnFromAnswer(principal, request, http.StatusTooManyRequests, nil, []byte(`{"error":{"code":"TooManyRequests"}}`), time.Second)
	}
	counts := func() [4]int {
		return [4]int{len(b.buckets), len(b.regions), len(b.throttledUntil), len(b.throttledFor)}
	}
	send("p", "g")
	one := counts()
	for i := range 100 {
		clock = clock.Add(time.Minute)
		send(fmt.Sprint("p", i), fmt.Sprint("g", i))
	}
	used := b.buckets["p99|s|writes"]
	clock = clock.Add(unusedBudget - time.Minute)
	send("p99", "g99")
	if got := b.buckets["p99|s|writes"]; got == nil || got != used {
		t.Error("a budget is forgotten within the hour")
	}
	clock = clock.Add(2 * time.Minute)
	send("p99", "g99")
	clock = clock.Add(unusedBudget / 2)
	send("p99", "g99")
	if got := counts(); got != one {
		t.Errorf("budgets, regions and throttlings: %v, want those of one principal and group, %v", got, one)
	}
}
