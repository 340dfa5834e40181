package client

import (
	"cmp"
	"maps"
	"slices"
)

// BudgetShare is the remaining share of a budget of requests, 0 to 1.
type BudgetShare struct {
	Subscription string
	// Class is reads, writes or deletes, or "network reads" and "network writes" for the limits of Microsoft.Network.
	Class     string
	Remaining float64
}

// RemainingShares returns the smallest remaining share of each class of requests in each subscription, over all principals and regions. The
// share is 0 while Azure throttles the class. Of more than limit subscriptions it returns those with the least left. The result is sorted.
func (b *Budgets) RemainingShares(limit int) []BudgetShare {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	type key struct{ subscription, class string }
	smallest, least := map[key]float64{}, map[string]float64{}
	for _, bucket := range b.buckets {
		if bucket.subscription == "" {
			continue // Requests without a subscription have a budget of the tenant.
		}
		bucket.refillTokens(b.now())
		of, share := key{bucket.subscription, bucket.class}, min(1, max(0, bucket.tokens/bucket.size))
		if b.throttledUntil[bucket.throttleKey].After(b.now()) {
			share = 0
		}
		if known, ok := smallest[of]; !ok || share < known {
			smallest[of] = share
		}
		if known, ok := least[of.subscription]; !ok || share < known {
			least[of.subscription] = share
		}
	}
	subscriptions := slices.SortedFunc(maps.Keys(least), func(a, b string) int {
		return cmp.Or(cmp.Compare(least[a], least[b]), cmp.Compare(a, b))
	})
	subscriptions = subscriptions[:min(limit, len(subscriptions))]
	var out []BudgetShare
	for of, share := range smallest {
		if slices.Contains(subscriptions, of.subscription) {
			out = append(out, BudgetShare{Subscription: of.subscription, Class: of.class, Remaining: share})
		}
	}
	slices.SortFunc(out, func(a, b BudgetShare) int {
		return cmp.Or(cmp.Compare(a.Subscription, b.Subscription), cmp.Compare(a.Class, b.Class))
	})
	return out
}
