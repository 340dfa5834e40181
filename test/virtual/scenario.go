// Package virtual plays stories in virtual time, in a bubble of testing/synctest: a manager with its controllers, a simulated Azure that
// takes as long as the real one, and an API server that is played. Minutes take milliseconds, and durations and counts of requests are the
// same on any computer. Scenario is the one type for such stories.
package virtual

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Scenario is a story in virtual time: a Kubernetes API, a simulated Azure in front of which managers are started, and the calls with which
// tests play users, Cluster API and other programs. The namespace and the identity exist, and no manager runs.
type Scenario struct {
	*harness.Stage
	// Kubernetes has the objects, Sim is Azure.
	Kubernetes *Kubernetes
	Sim        *server.Server
	// Resync is the sync period of managers, Full their full sync period.
	Resync, Full time.Duration
	// Hurry returns how long WaitUntil waits, whatever its condition. If it is nil, WaitUntil waits until the condition holds.
	Hurry func() time.Duration
	// Observe has managers write nothing to Azure.
	Observe bool
	// DefaultSubscription is AZURE_SUBSCRIPTION_ID of the managers that are started; "" is the first subscription.
	DefaultSubscription string
	// RequestShare is the share of Azure's request limits that managers use that start afterwards; 0 is all of them.
	RequestShare float64
	// Features are the feature gates of managers.
	Features plan.Features
	// Lag is the longest delay with which managers that start see changes and get their events. All changes of an object within it are
	// one change to them.
	Lag time.Duration
	// Deleting is called with each object that a manager is about to delete in Kubernetes, Written with each write that Azure has answered;
	// nil is not called.
	Deleting func(ctx context.Context, object client.Object)
	Written  func(*http.Request)
	// WrittenBody is called with each write of a manager that Azure has answered, the status of the answer and the body of the request; nil is
	// not called.
	WrittenBody func(request *http.Request, status int, body []byte)
	// Committed is called after each change of Azure's state, before another request sees it; nil is not called.
	Committed func([]server.Change)
	// Refuse returns the error with which the API server answers a request of a manager; nil lets it answer as usual. The verb is get, list,
	// create, patch, delete or "patch status". A nil Refuse refuses nothing.
	Refuse func(verb string, object runtime.Object) error
	// IssueToken returns a token of a ServiceAccount that exists, for an audience. With nil the API server issues tokens that no other program
	// trusts.
	IssueToken func(account client.ObjectKey, audience string, lifetime time.Duration) string
	// Failed is called after each reconciliation that ended with an error; nil is not called.
	Failed func(Failure)
	// EventRecorded is called with each event, unless Recorder is set; nil is not called.
	EventRecorded func(Event)
	// Recorder records the events of managers; nil has EventRecorded called with them.
	Recorder events.EventRecorder
	// Metrics has managers that start afterwards count their work in the registry of the process, as an installed manager does. Only one
	// scenario of a process may do so at a time.
	Metrics bool
	// Tracer records what managers do; nil records nothing.
	Tracer *tracing.Tracer
	// Log gets the log lines of managers that start afterwards; nil drops them.
	Log logr.LogSink

	// recording is the history for properties; nil records nothing.
	recording *recording
	// explorer chooses what happens to managers; nil lets everything happen at once.
	explorer *Explorer
	handler  http.Handler
	// complete is that of the options.
	complete bool
	// touches counts the calls of TouchObject.
	touches int
	// plans are the plans of the steps of this scenario.
	plans *plans
	// azurePlans are those of all scenarios with the same Azure.
	azurePlans *azurePlans
}

// quietTime is how long the provider sends no request when nothing is left to do: less than any retry or sync that comes after a while.
const quietTime = 10 * time.Second

// Options are the settings of a scenario. With the zero value Azure takes as long as it really does.
type Options struct {
	// Azure are the options of the simulated Azure. It has the region eastus unless they name others.
	Azure server.Options
	// AtOnce ends operations of Azure as soon as they are polled.
	AtOnce bool
	// Complete makes the API server and the manager behave as an installed release: objects pass the schemas and webhooks, all controllers run
	// with the manager's queue, and no secret value may show up in logs, objects, events and requests. Otherwise tests fill in defaults, and
	// only the controllers of clusters run, which takes less time.
	Complete bool
	// Features are the feature gates of managers and webhooks, besides ASOAPI.
	Features plan.Features
}

// Play plays a story in a bubble of virtual time, with a manager that runs all controllers.
func Play(t *testing.T, story func(s *Scenario)) {
	t.Helper()
	PlayUnmanaged(t, func(s *Scenario) {
		s.StartProvider()
		story(s)
	})
}

// PlayUnmanaged is Play without a manager.
func PlayUnmanaged(t *testing.T, story func(s *Scenario)) {
	t.Helper()
	PlayWith(t, Options{Azure: server.Options{Seed: 7}}, story)
}

// PlayWith is PlayUnmanaged with options.
func PlayWith(t *testing.T, options Options, story func(s *Scenario)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(newScenario(t, options)) })
}

// PlayComplete plays a story as a harness.Stage with a real API server has it: Azure's operations end at once, its limits are out of reach, and
// everything of an installed release takes part. The identity does not exist yet.
func PlayComplete(t *testing.T, story func(s *Scenario)) {
	t.Helper()
	PlayWith(t, CompleteOptions(), story)
}

// CompleteOptions returns the options of PlayComplete, with two regions.
func CompleteOptions() Options {
	return Options{AtOnce: true, Complete: true,
		Azure: server.Options{Seed: 7, Locations: []string{"eastus", "westus"}, Throttle: harness.Unlimited}}
}

// New returns a scenario in which Azure takes as long as it really does. It has to be called in a bubble of virtual time.
func New(t *testing.T) *Scenario {
	t.Helper()
	return NewWith(t, server.Options{Seed: 7})
}

// NewWith is New with options of the simulated Azure.
func NewWith(t *testing.T, options server.Options) *Scenario {
	t.Helper()
	return newScenario(t, Options{Azure: options})
}

// NewAtOnce is New with an Azure whose operations end as soon as they are polled.
func NewAtOnce(t *testing.T) *Scenario {
	t.Helper()
	return newScenario(t, Options{AtOnce: true, Azure: server.Options{Seed: 7}})
}

func newScenario(t *testing.T, o Options) *Scenario {
	t.Helper()
	s := &Scenario{Resync: 10 * time.Minute, Full: time.Hour, complete: o.Complete, Features: o.Features}
	s.Features.ASOAPI = true
	options := o.Azure
	options.TimeScale = 1
	if o.AtOnce {
		options.TimeScale = 0
	}
	if options.Locations == nil {
		options.Locations = []string{"eastus"}
	}
	options.Committed = func(changes []server.Change) {
		if s.Committed != nil {
			s.Committed(changes)
		}
	}
	sim, err := server.New(options)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := newKubernetes(t, func() func() { return s.plans.change(false) })
	if err != nil {
		t.Fatal(err)
	}
	s.Sim, s.handler, s.azurePlans = sim, sim.Handler(), &azurePlans{}
	s.addPlans(t.Name(), options)
	s.Stage = harness.NewVirtualStage(t, sim, transport(s.serveAzure))
	s.Azure.Changing = s.azurePlans.change
	s.useKubernetes(objects)
	t.Cleanup(func() {
		if s.complete {
			s.CheckSecrets()
		}
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	s.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}})
	if !s.complete {
		s.CreateIdentity()
	}
	return s
}

// useKubernetes sets the API server of the scenario.
func (s *Scenario) useKubernetes(objects *Kubernetes) {
	s.T.Helper()
	s.Kubernetes, s.Client = objects, objects
	if s.complete {
		admitted, err := admitWrites(objects, s.Features)
		if err != nil {
			s.T.Fatal(err)
		}
		s.Client = admitted
	}
}

// NewManagementCluster returns another management cluster in front of the same Azure, as that to which clusterctl moves a cluster: without a
// manager, and with nothing but the namespace.
func (s *Scenario) NewManagementCluster() *Scenario {
	s.T.Helper()
	out := *s
	objects, err := newKubernetes(s.T, func() func() { return out.plans.change(false) })
	if err != nil {
		s.T.Fatal(err)
	}
	objects.SkipUIDs(1 << 20) // UIDs are those of no other cluster.
	out.Stage = s.Stage.Clone()
	out.addPlans(s.T.Name(), s.plans.options)
	out.useKubernetes(objects)
	out.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}})
	return &out
}

// WaitForSignal waits for a signal, or until the time is over.
func WaitForSignal(signal <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-signal:
	case <-timer.C:
	}
}

// serveAzure lets the simulator answer a request.
func (s *Scenario) serveAzure(request *http.Request) (*http.Response, error) {
	served := request.Clone(request.Context())
	served.RequestURI, served.Host, served.RemoteAddr, served.TLS = request.URL.RequestURI(), request.URL.Host, "192.0.2.1:1234",
		&tls.ConnectionState{}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	body, err := io.ReadAll(served.Body)
	if err != nil {
		return nil, err
	}
	served.Body = io.NopCloser(bytes.NewReader(body))
	isPlanned := isManagerWrite(request)
	var of *step
	switch {
	case isPlanned:
		of = s.plans.begin(request, body)
		defer s.azurePlans.changeOthers(s.plans)()
	case isWrite(request):
		defer s.azurePlans.change()()
	}
	recorder := httptest.NewRecorder()
	cut := isConnectionCut(func() { s.handler.ServeHTTP(recorder, served) })
	if isPlanned {
		s.plans.end(of, request, body, recorder.Code < http.StatusBadRequest && !cut)
	}
	if s.WrittenBody != nil && isPlanned {
		s.WrittenBody(request, recorder.Code, body)
	}
	if request.Method != http.MethodGet && s.Written != nil {
		s.Written(request)
	}
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	response := recorder.Result()
	response.Request = request
	switch {
	case cut && recorder.Body.Len() == 0:
		return nil, syscall.ECONNRESET
	case cut:
		response.Body = io.NopCloser(io.MultiReader(recorder.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	return response, nil
}

// isManagerWrite reports whether a request of a manager changes Azure.
func isManagerWrite(request *http.Request) bool {
	return isWrite(request) && strings.Contains(request.UserAgent(), "cluster-api-provider-azure")
}

// isWrite reports whether a request changes Azure. Reads of secrets are POST requests.
func isWrite(request *http.Request) bool {
	path := request.URL.Path
	return request.Method != http.MethodGet && request.Method != http.MethodHead && strings.HasPrefix(path, "/subscriptions/") &&
		!(request.Method == http.MethodPost && strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "list"))
}

// isConnectionCut reports whether a handler cuts the connection, as net/http has them do it.
func isConnectionCut(serve func()) (cut bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler {
				panic(cause)
			}
			cut = true
		}
	}()
	serve()
	return false
}
