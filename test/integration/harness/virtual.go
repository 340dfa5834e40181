package harness

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// VirtualEndpoint is the URL of the simulator of a stage in virtual time.
const VirtualEndpoint = "https://azure.example"

// virtualPatience is how long a stage in virtual time waits: Azure takes as long as the real one.
const virtualPatience = 2 * time.Hour

// NewVirtualStage returns a stage in a bubble of virtual time. The transport leads to the simulator, without a network. It has no client and no objects yet.
func NewVirtualStage(t testing.TB, sim *server.Server, transport http.RoundTripper) *Stage {
	t.Helper()
	azure := &Simulator{
		Server: sim, URL: VirtualEndpoint, HTTP: &http.Client{Transport: transport}, SubscriptionID: server.DefaultSubscription,
		TenantID: server.DefaultTenant, ClientID: server.DefaultClientID, ClientSecret: server.DefaultSecret, t: t, patience: virtualPatience,
	}
	azure.bearer = sync.OnceValue(func() string { return azure.Token(azure.ClientID) })
	return &Stage{T: t, Environment: &Environment{Logs: newLogs()}, Namespace: "default", Azure: azure, virtual: true,
		recorded: &recordedEvents{}, secrets: []string{azure.ClientSecret}}
}

// Clone returns a stage in virtual time with the same Azure, events and logs, for another API server.
func (s *Stage) Clone() *Stage {
	return &Stage{T: s.T, Environment: s.Environment, Namespace: s.Namespace, Azure: s.Azure, virtual: s.virtual, recorded: s.recorded,
		secrets: s.secrets}
}

// actMeanwhile calls Meanwhile, if it is set, while the stage waits.
func (s *Stage) actMeanwhile() {
	if s.Meanwhile != nil {
		s.Meanwhile()
	}
}

// Event is an event of an object.
type Event struct{ Kind, Name, Type, Reason, Note string }

// recordedEvents are the events that managers in virtual time recorded, with repetitions.
type recordedEvents struct {
	mu     sync.Mutex
	events []Event
}

// RecordEvent adds an event of a manager in virtual time.
func (s *Stage) RecordEvent(event Event) {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	s.recorded.events = append(s.recorded.events, event)
}

// listRecorded returns the events that managers in virtual time recorded.
func (s *Stage) listRecorded() []Event {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	return slices.Clone(s.recorded.events)
}
