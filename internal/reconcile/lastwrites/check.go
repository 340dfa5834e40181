package lastwrites

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// askAfter is how old a write must be before the API server is asked about an object. Caches lag by milliseconds, so a younger write is
// on its way.
const askAfter = time.Second

// state is an object as it is read: uid is "" if there is none.
type state struct {
	uid             types.UID
	resourceVersion string
	deleting        bool
}

// findStale returns the kind of an object whose last write the cache does not show: the object of the request, or one that an earlier
// reconciliation of it wrote. It returns "" if there is none.
func (c *Client) findStale(ctx context.Context, request Request, own client.Object) (kind string, err error) {
	for _, ref := range c.listWritten(request, own) {
		stale, err := c.isStale(ctx, ref)
		if err != nil {
			return "", err
		}
		if stale {
			return ref.kind.Kind, nil
		}
		c.forget(request, ref)
	}
	return "", nil
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

// forget drops an object whose last write the cache shows.
func (c *Client) forget(request Request, ref objectRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.written, ref)
	if refs := c.writtenBy[request]; refs != nil {
		if delete(refs, ref); len(refs) == 0 {
			delete(c.writtenBy, request)
		}
	}
}

// isStale reports whether the cache does not show the last write of an object yet. It asks the API server in two cases. The answer to the
// write did not show whether it was carried out. Or the write is older than askAfter: after the API server was restored from a backup, no
// cache will ever show it, because resource versions are below the recorded one. The same holds for an object that others deleted.
func (c *Client) isStale(ctx context.Context, ref objectRef) (bool, error) {
	c.mu.Lock()
	written, ok := c.written[ref]
	c.mu.Unlock()
	if !ok {
		return false, nil
	}
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
	if !written.isUnsure && c.now().Sub(written.at) < askAfter {
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
	if written.isUnsure {
		c.replace(ref, written, current, cached.uid)
	}
	return true, nil
}

// replace remembers a state of the API server instead of an unsure write, so that the cache alone shows when it has it. cached is the UID of
// the object that the cache has.
func (c *Client) replace(ref objectRef, unsure write, current state, cached types.UID) {
	known := write{uid: current.uid, resourceVersion: current.resourceVersion, at: c.now()}
	if current.uid == "" {
		known.uid, known.removed = cached, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.written[ref] == unsure {
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
