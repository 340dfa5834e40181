package requests_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestTenantsShareBudgets lets the objects of one namespace use up the budget of writes of an application, with a resource group for each
// write as broken clusters have it, while many more of them wait; it expects that an object of another namespace that uses the same
// identity is next.
func TestTenantsShareBudgets(t *testing.T) {
	playUnmanaged(t, func(w *world) {
		m := w.StartProvider()
		open := func(namespace string) *access.Access {
			ref := &corev1.ObjectReference{Namespace: w.Namespace, Name: harness.IdentityName}
			opened, err := m.Gate.Open(w.T.Context(), access.Request{IdentityRef: ref, Namespace: namespace, SubscriptionID: w.Azure.SubscriptionID})
			if err != nil {
				w.T.Fatal(err)
			}
			return opened
		}
		large, small := open("large"), open("small")
		group := func(name string, i int) arm.ID {
			return arm.ResourceGroupID(w.Azure.SubscriptionID, fmt.Sprintf("%s-%d", name, i))
		}
		body := map[string]any{"location": "eastus"}
		waits := func(of *access.Access, id arm.ID) time.Duration {
			err := of.Client.ReserveWrite(http.MethodPut, id, body)
			var held *arm.Error
			if err != nil && !errors.As(err, &held) {
				w.T.Fatal(err)
			}
			if held == nil {
				return 0
			}
			return held.RetryAfter
		}
		var writes sync.WaitGroup
		for i := range 250 {
			writes.Go(func() {
				_, err := large.Client.Put(w.T.Context(), group("large", i), "2021-04-01", body, "")
				if held := new(arm.Error); err != nil && (!errors.As(err, &held) || held.Code != arm.CodeBudgetEmpty) {
					w.T.Error(err)
				}
			})
		}
		writes.Wait()
		var last time.Duration
		for i := range 238 {
			last = waits(large, group("large", 250+i))
		}
		if next := waits(small, group("small", 0)); next > 2*time.Second || last < 20*time.Second {
			w.T.Errorf("the last of the many writes of a namespace waits %s, and the first one of another namespace %s", last, next)
		}
	})
}
