package virtual

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// recording is the history of a scenario, for its properties. A nil one records nothing.
type recording struct {
	mu       sync.Mutex
	history  properties.History
	managers int
}

// RecordProperties begins a history of everything that managers do that start afterwards.
func (s *Scenario) RecordProperties(secrets ...string) {
	r := &recording{history: properties.History{Secrets: secrets}}
	s.recording, s.Kubernetes.recording = r, r
	if s.explorer != nil {
		s.explorer.recording = r
	}
	committed := s.Committed
	s.Committed = func(changes []server.Change) {
		for _, change := range changes {
			step := &properties.Resource{ID: change.ID}
			if change.Body != nil {
				step.Body, _ = s.decodeObject(change.Body).(map[string]any)
			}
			r.add(properties.Step{Resource: step})
		}
		if committed != nil {
			committed(changes)
		}
	}
	recorded := s.EventRecorded
	s.EventRecorded = func(e Event) {
		r.add(properties.Step{Event: &properties.Event{Kind: e.Kind, Name: e.Name, Reason: e.Reason, Note: e.Note}})
		if recorded != nil {
			recorded(e)
		}
	}
}

// MarkStable records that nothing is left to do.
func (s *Scenario) MarkStable() { s.recording.add(properties.Step{Stable: true}) }

// CheckProperties fails the test for each property that the history so far violates, and returns how often things went wrong.
func (s *Scenario) CheckProperties() map[string]int {
	s.T.Helper()
	s.recording.mu.Lock()
	history := s.recording.history
	s.recording.mu.Unlock()
	for _, violation := range properties.Check(&history) {
		s.T.Error(violation)
	}
	return properties.CountMet(&history)
}

// add adds a step.
func (r *recording) add(step properties.Step) {
	if r == nil {
		return
	}
	step.At = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Steps = append(r.history.Steps, step)
}

// length returns how many steps there are.
func (r *recording) length() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.history.Steps)
}

// numberManager returns the number of a manager that starts.
func (r *recording) numberManager() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.managers++
	return r.managers
}

// recordRequest records a request of a manager that send sends. begin is called when Azure begins to carry it out.
func (r *recording) recordRequest(manager int, request *http.Request, body []byte, send func(begin func()) (*http.Response, error)) (*http.Response, error) {
	if r == nil {
		return send(func() {})
	}
	step := &properties.Request{Manager: manager, Sent: r.length(), SentAt: time.Now(), Method: request.Method, Path: strings.ToLower(request.URL.Path),
		Query: request.URL.RawQuery, UserAgent: request.UserAgent(), Body: string(body)}
	step.Begun = step.Sent
	response, err := send(func() { step.Begun = r.length() })
	if response != nil {
		step.Status = response.StatusCode
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // Without it, there is nothing to wait for.
		step.RetryAfter = time.Duration(seconds) * time.Second
	}
	step.Lost = err != nil
	r.add(properties.Step{Request: step})
	return response, err
}

// recordChange records a change of an object.
func (k *Kubernetes) recordChange(ctx context.Context, before, after client.Object) {
	if k.recording == nil {
		return
	}
	subject := change{before: before, after: after}.subject()
	kind, err := apiutil.GVKForObject(subject, k.scheme)
	if err != nil {
		k.t.Error(err)
		return
	}
	step := &properties.Object{Kind: kind.Kind, Namespace: subject.GetNamespace(), Name: subject.GetName(), ByManager: ctx.Value(managerKey{}) != nil}
	step.Before, step.After = k.decode(before), k.decode(after)
	k.recording.add(properties.Step{Object: step})
}

// decode returns an object as JSON has it.
func (k *Kubernetes) decode(object client.Object) map[string]any {
	if object == nil {
		return nil
	}
	out, err := decodeJSON(object)
	if err != nil {
		k.t.Error(err)
	}
	decoded, _ := out.(map[string]any)
	return decoded
}
