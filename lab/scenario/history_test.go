package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// logs are what a lab has recorded of a story.
type logs struct {
	requests []request
	changes  []resourceChange
	// auditLogs has the one of each management cluster of the story.
	auditLogs []apiServerLog
	// stable are moments at which nothing was left to do for a cluster.
	stable []stableMoment
	// timeScale is the factor from Azure's durations to those of the lab.
	timeScale float64
}

// apiServerLog is what an API server has recorded.
type apiServerLog struct {
	entries []entry
	// unlogged are moments at which objects were changed directly in etcd, which the audit log does not show.
	unlogged map[audited][]time.Time
}

// history returns what the logs say, in the order of time.
func (l *logs) history(secrets ...string) *properties.History {
	// Of two steps at the same moment, the change comes first: it happened before the request that made it was answered.
	steps := slices.Concat(resourceSteps(l.changes), requestSteps(l.requests))
	for i, log := range l.auditLogs {
		// Management clusters can have objects of the same name.
		steps = append(steps, log.steps("cluster "+strconv.Itoa(i)+"/")...)
	}
	for _, each := range l.stable {
		steps = append(steps, properties.Step{At: each.at, Stable: true, StableGroup: each.cluster})
	}
	slices.SortStableFunc(steps, func(a, b properties.Step) int { return a.At.Compare(b.At) })
	for _, step := range steps {
		if r := step.Request; r != nil {
			r.Sent = sort.Search(len(steps), func(i int) bool { return steps[i].At.After(r.SentAt) })
			r.Begun = r.Sent
		}
	}
	return &properties.History{Steps: steps, Secrets: secrets, TimeScale: l.timeScale}
}

// requestSteps returns the requests of the provider's managers to Azure, each when Azure answered it. Each token is that of one manager. The log has
// no bodies: the text instead of one is the same for PUTs of the same body that follow one another.
func requestSteps(requests []request) (out []properties.Step) {
	bodies, managers := map[string]int{}, map[string]int{}
	for _, r := range requests {
		path, query, _ := strings.Cut(r.URL, "?")
		path = strings.ToLower(path)
		if r.Method == http.MethodPut && !r.Repeats {
			bodies[path]++
		}
		if !strings.Contains(r.UserAgent, "cluster-api-provider-azure") {
			continue
		}
		if _, known := managers[r.TokenID]; !known {
			managers[r.TokenID] = len(managers)
		}
		out = append(out, properties.Step{At: r.Answered, Request: &properties.Request{
			Manager: managers[r.TokenID], SentAt: r.Time, Method: r.Method, Path: path, Query: query, UserAgent: r.UserAgent,
			Body: "body " + strconv.Itoa(bodies[path]), Status: r.Status, Lost: r.Status == 0 || r.Unread,
			RetryAfter: time.Duration(r.RetryAfterMs) * time.Millisecond,
		}})
	}
	return out
}

func resourceSteps(changes []resourceChange) (out []properties.Step) {
	for _, change := range changes {
		out = append(out, properties.Step{At: change.Time, Resource: &properties.Resource{ID: change.ID, Body: change.Body}})
	}
	return out
}

// audited names an object in the audit log.
type audited struct{ resource, namespace, name string }

// state is an object after a write.
type state struct {
	version int
	kind    string
	object  map[string]any
	at      time.Time
}

// steps returns the states of Clusters and of the provider's objects, whoever wrote them, and the events of the provider's managers. Their namespaces
// have a prefix.
//
// A step has the time at which the API server received the request: what a manager saw before it sent the request had happened by then, and what
// it did with the answer happened later.
func (l *apiServerLog) steps(prefix string) (out []properties.Step) {
	last, unknown := map[audited]state{}, l.unknownWrites()
	for _, e := range inWrittenOrder(l.entries) {
		kind, _ := e.ResponseObject["kind"].(string)
		if kind == "Event" {
			if e.isByManager() {
				out = append(out, properties.Step{At: e.RequestReceivedTimestamp, Event: &properties.Event{
					Kind: kind, Name: e.ObjectRef.Name, Note: fmt.Sprint(e.ResponseObject)}})
			}
			continue
		}
		key := e.object()
		if e.Verb == "deletecollection" { // The answer does not have the objects.
			maps.DeleteFunc(last, func(of audited, _ state) bool { return of.resource == key.resource && of.namespace == key.namespace })
			continue
		}
		before := last[key]
		if slices.ContainsFunc(unknown[key], func(at time.Time) bool { return before.at.Before(at) && at.Before(e.RequestReceivedTimestamp) }) {
			before = state{}
		}
		after, known := e.stateAfter(before)
		if !known || after.version == before.version && after.object != nil {
			continue // The request has not changed the object.
		}
		step := properties.Object{Kind: after.kind, Namespace: prefix + key.namespace, Name: key.name}
		written := step
		written.ByManager, written.Before, written.After = e.isByManager(), before.object, after.object
		out = append(out, properties.Step{At: after.at, Object: &written})
		if isReleased(after.object) {
			gone := step
			gone.Before, after.object = after.object, nil
			out = append(out, properties.Step{At: after.at, Object: &gone})
		}
		last[key] = after
	}
	return out
}

// unknownWrites returns when objects were changed, or may have been, without a state in the log: directly in etcd, or by a write whose answer does not
// say whether it was stored. The API server answers with 504 if the client, for example a manager that ends, closes its connection.
func (l *apiServerLog) unknownWrites() map[audited][]time.Time {
	out := maps.Clone(l.unlogged)
	for _, e := range l.entries {
		if code := e.ResponseStatus.Code; e.isWrite() && (code >= 500 || code == http.StatusRequestTimeout) {
			if out == nil {
				out = map[audited][]time.Time{}
			}
			out[e.object()] = append(slices.Clip(out[e.object()]), e.RequestReceivedTimestamp)
		}
	}
	return out
}

func (e entry) isWrite() bool { return e.Verb != "get" && e.Verb != "list" && e.Verb != "watch" }

// object names the object of the request.
func (e entry) object() audited {
	return audited{e.ObjectRef.Resource, e.ObjectRef.Namespace, e.ObjectRef.Name}
}

// stateAfter returns the state of the object after a write. known is false if the answer does not have the object, and the state before is not
// known either.
func (e entry) stateAfter(before state) (after state, known bool) {
	kind, _ := e.ResponseObject["kind"].(string)
	after = state{version: e.version(), kind: kind, object: e.ResponseObject, at: e.RequestReceivedTimestamp}
	if after.at.Before(before.at) {
		after.at = before.at
	}
	switch kind {
	case "Status": // It is gone.
		after.kind, after.object = before.kind, nil
	case "PartialObjectMetadata": // The client, for example the garbage collector, asked for the metadata only.
		after.kind, after.object = before.kind, maps.Clone(before.object)
		if after.object != nil {
			after.object["metadata"] = e.ResponseObject["metadata"]
		}
	default:
		return after, true
	}
	return after, before.object != nil
}

// inWrittenOrder returns the successful writes in the order in which they took effect, by the versions of the objects. A deletion whose answer
// has no version comes after all writes that the log has before it.
func inWrittenOrder(entries []entry) []entry {
	type write struct {
		entry
		version int
	}
	var writes []write
	newest := 0
	for _, e := range entries {
		if e.ResponseObject == nil || e.ResponseStatus.Code >= 300 || strings.Contains(e.RequestURI, "dryRun=All") {
			continue
		}
		version := e.version()
		if version == 0 {
			version = newest
		}
		newest = max(newest, version)
		writes = append(writes, write{e, version})
	}
	slices.SortStableFunc(writes, func(a, b write) int { return cmp.Compare(a.version, b.version) })
	out := make([]entry, len(writes))
	for i, w := range writes {
		out[i] = w.entry
	}
	return out
}

// version returns the resource version of the object in the answer; 0 if it has none.
func (e entry) version() int {
	metadata, _ := e.ResponseObject["metadata"].(map[string]any)
	text, _ := metadata["resourceVersion"].(string)
	version, _ := strconv.Atoi(text)
	return version
}

// isReleased reports whether an object is being deleted and has no finalizer, so that it goes with this write.
func isReleased(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	finalizers, _ := metadata["finalizers"].([]any)
	return metadata["deletionTimestamp"] != nil && len(finalizers) == 0
}
