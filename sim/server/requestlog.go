package server

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// RequestRecord is one answered request. It never holds bodies, tokens or signatures.
type RequestRecord struct {
	Time       time.Time `json:"time"`
	Method     string    `json:"method"`
	URL        string    `json:"url"`    // path and the harmless part of the query
	Status     int       `json:"status"` // 0: the connection was cut
	DurationMs int64     `json:"durationMs"`
	// RetryAfterMs is the wait time that the answer asks for, in milliseconds; 0 if none.
	RetryAfterMs int64    `json:"retryAfterMs,omitempty"`
	Principal    string   `json:"principal,omitempty"` // client ID
	UserAgent    string   `json:"userAgent,omitempty"`
	RequestID    string   `json:"requestID,omitempty"`
	OperationID  string   `json:"operationID,omitempty"` // of the operation the request started or asked for
	Actions      []string `json:"actions,omitempty"`     // actions that a role must allow for the request: its own, those on resources that the body refers to, and reading the operation that it starts
}

// retryAfterOf returns the wait time of an answer in milliseconds, 0 if it has none.
func retryAfterOf(h http.Header) int64 {
	if ms, err := strconv.ParseInt(h.Get("retry-after-ms"), 10, 64); err == nil {
		return ms
	}
	seconds, _ := strconv.ParseInt(h.Get("Retry-After"), 10, 64)
	return seconds * 1000
}

const keptRequests = 200000

type requestLog struct {
	mu      sync.Mutex
	out     io.Writer
	records []RequestRecord
}

func newRequestLog(out io.Writer) *requestLog { return &requestLog{out: out} }

func (l *requestLog) addRecord(r RequestRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) >= keptRequests {
		l.records = append([]RequestRecord(nil), l.records[keptRequests/2:]...)
	}
	l.records = append(l.records, r)
	if l.out != nil {
		if raw, err := json.Marshal(r); err == nil {
			// A log that cannot be written must not stop the simulator; the records in memory stay.
			_, _ = l.out.Write(append(raw, '\n'))
		}
	}
}

// allRecords returns the records so far, to be read. They are not copied: tests ask again and again, and records do not change.
func (l *requestLog) allRecords() []RequestRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.records)
}

// loggedQuery are the query parameters that the log keeps, because they select the answer. Any other may be a
// signature or a secret.
var loggedQuery = []string{"api-version", "$filter", "$expand", "$top", "$skiptoken", "$select", "monitor", "forceDeletion", "skipShutdown",
	"format", "resource"}

func loggedURL(u *url.URL) string {
	q, kept := u.Query(), url.Values{}
	for _, k := range loggedQuery {
		if v := q.Get(k); v != "" {
			kept.Set(k, v)
		}
	}
	if len(kept) == 0 {
		return u.Path
	}
	out, err := url.QueryUnescape(kept.Encode())
	if err != nil {
		out = kept.Encode()
	}
	return u.Path + "?" + out
}
