package server

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// views are answers that differ from the state: earlier answers, and resources that are not visible yet.
type views struct {
	mu sync.Mutex
	// kept are the last answers to GETs that a rule makes stale, by URL.
	kept map[string]kept
	// unseen is the time until which a resource answers 404, by its lower-case ID.
	unseen map[string]time.Time
}

// kept is an answer with the time that it was true.
type kept struct {
	at     time.Time
	status int
	header http.Header
	body   []byte
}

func (v *views) clearViews() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept, v.unseen = nil, nil
}

func (v *views) hideUntil(id string, until time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unseen == nil {
		v.unseen = map[string]time.Time{}
	}
	v.unseen[strings.ToLower(id)] = until
}

func (v *views) isHidden(id string, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return now.Before(v.unseen[strings.ToLower(id)])
}

func (v *views) lastAnswer(url string) (kept, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	answer, is := v.kept[url]
	return answer, is
}

func (v *views) keepAnswer(url string, answer kept) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept == nil {
		v.kept = map[string]kept{}
	}
	v.kept[url] = answer
}

// durationOr returns the duration that a rule gives in seconds, or the default.
func durationOr(given, otherwise float64) time.Duration {
	if given <= 0 {
		given = otherwise
	}
	return time.Duration(given * float64(time.Second))
}

// applyAnswerFault applies the rule to the answer. It returns true if the request has been answered already.
func (x *exchange) applyAnswerFault(rule fault.Rule) bool {
	switch rule.Kind {
	case fault.SlowBody, fault.Truncate:
		x.w = &halved{ResponseWriter: x.w, x: x, rule: rule}
	case fault.Stale:
		if x.r.Method != http.MethodGet {
			return false
		}
		url, now := x.r.URL.String(), x.s.opts.Clock.Now()
		last, is := x.s.views.lastAnswer(url)
		if !is || now.Sub(last.at) > durationOr(rule.Seconds, 60) {
			x.w = &keeper{ResponseWriter: x.w, keep: func(status int, header http.Header, raw []byte) {
				x.s.views.keepAnswer(url, kept{at: now, status: status, header: header.Clone(), body: raw})
			}}
			return false
		}
		for name, values := range last.header {
			x.w.Header()[name] = values
		}
		x.writeBody(last.status, last.body)
		return true
	}
	return false
}

// halved sends half of a body at once, and the other half late or never.
type halved struct {
	http.ResponseWriter
	x    *exchange
	rule fault.Rule
}

// Write implements http.ResponseWriter.
func (w *halved) Write(raw []byte) (int, error) {
	n, err := w.ResponseWriter.Write(raw[:len(raw)/2])
	if err != nil {
		return n, err
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	if w.rule.Kind == fault.Truncate {
		panic(http.ErrAbortHandler)
	}
	w.x.s.opts.Clock.Sleep(w.x.r.Context(), durationOr(w.rule.Seconds, 0))
	if w.x.r.Context().Err() != nil {
		return n, io.ErrClosedPipe
	}
	more, err := w.ResponseWriter.Write(raw[n:])
	return n + more, err
}

// keeper keeps an answer that it passes on.
type keeper struct {
	http.ResponseWriter
	status int
	keep   func(status int, header http.Header, body []byte)
}

// WriteHeader implements http.ResponseWriter.
func (w *keeper) WriteHeader(status int) {
	w.status = status
	w.keep(status, w.Header(), nil)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *keeper) Write(raw []byte) (int, error) {
	w.keep(w.status, w.Header(), raw)
	return w.ResponseWriter.Write(raw)
}
