// Package virtual runs controllers in virtual time, in a bubble of testing/synctest: those of a manager, a simulated Azure that takes
// as long as the real one, and an API server that is played. Minutes take milliseconds, and what everything takes and costs is the
// same on any computer.
package virtual

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const endpoint = "https://azure.example"

// World is a Kubernetes and an Azure, without a manager. Namespace and identity are there.
type World struct {
	*harness.Stage
	// Kubernetes are the objects, Sim is Azure.
	Kubernetes *Kubernetes
	Sim        *server.Server
	// Resync is how long controllers leave alone what is in order, Full how long they take what they read of it where Azure shows no
	// write.
	Resync, Full time.Duration
	// Lag is how late managers that start see and hear of changes at most; what happens to an object in that time is one change to them.
	Lag time.Duration
	// Deleting is told of what a manager is about to delete in Kubernetes, Written of the writes that Azure has answered. Nil is
	// nobody.
	Deleting func(ctx context.Context, object client.Object)
	Written  func(*http.Request)
	// Committed is called after each change of Azure's state, before another request sees it; nil is not called.
	Committed func([]server.Change)
	// Refuse returns the error that the API server answers a request of a manager with; nil is that it answers as usual. The verb is get, list,
	// create, patch, delete or "patch status". Nil refuses nothing.
	Refuse func(verb string, object runtime.Object) error
	// Failed is told of each reconciliation that ended with an error, after it. Nil is nobody.
	Failed func(Failure)
	// Told is told of each event, unless Recorder is set. Nil is nobody.
	Told func(Event)

	handler http.Handler
	// Recorder records the events of managers; nil has Told hear of them.
	Recorder events.EventRecorder
}

// New makes a world in which Azure takes as long as it really does. It has to be called in a bubble of virtual time.
func New(t *testing.T, options server.Options) *World {
	t.Helper()
	options.TimeScale = 1
	return newWorld(t, options)
}

// NewAtOnce makes a world in which Azure's operations end as soon as they are polled.
func NewAtOnce(t *testing.T, options server.Options) *World {
	t.Helper()
	options.TimeScale = 0
	return newWorld(t, options)
}

func newWorld(t *testing.T, options server.Options) *World {
	t.Helper()
	w := &World{Resync: 10 * time.Minute, Full: time.Hour}
	options.Committed = func(changes []server.Change) {
		if w.Committed != nil {
			w.Committed(changes)
		}
	}
	sim, err := server.New(options)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := newKubernetes()
	if err != nil {
		t.Fatal(err)
	}
	w.Sim, w.handler, w.Kubernetes = sim, sim.Handler(), objects
	w.Stage = &harness.Stage{T: t, Client: objects, Namespace: "default", Azure: &harness.Simulator{
		Server: sim, URL: endpoint, SubscriptionID: server.DefaultSubscription, TenantID: server.DefaultTenant, ClientID: server.DefaultClientID,
		ClientSecret: server.DefaultSecret,
	}}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	w.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
	w.CreateIdentity()
	return w
}

// NewManagementCluster is another management cluster in front of the same Azure, as that which clusterctl moves a cluster to: without a manager,
// and with nothing but the namespace.
func (w *World) NewManagementCluster() *World {
	w.T.Helper()
	objects, err := newKubernetes()
	if err != nil {
		w.T.Fatal(err)
	}
	objects.SkipUIDs(1 << 20) // UIDs are those of no other cluster.
	out := *w
	out.Kubernetes, out.Stage = objects, &harness.Stage{T: w.T, Client: objects, Namespace: w.Namespace, Azure: w.Azure}
	out.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
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

// serveAzure has the simulator answer a request.
func (w *World) serveAzure(request *http.Request) (*http.Response, error) {
	served := request.Clone(request.Context())
	served.RequestURI, served.Host, served.RemoteAddr, served.TLS = request.URL.RequestURI(), request.URL.Host, "192.0.2.1:1234",
		&tls.ConnectionState{}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	cut := isConnectionCut(func() { w.handler.ServeHTTP(recorder, served) })
	if request.Method != http.MethodGet && w.Written != nil {
		w.Written(request)
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
