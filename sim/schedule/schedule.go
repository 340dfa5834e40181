// Package schedule computes from the requests to Azure and its operations which others each write waited for, and
// draws the result.
//
// Its input is visible to any client: when a write was sent, when the operation that it began had ended, and which
// resources refer to which. A write waited for another one if that had ended before, and its resource is the parent
// of this one's, or is named by it, or is part of the same document, which Azure changes one write at a time.
package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Request is one line of the simulator's request log.
type Request struct {
	Time        time.Time `json:"time"`
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	Status      int       `json:"status"`
	DurationMs  int64     `json:"durationMs"`
	UserAgent   string    `json:"userAgent"`
	OperationID string    `json:"operationID"`
}

// ID returns the path of the request, lower case.
func (r Request) ID() string {
	path, _, _ := strings.Cut(r.URL, "?")
	return strings.TrimRight(strings.ToLower(path), "/")
}

// IsRead reports whether the request changes nothing.
func (r Request) IsRead() bool {
	id := r.ID()
	return r.Method == "GET" || r.Method == "HEAD" || r.Method == "POST" && IsListAction(id[strings.LastIndex(id, "/")+1:])
}

// IsListAction reports whether an action changes nothing: Azure has lists of secrets, such as an AKS cluster's credentials,
// for POST only.
func IsListAction(action string) bool { return strings.HasPrefix(action, "list") }

// IsAcceptedWrite reports whether the request is a write that Azure accepted.
func (r Request) IsAcceptedWrite() bool { return !r.IsRead() && r.Status > 0 && r.Status < 300 }

// Operation is one long-running operation.
type Operation struct {
	ID         string    `json:"id"`
	ResourceID string    `json:"resourceID"`
	Verb       string    `json:"verb"`
	Started    time.Time `json:"started"`
	// Ended is zero while it runs.
	Ended  time.Time `json:"ended"`
	Status string    `json:"status"`
}

// Write is one write that Azure accepted.
type Write struct {
	// ID is the resource, lower case.
	ID string
	// Method is PUT, PATCH, POST or DELETE.
	Method string
	// Status is HTTP's, or that of the long-running operation.
	Status string
	// Start is the time of the request. End is the time of the answer, or of the end of its operation; while the
	// operation runs it is the time of the answer.
	Start, End time.Time
	// Running is set while its operation has not ended.
	Running bool
	// After is the write whose end this one waited for: of the resources that this one needs, the last one that ended
	// before this one began. Nil when it needed none.
	After *Write

	// needs are all writes that this one came after.
	needs []*Write
}

// Duration returns the time that Azure took.
func (w *Write) Duration() time.Duration { return w.End.Sub(w.Start) }

// BuildSchedule returns the accepted writes among the requests, by their start. References has the resources that a resource
// names, by lower-case ID.
func BuildSchedule(requests []Request, operations []Operation, references map[string][]string) []*Write {
	byID := map[string]Operation{}
	for _, operation := range operations {
		byID[operation.ID] = operation
	}
	var writes []*Write
	for _, r := range requests {
		if r.IsAcceptedWrite() {
			writes = append(writes, newWrite(r, byID))
		}
	}
	slices.SortStableFunc(writes, func(a, b *Write) int { return a.Start.Compare(b.Start) })
	linkWrites(writes, references)
	return writes
}

func newWrite(r Request, byID map[string]Operation) *Write {
	w := &Write{ID: r.ID(), Method: r.Method, Status: fmt.Sprint(r.Status), Start: r.Time,
		End: r.Time.Add(time.Duration(r.DurationMs) * time.Millisecond)}
	if operation, ok := byID[r.OperationID]; ok {
		w.Status, w.Running = operation.Status, operation.Ended.IsZero()
		if operation.Ended.After(w.End) {
			w.End = operation.Ended
		}
	}
	return w
}

// linkWrites finds the writes that each write waited for.
func linkWrites(writes []*Write, references map[string][]string) {
	written := map[string]bool{}
	for _, w := range writes {
		written[w.ID] = true
	}
	for _, w := range writes {
		for _, other := range writes {
			if other.Start.After(w.Start) {
				break
			}
			if other == w || other.Method != "PUT" || w.Method != "PUT" || other.Running || other.End.After(w.Start) ||
				!needsWrite(w.ID, other.ID, references[w.ID], written) {
				continue
			}
			w.needs = append(w.needs, other)
			if w.After == nil || other.End.After(w.After.End) {
				w.After = other
			}
		}
	}
}

// needsWrite reports whether a write to one resource comes after that of another one: because the other is its parent,
// because it refers to the other, or because Azure takes one write at a time to the document that both are parts of.
// A reference to a part that has no write of its own is one to the resource that the part was written with.
func needsWrite(id, other string, references []string, written map[string]bool) bool {
	if id == other || strings.HasPrefix(id, other+"/") || documentOf(id) != "" && documentOf(id) == documentOf(other) {
		return true
	}
	return slices.ContainsFunc(references, func(r string) bool {
		return r == other || !written[r] && strings.HasPrefix(r, other+"/")
	})
}

// documents are the types whose children are parts of one document.
var documents = []string{"/virtualnetworks/", "/loadbalancers/", "/networksecuritygroups/", "/routetables/"}

func documentOf(id string) string {
	for _, parent := range documents {
		if head, tail, ok := strings.Cut(id, parent); ok {
			name, rest, _ := strings.Cut(tail, "/")
			if rest != "" {
				return head + parent + name
			}
		}
	}
	return ""
}

// CriticalPath returns the chain of writes with the longest sum of durations, in order, and that sum. Only PUTs can be in it.
func CriticalPath(writes []*Write) ([]*Write, time.Duration) {
	var ended []*Write
	for _, w := range writes {
		if w.Method == "PUT" && !w.Running {
			ended = append(ended, w)
		}
	}
	slices.SortStableFunc(ended, func(a, b *Write) int { return a.End.Compare(b.End) })
	longest := map[*Write]time.Duration{}
	before := map[*Write]*Write{}
	var last *Write
	for _, w := range ended {
		for _, need := range w.needs {
			if longest[need] > longest[before[w]] {
				before[w] = need
			}
		}
		longest[w] = w.Duration() + longest[before[w]]
		if longest[w] > longest[last] {
			last = w
		}
	}
	var path []*Write
	for w := last; w != nil; w = before[w] {
		path = append(path, w)
	}
	slices.Reverse(path)
	return path, longest[last]
}

// ShortenID returns a resource ID without subscription and provider namespace: type/name, or resourceGroups/name for a resource group.
func ShortenID(id string) string {
	_, rest, ok := strings.Cut(id, "/resourcegroups/")
	if !ok {
		return id
	}
	group, rest, ok := strings.Cut(rest, "/providers/")
	if !ok {
		return "resourceGroups/" + group
	}
	_, rest, _ = strings.Cut(rest, "/")
	return rest
}
