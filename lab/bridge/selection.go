package bridge

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// selection is what a list or watch asks for beyond the in-memory server's abilities: selection by
// name (kubectl wait, kubectl get -w NAME), and events of selected objects only.
type selection struct {
	fields fields.Selector
	labels labels.Selector
	// bookmarks says whether the client wants bookmark events.
	bookmarks bool
	// table is the resource to print in rows, or empty.
	table string
}

// selects returns the selection of a request the in-memory server would not honour; false for all
// others, which are passed on unchanged.
func selects(r *http.Request) (selection, bool) {
	q := r.URL.Query()
	if r.Method != http.MethodGet {
		return selection{}, false
	}
	f, err := fields.ParseSelector(q.Get("fieldSelector"))
	if err != nil {
		return selection{}, false
	}
	l, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		return selection{}, false
	}
	for _, requirement := range f.Requirements() {
		if requirement.Field != "metadata.name" && requirement.Field != "metadata.namespace" {
			return selection{}, false
		}
	}
	s := selection{fields: f, labels: l, bookmarks: q.Get("allowWatchBookmarks") == "true" || q.Get("allowWatchBookmarks") == "1"}
	if wantsTable(r) {
		s.table = tablePath.FindStringSubmatch(r.URL.Path)[2]
	}
	if isWatch(r) {
		return s, !s.bookmarks || s.table != "" || !f.Empty() || !l.Empty()
	}
	return s, s.table != "" || !f.Empty()
}

func isWatch(r *http.Request) bool { return strings.EqualFold(r.URL.Query().Get("watch"), "true") }

func (s selection) matches(o client.Object) bool {
	return s.labels.Matches(labels.Set(o.GetLabels())) &&
		s.fields.Matches(fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()})
}

// serveSelection asks the in-memory server for everything and passes on what is selected.
func serveSelection(api http.Handler, s selection, rw http.ResponseWriter, r *http.Request) {
	all := r.Clone(r.Context())
	q := all.URL.Query()
	q.Del("fieldSelector")
	if isWatch(r) {
		q.Del("labelSelector")
	}
	all.URL.RawQuery = q.Encode()
	if isWatch(r) {
		s.serveWatch(api, rw, all)
		return
	}
	answer := &buffered{header: http.Header{}, code: http.StatusOK}
	api.ServeHTTP(answer, all)
	var list unstructured.UnstructuredList
	if answer.code != http.StatusOK || json.Unmarshal(answer.body.Bytes(), &list) != nil {
		rw.Header().Set("Content-Type", answer.header.Get("Content-Type"))
		rw.WriteHeader(answer.code)
		_, _ = rw.Write(answer.body.Bytes())
		return
	}
	kept := list.Items[:0]
	for _, o := range list.Items {
		if s.matches(&o) {
			kept = append(kept, o)
		}
	}
	list.Items = kept
	writeJSON(rw, http.StatusOK, &list)
}

// serveWatch filters a watch's stream of events. It blocks until the watch ends.
func (s selection) serveWatch(api http.Handler, rw http.ResponseWriter, r *http.Request) {
	reader, writer := io.Pipe()
	answer := &streamed{header: http.Header{}, writer: writer, started: make(chan int, 1)}
	go func() {
		api.ServeHTTP(answer, r)
		answer.WriteHeader(http.StatusOK)
		writer.Close()
	}()
	defer reader.Close()
	code := <-answer.started
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	flusher := http.NewResponseController(rw)
	_ = flusher.Flush()
	if code != http.StatusOK {
		_, _ = io.Copy(rw, reader)
		return
	}
	in, out := json.NewDecoder(reader), json.NewEncoder(rw)
	for {
		var event struct {
			Type   string                     `json:"type"`
			Object *unstructured.Unstructured `json:"object"`
		}
		if in.Decode(&event) != nil || event.Object == nil {
			return
		}
		passed := watchEvent{Type: event.Type, Object: event.Object}
		switch {
		case event.Type == "BOOKMARK" && !s.bookmarks, event.Type != "BOOKMARK" && !s.matches(event.Object):
			continue
		case event.Type != "BOOKMARK" && s.table != "":
			passed.Object = tableEvent(s.table, event.Object)
		}
		if out.Encode(passed) != nil || flusher.Flush() != nil {
			return
		}
	}
}

type watchEvent struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// buffered keeps an answer for later.
type buffered struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (b *buffered) Header() http.Header         { return b.header }
func (b *buffered) WriteHeader(code int)        { b.code = code }
func (b *buffered) Write(p []byte) (int, error) { return b.body.Write(p) }

// streamed hands an answer's body to a pipe as it comes.
type streamed struct {
	header  http.Header
	writer  *io.PipeWriter
	started chan int
	begun   bool
}

func (s *streamed) Header() http.Header { return s.header }
func (s *streamed) Flush()              {}

func (s *streamed) WriteHeader(code int) {
	if !s.begun {
		s.begun = true
		s.started <- code
	}
}

func (s *streamed) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.writer.Write(p)
}

var _ http.Flusher = &streamed{}
