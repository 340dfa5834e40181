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

// widePath is the list of all resources of the type of id in its subscription, "" for what has none.
func widePath(id arm.ID) arm.ID {
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

// wide reads for a regular look what lists of the whole subscription show, where several resource groups want to know and the list has
// no more pages than they are. It returns the IDs that it does not know of: what such a list leaves out may be there all the same.
func (r *reading) wide(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	if !r.regular {
		return ids
	}
	cache, scope := r.reader.Cache, r.client.Scope()
	lists, pages := map[arm.ID][]arm.ID{}, map[arm.ID]int{}
	for _, id := range ids {
		path := widePath(id)
		if path != "" {
			pages[path] = cache.spread(scope, path, groupOf(id))
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
			rest := r.readWide(ctx, path, wanted, pages[path])
			for range len(wanted) - len(rest) {
				r.reader.looked(Miss)
			}
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, rest...)
		})
	}
	wait.Wait()
	return missing
}

// readWide reads one list, or takes what another reader of it is about to get.
func (r *reading) readWide(ctx context.Context, path arm.ID, ids []arm.ID, pages int) (missing []arm.ID) {
	cache, scope := r.reader.Cache, r.client.Scope()
	row, err := types.ForID(ids[0])
	if err != nil {
		return ids
	}
	end := r.enterWide(ctx, path, func() bool {
		ids = r.known(ids, cache.clock.Now().Add(-r.maxAge))
		return len(ids) == 0 || cache.refused(scope, path)
	})
	if end == nil {
		return ids
	}
	defer end()
	begun := cache.At(Observed{}, false)
	items, complete, err := r.client.ListUpTo(ctx, string(path), row.APIVersion, row.ListQuery, pages)
	if err != nil || !complete || row.VolatileState && !alive(items) {
		cache.refuse(ctx, scope, path, pages, r.maxAge, err)
		return ids
	}
	for _, item := range items {
		head := HeadOf(item)
		if head.ID == "" {
			continue
		}
		found := begun
		found.ID, found.Exists, found.Body, found.ETag = arm.ID(head.ID), true, shown(row, item), head.ETag
		cache.Keep(scope, found)
	}
	return r.known(ids, begun.At)
}

// enterWide begins the read of a list of a subscription once no other one of it is under way, unless it is needless by then; then
// there is no end to call.
func (r *reading) enterWide(ctx context.Context, path arm.ID, needless func() bool) (end func()) {
	for !needless() {
		landed, end := r.reader.Cache.takeOff(r.client.Scope(), path)
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

// alive tells whether a list of virtual machines or managed clusters shows whether they run.
func alive(items []json.RawMessage) bool {
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

// breadth is what is known of the list of a whole subscription.
type breadth struct {
	// groups are the resource groups whose resources regular looks wanted, and when they did last.
	groups map[string]time.Time
	// until is how long it is not read, because it was refused or is longer than the groups are many; with so many groups it is all the
	// same, 0 for none.
	until  time.Time
	unless int
}

func (c *Cache) breadth(scope string, path arm.ID) *breadth {
	key := cacheKey(scope, path)
	if c.breadths[key] == nil {
		c.breadths[key] = &breadth{groups: map[string]time.Time{}}
	}
	return c.breadths[key]
}

// spread notes that something in a group is wanted, and returns of how many groups that was so lately.
func (c *Cache) spread(scope string, path, group arm.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.breadth(scope, path)
	b.groups[group.Key()] = c.clock.Now()
	return len(b.groups)
}

func (c *Cache) refused(scope string, path arm.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.breadths[cacheKey(scope, path)]
	return b != nil && c.clock.Now().Before(b.until) && (b.unless == 0 || len(b.groups) < b.unless)
}

// refuse notes that a list was not given: for long where that is no matter of chance. Without an error it has more than so many pages.
func (c *Cache) refuse(ctx context.Context, scope string, path arm.ID, pages int, brief time.Duration, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := remembers
	var answer *arm.Error
	if err != nil && (!errors.As(err, &answer) || answer.Status < 400 || answer.Status >= 500 || answer.Status == http.StatusTooManyRequests) {
		wait = brief
	}
	b := c.breadth(scope, path)
	b.until, b.unless = c.clock.Now().Add(wait), 0
	if err == nil {
		b.unless = 2 * pages
	}
}
