package server

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RequestRecord is one answered request. It never holds bodies, tokens or signatures.
type RequestRecord struct {
	Time time.Time `json:"time"`
	// Answered is when the simulator began to send the answer. Resources that the request changed immediately have an earlier time in the log of
	// changes. If the simulator cut the connection instead, it is the time of the cut.
	Answered   time.Time `json:"answered"`
	Method     string    `json:"method"`
	URL        string    `json:"url"`    // path and the harmless part of the query
	Status     int       `json:"status"` // 0: the connection was cut
	DurationMs int64     `json:"durationMs"`
	// RetryAfterMs is the wait time that the answer asks for, in milliseconds; 0 if none.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
	// Unread means that the client closed its connection before the simulator answered.
	Unread    bool   `json:"unread,omitempty"`
	Principal string `json:"principal,omitempty"` // client ID
	// TokenID is the claim uti of the token. Each process gets tokens of its own, so it tells the requests of two managers apart.
	TokenID     string `json:"tokenID,omitempty"`
	UserAgent   string `json:"userAgent,omitempty"`
	RequestID   string `json:"requestID,omitempty"`
	OperationID string `json:"operationID,omitempty"` // of the operation the request started or asked for
	// Repeats is set for a PUT whose body is that of the last PUT of the resource since the simulator was started.
	Repeats bool     `json:"repeats,omitempty"`
	Actions []string `json:"actions,omitempty"` // actions that a role must allow for the request: its own, those on resources that the body refers to, and reading the operation that it starts
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
	// bodies has the hash of the last body that was PUT to each path, in lower case.
	bodies map[string][sha256.Size]byte
}

func newRequestLog(out io.Writer) *requestLog {
	return &requestLog{out: out, bodies: map[string][sha256.Size]byte{}}
}

// addRecord adds a request, and the body of a PUT, of which only a hash is kept. A request that was refused before its body was read has none.
func (l *requestLog) addRecord(r RequestRecord, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) >= keptRequests {
		l.records = append([]RequestRecord(nil), l.records[keptRequests/2:]...)
		clear(l.bodies)
	}
	if r.Method == http.MethodPut && body != nil {
		path, _, _ := strings.Cut(r.URL, "?")
		path = strings.ToLower(path)
		hash := sha256.Sum256(body)
		last, known := l.bodies[path]
		r.Repeats = known && last == hash
		l.bodies[path] = hash
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
