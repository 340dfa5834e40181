package kubeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	inmemorycache "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchTime is how long a watch lasts whose client names no time.
const watchTime = 30 * time.Minute

// watcher is one watch: its scope and the objects that its client knows.
type watcher struct {
	*call
	selection selection
	table     bool
	known     map[client.ObjectKey]bool
	out       *json.Encoder
	flush     func() error
}

// serveWatch sends what happens to the selected objects. It blocks until the client goes, or until its time is over.
//
// A watch without resourceVersion, with version 0 or with sendInitialEvents begins with all objects; any other one with those that have
// changed since. https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
func (c *call) serveWatch(rw http.ResponseWriter) error {
	s, err := readSelection(c.request)
	if err != nil {
		return err
	}
	q := c.request.URL.Query()
	limit := watchTime
	if seconds, err := strconv.Atoi(q.Get("timeoutSeconds")); err == nil && seconds > 0 {
		limit = min(limit, time.Duration(seconds)*time.Second)
	}
	initial := q.Get("sendInitialEvents") == "true"
	since := versionOf(q.Get("resourceVersion"))

	informer, err := c.api.manager.GetCache().GetInformerForKind(c.request.Context(), c.resource.groupVersionKind())
	if err != nil {
		return err
	}
	feed := &feed{group: c.cluster.Group, filled: make(chan struct{}, 1)}
	if err := informer.AddEventHandler(feed); err != nil {
		return err
	}
	defer func() { _ = informer.RemoveEventHandler(feed) }()
	objects, version, err := c.readAll()
	if err != nil {
		return err
	}
	current := versionOf(version)
	if since != 0 && !initial && (since > current || since < c.api.deletions.latestVersion(c.cluster.Group, c.resource.groupVersionKind())) {
		return apierrors.NewResourceExpired("too old resource version: list again")
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(http.StatusOK)
	w := &watcher{
		call: c, selection: s, table: wantsTable(c.request), known: map[client.ObjectKey]bool{},
		out: json.NewEncoder(rw), flush: http.NewResponseController(rw).Flush,
	}
	slices.SortFunc(objects, func(x, y client.Object) int {
		return cmp.Compare(versionOf(x.GetResourceVersion()), versionOf(y.GetResourceVersion()))
	})
	for _, o := range objects {
		switch {
		case initial || since == 0:
			err = w.sendChange(change{object: o})
		case versionOf(o.GetResourceVersion()) > since:
			w.known[client.ObjectKeyFromObject(o)] = o.GetGeneration() > 1
			err = w.sendChange(change{object: o})
		default:
			w.known[client.ObjectKeyFromObject(o)] = s.matchesObject(o)
		}
		if err != nil {
			return nil // the client has gone
		}
	}
	if initial && w.sendBookmark(version) != nil || w.flush() != nil {
		return nil
	}
	w.followFeed(feed, current, limit)
	return nil
}

// followFeed passes on changes after a version until the client goes or the time is over.
func (w *watcher) followFeed(f *feed, after uint64, limit time.Duration) {
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		select {
		case <-w.request.Context().Done():
			return
		case <-end.C:
			return
		case <-f.filled:
		}
		for _, c := range f.takeChanges() {
			if !c.deleted && versionOf(c.object.GetResourceVersion()) <= after {
				continue // sent with those that were there
			}
			if w.sendChange(c) != nil {
				return
			}
		}
		if w.flush() != nil {
			return
		}
	}
}

// sendChange sends a change as the client sees it: an object that is selected no longer is deleted for it.
func (w *watcher) sendChange(c change) error {
	if w.key.Namespace != "" && c.object.GetNamespace() != w.key.Namespace {
		return nil
	}
	key := client.ObjectKeyFromObject(c.object)
	known, selected := w.known[key], !c.deleted && w.selection.matchesObject(c.object)
	var kind watch.EventType
	switch {
	case selected && known:
		kind = watch.Modified
	case selected:
		kind = watch.Added
	case known:
		kind = watch.Deleted
	default:
		return nil
	}
	w.known[key] = selected
	var shown any = c.object
	if w.table {
		table := newTable(w.resource)
		table.ResourceVersion = c.object.GetResourceVersion()
		table.Rows = []metav1.TableRow{tableRow(c.object)}
		shown = table
	}
	return w.out.Encode(watchEvent{Type: kind, Object: shown})
}

// sendBookmark tells the client that it has seen all objects that existed.
func (w *watcher) sendBookmark(version string) error {
	mark := &unstructured.Unstructured{}
	mark.SetGroupVersionKind(w.resource.groupVersionKind())
	mark.SetResourceVersion(version)
	mark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return w.out.Encode(watchEvent{Type: watch.Bookmark, Object: mark})
}

type watchEvent struct {
	Type   watch.EventType `json:"type"`
	Object any             `json:"object"`
}

// change is one event of the in-memory cache.
type change struct {
	object  client.Object
	deleted bool
}

// feed collects the changes of a cluster's objects of one kind. The cache calls it with locks held, so it never blocks.
type feed struct {
	group  string
	filled chan struct{}

	mu      sync.Mutex
	changes []change
}

var _ inmemorycache.InformEventHandler = &feed{}

func (f *feed) OnCreate(group string, o client.Object)    { f.addChange(group, o, false) }
func (f *feed) OnUpdate(group string, _, o client.Object) { f.addChange(group, o, hasEnded(o)) }
func (f *feed) OnGeneric(string, client.Object)           {}

// OnDelete is called when an object gets its deletion timestamp. With finalizers it stays.
func (f *feed) OnDelete(group string, o client.Object) {
	f.addChange(group, o, len(o.GetFinalizers()) == 0)
}

// hasEnded is true for an object that waited for its last finalizer: the cache is silent when it goes.
func hasEnded(o client.Object) bool {
	return o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0
}

func (f *feed) addChange(group string, o client.Object, deleted bool) {
	if group != f.group {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, change{o.DeepCopyObject().(client.Object), deleted})
	select {
	case f.filled <- struct{}{}:
	default:
	}
}

func (f *feed) takeChanges() []change {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.changes
	f.changes = nil
	return out
}

// deletions remembers at which version the last object of each kind was deleted: a watch from before would never hear of it.
type deletions struct {
	mu   sync.Mutex
	last map[string]map[schema.GroupVersionKind]uint64
}

// followAll begins to listen to deletions of all kinds.
func (d *deletions) followAll(cache inmemorycache.Cache) error {
	for _, r := range resources {
		informer, err := cache.GetInformerForKind(context.Background(), r.groupVersionKind())
		if err != nil {
			return err
		}
		if err := informer.AddEventHandler(&deletionHandler{deletions: d, kind: r.groupVersionKind()}); err != nil {
			return err
		}
	}
	return nil
}

func (d *deletions) latestVersion(group string, kind schema.GroupVersionKind) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last[group][kind]
}

func (d *deletions) forgetGroup(group string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.last, group)
}

// deletionHandler tells deletions of objects of one kind.
type deletionHandler struct {
	deletions *deletions
	kind      schema.GroupVersionKind
}

func (h *deletionHandler) OnCreate(string, client.Object)  {}
func (h *deletionHandler) OnGeneric(string, client.Object) {}

func (h *deletionHandler) OnUpdate(group string, _, o client.Object) {
	if hasEnded(o) {
		h.noteDeletion(group, o)
	}
}

func (h *deletionHandler) OnDelete(group string, o client.Object) {
	if len(o.GetFinalizers()) == 0 {
		h.noteDeletion(group, o)
	}
}

func (h *deletionHandler) noteDeletion(group string, o client.Object) {
	h.deletions.mu.Lock()
	defer h.deletions.mu.Unlock()
	if h.deletions.last[group] == nil {
		h.deletions.last[group] = map[schema.GroupVersionKind]uint64{}
	}
	h.deletions.last[group][h.kind] = versionOf(o.GetResourceVersion())
}
