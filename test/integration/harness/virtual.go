package harness

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// VirtualEndpoint is the URL of the simulator of a stage in virtual time.
const VirtualEndpoint = "https://azure.example"

// virtualPatience is how long a stage in virtual time waits: Azure takes as long as the real one.
const virtualPatience = 2 * time.Hour

// NewVirtualStage returns a stage in a bubble of virtual time. The transport leads to the simulator, without a network. Nothing is created yet.
func NewVirtualStage(t testing.TB, client client.WithWatch, sim *server.Server, transport http.RoundTripper) *Stage {
	t.Helper()
	azure := &Simulator{
		Server: sim, URL: VirtualEndpoint, HTTP: &http.Client{Transport: transport}, SubscriptionID: server.DefaultSubscription,
		TenantID: server.DefaultTenant, ClientID: server.DefaultClientID, ClientSecret: server.DefaultSecret, t: t, patience: virtualPatience,
	}
	azure.bearer = sync.OnceValue(func() string { return azure.Token(azure.ClientID) })
	return &Stage{T: t, Environment: &Environment{Client: client, Logs: newLogs()}, Client: client, Namespace: "default", Azure: azure, virtual: true}
}

// WithClient returns the same namespace in another management cluster in front of the same Azure.
func (s *Stage) WithClient(client client.WithWatch) *Stage {
	return &Stage{T: s.T, Environment: &Environment{Client: client, Logs: s.Environment.Logs}, Client: client, Namespace: s.Namespace, Azure: s.Azure,
		virtual: s.virtual}
}

// actMeanwhile calls what is to be done while something is waited for.
func (s *Stage) actMeanwhile() {
	if s.Meanwhile != nil {
		s.Meanwhile()
	}
}
