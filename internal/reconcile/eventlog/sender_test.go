package eventlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
)

// eventServer is the part of an API server that has events.
type eventServer struct {
	mu sync.Mutex
	// requests are the requests that were answered since the last look.
	requests []string
	events   map[string]eventsv1.Event
	// down is true while no request is answered, and answer the status of each answer if it is not 0.
	down   bool
	answer int
}

// RoundTrip implements http.RoundTripper.
func (s *eventServer) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errors.New("connection refused")
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	status, event := http.StatusOK, eventsv1.Event{}
	name := request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
	if request.Method == http.MethodPost {
		status = http.StatusCreated
		if err := json.Unmarshal(body, &event); err != nil {
			return nil, err
		}
		name = event.Name
		s.requests = append(s.requests, fmt.Sprintf("create %s %s: %s", event.Namespace, event.Reason, event.Note))
	} else {
		known, is := s.events[name]
		if event = known; !is {
			status = http.StatusNotFound
		}
		if err := json.Unmarshal(body, &event); err != nil {
			return nil, err
		}
		s.requests = append(s.requests, fmt.Sprintf("count %d: %s", event.Series.Count, event.Note))
	}
	if s.answer != 0 {
		status = s.answer
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	recorder.WriteHeader(status)
	var answer any = event
	if status < 300 {
		s.events[name] = event
	} else {
		answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(status),
			Reason: map[int]metav1.StatusReason{404: metav1.StatusReasonNotFound, 403: metav1.StatusReasonForbidden}[status]}
	}
	if err := json.NewEncoder(recorder).Encode(answer); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// look returns the requests since the last look.
func (s *eventServer) look() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.requests = nil }()
	return s.requests
}

func (s *eventServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// newSender returns a sender to a server without events.
func newSender(t *testing.T) (*eventlog.Sender, *eventServer) {
	t.Helper()
	server := &eventServer{events: map[string]eventsv1.Event{}}
	client, err := eventsclient.NewForConfig(&rest.Config{Host: "http://kubernetes", Transport: server, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	scheme := kuberuntime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return eventlog.NewSender(eventlog.SenderOptions{Events: client, Scheme: scheme, Log: logr.Discard(), Host: "pod", Now: time.Now}), server
}

// inSender runs a test with a started sender in virtual time. emit emits an event of a machine.
func inSender(t *testing.T, test func(t *testing.T, server *eventServer, emit func(machine, reason, note string))) {
	t.Helper()
	withSender(t, func(t *testing.T, sender *eventlog.Sender, server *eventServer) {
		recorder := sender.Recorder("machines")
		test(t, server, func(machine, reason, note string) {
			<-time.After(time.Microsecond) // Events have different times.
			recorder.Eventf(newMachine(machine), nil, "Normal", reason, "Reconcile", "%s", note)
		})
	})
}

// withSender runs a test with a started sender in virtual time.
func withSender(t *testing.T, test func(t *testing.T, sender *eventlog.Sender, server *eventServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sender, server := newSender(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- sender.Start(ctx) }()
		test(t, sender, server)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func newMachine(name string) *infrav1.AzureMachine {
	return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: "1"}}
}

func TestSenderCountsRepeatedEvents(t *testing.T) {
	inSender(t, func(t *testing.T, server *eventServer, emit func(machine, reason, note string)) {
		check := func(reason string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, server.look()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", reason, diff)
			}
		}
		emit("m1", "Repaired", "a")
		check("an event is created", "create n Repaired: a")
		emit("m1", "Repaired", "b")
		check("another text is another event, also within minutes", "create n Repaired: b")
		emit("m1", "Repaired", "b")
		check("a repeated event is counted at once, so that users see it", "count 2: b")
		for range 100 {
			emit("m1", "Repaired", "b")
		}
		check("further ones cause no request")
		emit("m2", "Repaired", "b")
		check("the event of another object is its own", "create n Repaired: b")
		<-time.After(6 * time.Minute)
		check("the count is written after a while", "count 102: b")
		<-time.After(12 * time.Minute)
		check("and not again")
		emit("m1", "Repaired", "b")
		check("an event that returns after minutes is a new one", "create n Repaired: b")
		emit("m1", "Repaired", "b")
		server.look()
		<-time.After(13 * time.Minute)
		server.set(func() { clear(server.events) })
		emit("m1", "Repaired", "b")
		check("a deleted event is not counted", "create n Repaired: b")
	})
}

func TestSenderCreatesDeletedEventsAgain(t *testing.T) {
	inSender(t, func(t *testing.T, server *eventServer, emit func(machine, reason, note string)) {
		emit("m1", "Repaired", "a")
		server.look()
		server.set(func() { clear(server.events) })
		emit("m1", "Repaired", "a")
		want := []string{"count 2: ", "create n Repaired: a"}
		if diff := cmp.Diff(want, server.look()); diff != "" {
			t.Errorf("the first event was deleted (-want +got):\n%s", diff)
		}
	})
}

// TestSenderBoundsEvents emits events of one reason whose texts all differ, as a message with a time in it would.
func TestSenderBoundsEvents(t *testing.T) {
	inSender(t, func(t *testing.T, server *eventServer, emit func(machine, reason, note string)) {
		for i := range 1000 {
			emit("m1", "Failed", fmt.Sprint("text ", i))
			synctest.Wait()
		}
		if requests := server.look(); len(requests) != 11 || requests[10] != "count 2: text 9" {
			t.Errorf("ten events and a count are enough: %d requests, the last ones %q", len(requests), requests[max(0, len(requests)-2):])
		}
		<-time.After(7 * time.Minute)
		server.look()
		emit("m1", "Failed", "news")
		if diff := cmp.Diff([]string{"create n Failed: news"}, server.look()); diff != "" {
			t.Errorf("a later text is shown (-want +got):\n%s", diff)
		}
	})
}

func TestSenderWithoutAnswers(t *testing.T) {
	inSender(t, func(t *testing.T, server *eventServer, emit func(machine, reason, note string)) {
		server.set(func() { server.down = true })
		for i := range 5000 {
			emit("m1", "Reason"+fmt.Sprint(i), "a") // Does not block.
		}
		<-time.After(30 * time.Second)
		server.set(func() { server.down = false })
		<-time.After(10 * time.Second)
		requests := server.look()
		if len(requests) < 500 || len(requests) > 502 || requests[0] != "create n Reason0: a" {
			t.Errorf("the oldest 500 events are written in order when the API server is back: %d, the first is %q", len(requests), requests[:min(1, len(requests))])
		}
		server.set(func() { server.answer = http.StatusForbidden })
		emit("m2", "Refused", "a")
		<-time.After(time.Minute)
		if diff := cmp.Diff([]string{"create n Refused: a"}, server.look()); diff != "" {
			t.Errorf("a refused event is not sent again (-want +got):\n%s", diff)
		}
	})
}

// TestSenderFlushes stops the sender before it has started to write.
func TestSenderFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sender, server := newSender(t)
		sender.Recorder("machines").Eventf(newMachine("m1"), nil, "Normal", "Ready", "Reconcile", "%s", "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := sender.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"create n Ready: a"}, server.look()); diff != "" {
			t.Errorf("the last event before the end (-want +got):\n%s", diff)
		}
	})
}

// TestSenderKeepsLittle measures the heap with the events of many machines. client-go's broadcaster keeps 1.2 KB or more of each.
func TestSenderKeepsLittle(t *testing.T) {
	const machines, limit = 5000, 200
	synctest.Test(t, func(t *testing.T) {
		sender, server := newSender(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- sender.Start(ctx) }()
		recorder := sender.Recorder("machines")
		measure := func() uint64 {
			server.look()
			server.set(func() { clear(server.events) })
			var stats runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		before := measure()
		for i := range machines {
			machine := newMachine(fmt.Sprintf("machine-with-a-name-of-usual-length-%d", i))
			for _, reason := range []string{"Created", "Ready"} {
				recorder.Eventf(machine, &corev1.ObjectReference{Kind: "virtualMachines", Name: machine.Name}, "Normal", reason, "Reconcile", "created %s (42s)", machine.Name)
			}
			synctest.Wait()
		}
		if each := (int64(measure()) - int64(before)) / (2 * machines); each > limit {
			t.Errorf("an event costs %d bytes, more than %d", each, limit)
		} else {
			t.Logf("an event costs %d bytes", each)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
