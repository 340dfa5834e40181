package observe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// subscriptionListPath is the list of all resources of the type of id in its subscription, "" for what has none.
func subscriptionListPath(id arm.ID) arm.ID {
	row, err := types.ForID(id)
	subscription := arm.SubscriptionID(id.Subscription())
	switch {
	case err != nil || id.Subscription() == "" || id.ResourceGroup() == "":
		return ""
	case id.Type() == types.ResourceGroup:
		return subscription + "/resourceGroups"
	case row.ReadIndividually || strings.Count(id.Type(), "/") > 1:
		return ""
	}
	return arm.ID(string(subscription) + "/providers/" + row.Name)
}

// readSubscriptionLists reads for a regular look what lists of the whole subscription show, where several resource groups want to know and the list has
// no more pages than they are. It returns the IDs that it does not know of: what such a list leaves out may be there all the same.
func (r *reading) readSubscriptionLists(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	if !r.regularSync {
		return ids
	}
	cache, scope := r.reader.Cache, r.client.CacheScope()
	lists, pages := map[arm.ID][]arm.ID{}, map[arm.ID]int{}
	for _, id := range ids {
		path := subscriptionListPath(id)
		if path != "" {
			pages[path] = cache.countInterestedGroups(scope, path, resourceGroupOf(id))
		}
		if path == "" || pages[path] < 2 {
			missing = append(missing, id)
			continue
		}
		lists[path] = append(lists[path], id)
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for path, wanted := range lists {
		r.slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-r.slots }()
			rest := r.readSubscriptionList(ctx, path, wanted, pages[path])
			for range len(wanted) - len(rest) {
				r.reader.recordCacheRead(CacheMiss)
			}
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, rest...)
		})
	}
	wait.Wait()
	return missing
}

// readSubscriptionList reads one list, or takes what another reader of it is about to get.
func (r *reading) readSubscriptionList(ctx context.Context, path arm.ID, ids []arm.ID, pages int) (missing []arm.ID) {
	cache, scope := r.reader.Cache, r.client.CacheScope()
	row, err := types.ForID(ids[0])
	if err != nil {
		return ids
	}
	end := r.beginSharedRead(ctx, path, func() bool {
		ids = r.takeCached(ids, cache.clock.Now().Add(-r.maxAge))
		return len(ids) == 0 || cache.isListSkipped(scope, path)
	})
	if end == nil {
		return ids
	}
	defer end()
	begun := cache.NewObservation(Observed{}, false)
	items, complete, err := r.client.ListPages(ctx, string(path), row.APIVersion, row.ListQuery, pages)
	if err != nil || !complete || row.VolatileState && !showsPowerState(items) {
		cache.skipList(ctx, scope, path, pages, r.maxAge, err)
		return ids
	}
	for _, item := range items {
		head := ParseHead(item)
		if head.ID == "" {
			continue
		}
		found := begun
		found.ID, found.Exists, found.Body, found.ETag = arm.ID(head.ID), true, withoutBackReferences(row, item), head.ETag
		cache.StoreObservation(scope, found)
	}
	return r.takeCached(ids, begun.At)
}

// beginSharedRead begins the read of a list of a subscription once no other one of it is under way, unless it is needless by then; then
// there is no end to call.
func (r *reading) beginSharedRead(ctx context.Context, path arm.ID, needless func() bool) (end func()) {
	for !needless() {
		landed, end := r.reader.Cache.beginRead(r.client.CacheScope(), path)
		if end != nil {
			return end
		}
		select {
		case <-landed:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// showsPowerState tells whether a list of virtual machines or managed clusters shows whether they run.
func showsPowerState(items []json.RawMessage) bool {
	for _, item := range items {
		var running struct {
			Properties struct {
				InstanceView json.RawMessage `json:"instanceView"`
				PowerState   json.RawMessage `json:"powerState"`
			} `json:"properties"`
		}
		if json.Unmarshal(item, &running) == nil && len(running.Properties.InstanceView)+len(running.Properties.PowerState) > 0 {
			return true
		}
	}
	return len(items) == 0
}

// subscriptionList is what is known of the list of a whole subscription.
type subscriptionList struct {
	// groups are the resource groups whose resources regular looks wanted, and when they did last.
	groups map[string]time.Time
	// skipUntil is how long it is not read, because it was refused or is longer than the groups are many; with so many groups it is all the
	// same, 0 for none.
	skipUntil    time.Time
	unlessGroups int
}

func (c *Cache) subscriptionListOf(scope string, path arm.ID) *subscriptionList {
	key := cacheKey(scope, path)
	if c.subscriptionLists[key] == nil {
		c.subscriptionLists[key] = &subscriptionList{groups: map[string]time.Time{}}
	}
	return c.subscriptionLists[key]
}

// countInterestedGroups notes that something in a group is wanted, and returns of how many groups that was so lately.
func (c *Cache) countInterestedGroups(scope string, path, group arm.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.subscriptionListOf(scope, path)
	b.groups[group.Key()] = c.clock.Now()
	return len(b.groups)
}

func (c *Cache) isListSkipped(scope string, path arm.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.subscriptionLists[cacheKey(scope, path)]
	return b != nil && c.clock.Now().Before(b.skipUntil) && (b.unlessGroups == 0 || len(b.groups) < b.unlessGroups)
}

// skipList notes that a list was not given: for long where that is no matter of chance. Without an error it has more than so many pages.
func (c *Cache) skipList(ctx context.Context, scope string, path arm.ID, pages int, brief time.Duration, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := interestPeriod
	var answer *arm.Error
	if err != nil && (!errors.As(err, &answer) || answer.Status < 400 || answer.Status >= 500 || answer.Status == http.StatusTooManyRequests) {
		wait = brief
	}
	b := c.subscriptionListOf(scope, path)
	b.skipUntil, b.unlessGroups = c.clock.Now().Add(wait), 0
	if err == nil {
		b.unlessGroups = 2 * pages
	}
}
