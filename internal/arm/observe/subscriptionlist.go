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

// subscriptionListPath returns the path of the list of all resources of id's type in its subscription, "" if there is none.
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

// readSubscriptionLists reads lists of the whole subscription for a sync, if several resource groups need them and the list has no more
// pages than there are groups. It returns the IDs that it did not find: such a list may lack resources that exist.
func (r *readCall) readSubscriptionLists(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
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

// readSubscriptionList reads one list, or waits for another reader of it.
func (r *readCall) readSubscriptionList(ctx context.Context, path arm.ID, ids []arm.ID, pages int) (missing []arm.ID) {
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
	start := cache.NewObservation(Observed{}, false)
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
		found := start
		found.ID, found.Exists, found.Body, found.ETag = arm.ID(head.ID), true, withoutBackReferences(row, item), head.ETag
		found.listed = true
		cache.StoreObservation(scope, found)
	}
	return r.takeCached(ids, start.At)
}

// beginSharedRead begins the read of a list of a subscription after other reads of it have ended. It returns nil if the read has become
// needless by then.
func (r *readCall) beginSharedRead(ctx context.Context, path arm.ID, needless func() bool) (end func()) {
	for !needless() {
		inFlight, end := r.reader.Cache.beginRead(r.client.CacheScope(), path)
		if end != nil {
			return func() { end(nil) }
		}
		if inFlight.wait(ctx) != nil {
			return nil
		}
	}
	return nil
}

// showsPowerState reports whether a list of virtual machines or managed clusters has their power state.
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

// subscriptionList is the state of the list of a whole subscription.
type subscriptionList struct {
	// groups holds the resource groups that syncs needed, with the time of the last one.
	groups map[string]time.Time
	// skipUntil is how long the list is not read, because it was refused or has more pages than there are groups. From unlessGroups
	// groups on it is read all the same; 0 means never.
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

// countInterestedGroups records that a resource of a group is needed, and returns the number of groups that recently did.
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

// skipList records that a list was refused or, without an error, has more than pages pages. It is skipped briefly for transient errors
// and for long otherwise.
func (c *Cache) skipList(ctx context.Context, scope string, path arm.ID, pages int, transientWait time.Duration, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := interestPeriod
	var answer *arm.Error
	if err != nil && (!errors.As(err, &answer) || answer.Status < 400 || answer.Status >= 500 ||
		answer.Status == http.StatusTooManyRequests) {
		wait = transientWait
	}
	b := c.subscriptionListOf(scope, path)
	b.skipUntil, b.unlessGroups = c.clock.Now().Add(wait), 0
	if err == nil {
		b.unlessGroups = 2 * pages
	}
}
