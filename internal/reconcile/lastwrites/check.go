package lastwrites

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// askAfter is how old a write must be before the API server is asked about an object. Caches lag by milliseconds, so a younger write
	// is on its way. Further questions follow at twice the age each: a cache lags for long if the API server is overloaded.
	askAfter = time.Second
	// minInterval and maxInterval bound the delay until a postponed reconciliation is tried again, which is a quarter of the age of the
	// write.
	minInterval = 50 * time.Millisecond
	maxInterval = 5 * time.Second
)

// state is an object as it is read: uid is "" if there is none.
type state struct {
	uid             types.UID
	resourceVersion string
	deleting        bool
}

// findStale finds an object whose last write the cache does not show: the object of the request, or one that an earlier reconciliation of it
// wrote. It returns the kind of the object, "" for none, and the delay until the next check. A check cannot wait for an event, because a
// changed status triggers no reconciliation.
func (c *Client) findStale(ctx context.Context, request Request, own client.Object) (kind string, interval time.Duration, err error) {
	for _, ref := range c.listWritten(request, own) {
		c.mu.Lock()
		written, ok := c.written[ref]
		c.mu.Unlock()
		if ok {
			stale, err := c.isStale(ctx, ref, written)
			if err != nil {
				return "", 0, err
			}
			if stale {
				return ref.kind.Kind, min(max(c.now().Sub(written.at)/4, minInterval), maxInterval), nil
			}
		}
		if !c.forget(request, ref, written) {
			return ref.kind.Kind, minInterval, nil
		}
	}
	return "", 0, nil
}

// listWritten returns the objects that a reconciliation of the request must see as they were written. own is an empty object of its kind.
func (c *Client) listWritten(request Request, own client.Object) (refs []objectRef) {
	ref, ok := c.refOf(own)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ref.key = request.ObjectKey; ok {
		if _, written := c.written[ref]; written {
			refs = append(refs, ref)
		}
	}
	for written := range c.writtenBy[request] {
		if written != ref {
			refs = append(refs, written)
		}
	}
	return refs
}

// forget drops an object whose last write the cache shows. It returns false if another controller has written the object since.
func (c *Client) forget(request Request, ref objectRef, shown write) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, written := c.written[ref]; written && last != shown {
		return false
	}
	delete(c.written, ref)
	if refs := c.writtenBy[request]; refs != nil {
		if delete(refs, ref); len(refs) == 0 {
			delete(c.writtenBy, request)
		}
	}
	return true
}

// isStale reports whether the cache does not show the last write of an object yet. It asks the API server in two cases. The answer to the
// write did not show whether it was carried out. Or the write is older than askAfter: after the API server was restored from a backup, no
// cache will ever show it, because resource versions are below the recorded one. The same holds for an object that others deleted.
func (c *Client) isStale(ctx context.Context, ref objectRef, written write) (bool, error) {
	object, err := c.Scheme().New(ref.kind)
	if err != nil {
		return false, err
	}
	cached, err := c.read(ctx, ref.key, object.(client.Object), client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", ref.kind.Kind, ref.key, err)
	}
	if written.isShownBy(cached) {
		return false, nil
	}
	if c.now().Before(written.askAt) {
		return true, nil
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(ref.kind)
	current, err := c.read(ctx, ref.key, stored)
	if err != nil {
		return false, fmt.Errorf("read %s %s past the cache: %w", ref.kind.Kind, ref.key, err)
	}
	if current == cached {
		return false, nil
	}
	c.postpone(ref, written, current, cached.uid)
	return true, nil
}

// postpone remembers when to ask the API server again, and its state in place of a write that no cache will show. cached is the UID of the
// object that the cache has.
func (c *Client) postpone(ref objectRef, written write, current state, cached types.UID) {
	known := written
	switch {
	case current.uid == "":
		known = write{uid: cached, removed: true, at: written.at}
	case !written.isShownBy(current):
		known = write{uid: current.uid, resourceVersion: current.resourceVersion, at: written.at}
	}
	now := c.now()
	known.askAt = now.Add(max(now.Sub(written.at), askAfter))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.written[ref] == written {
		c.written[ref] = known
	}
}

// read returns the state of an object.
func (c *Client) read(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) (state, error) {
	if err := c.Client.Get(ctx, key, into, options...); err != nil {
		return state{}, client.IgnoreNotFound(err)
	}
	return state{into.GetUID(), into.GetResourceVersion(), !into.GetDeletionTimestamp().IsZero()}, nil
}

// isShownBy reports whether a cached state is that of the write or a later one.
func (w write) isShownBy(cached state) bool {
	switch {
	case w.isUnsure:
		return false
	case cached.uid == "":
		return w.deleted || w.removed
	case cached.uid != w.uid:
		return true
	case w.removed:
		return false
	case w.deleted:
		return cached.deleting
	}
	return !isOlder(cached.resourceVersion, w.resourceVersion)
}
