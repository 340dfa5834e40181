// Package azuretest puts a simulated Azure into the tests of a Go project, with one call:
//
//	azure := azuretest.Start(t)
//
// Its promise: it imports the standard library and the simulator only, so that the project gets no dependency by it, neither on the
// Azure SDK nor on Kubernetes. What a client needs is here as plain values, and Client is a policy.Transporter as it is. Every Azure
// listens on a port of its own, so tests may run in parallel; nothing is on disk unless a state directory is asked for.
package azuretest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Audience is the audience of tokens for Resource Manager: the Audience of a cloud.ServiceConfiguration.
const Audience = "https://management.core.windows.net/"

// Epoch is the first time of an Azure's clock by default.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Azure is a simulated Azure that listens. It also has the methods of the simulator (Advance, AddFault, Requests, State, ...).
type Azure struct {
	*server.Server
	Endpoint     string // of Resource Manager, without a slash at the end: "https://127.0.0.1:40123"
	Authority    string // of Entra ID, the ActiveDirectoryAuthorityHost of a cloud.Configuration; instance discovery has to be off
	Subscription string
	Tenant       string
	ClientID     string // of an application that may sign in and do everything
	ClientSecret string
	Client       *http.Client // trusts the certificate

	virtual   bool
	main      *http.Server
	proxy     *http.Server
	proxyAddr string
}

// Start returns a simulated Azure that ends with the test. Without a change it has a virtual clock and the seed 1, so that every run gets the
// same answers, and no test waits. Advance, Settle and Finish move the clock, and so does each poll of an operation, so that PollUntilDone of
// the SDK returns. With o.AdvanceOnPoll = false only the test moves it. It fails the test if it cannot start.
func Start(t testing.TB, change ...func(*server.Options)) *Azure {
	t.Helper()
	a, err := Open(change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("simulated Azure: %v", err)
		}
	})
	return a
}

// Open is Start for callers without a test, such as a TestMain: the caller must close the Azure.
func Open(change ...func(*server.Options)) (*Azure, error) {
	o := server.Options{Clock: store.NewVirtual(Epoch), TimeScale: 1, AdvanceOnPoll: true, Seed: 1, Tenant: server.DefaultTenant,
		Subscriptions: []string{server.DefaultSubscription},
		Principals:    []server.Principal{{ClientID: server.DefaultClientID, Secret: server.DefaultSecret}}}
	for _, f := range change {
		f(&o)
	}
	if len(o.Subscriptions) == 0 || len(o.Principals) == 0 || o.Tenant == "" {
		return nil, fmt.Errorf("simulated Azure: Tenant, Subscriptions and Principals must not be emptied: clients are given the first of each")
	}
	sim, err := server.New(o)
	if err != nil {
		return nil, fmt.Errorf("simulated Azure: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		sim.Close()
		return nil, fmt.Errorf("simulated Azure: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(sim.CA())
	endpoint := "https://" + listener.Addr().String()
	a := &Azure{
		Server: sim, Endpoint: endpoint, Authority: endpoint + "/", Subscription: o.Subscriptions[0], Tenant: o.Tenant,
		ClientID: o.Principals[0].ClientID, ClientSecret: o.Principals[0].Secret,
		Client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}},
		main:   &http.Server{Handler: sim.Handler(), TLSConfig: sim.TLSConfig(), ReadHeaderTimeout: 30 * time.Second},
	}
	_, a.virtual = o.Clock.(*store.Virtual)
	go func() { _ = a.main.ServeTLS(listener, "", "") }()
	return a, nil
}

// Close cuts connections and stops the simulator.
func (a *Azure) Close() error {
	a.Client.CloseIdleConnections()
	_ = a.main.Close()
	if a.proxy != nil {
		_ = a.proxy.Close()
	}
	return a.Server.Close()
}

// Poller is the part of *runtime.Poller of the Azure SDK for Go that Finish needs.
type Poller interface {
	Done() bool
	Poll(context.Context) (*http.Response, error)
}

// Finish polls until the operation has ended; the poller's Result has its outcome. On a virtual clock it moves the
// clock by five seconds from poll to poll. On another clock it polls again at once, so it is for operations that take
// no time there. An operation that does not end, because a fault has it stuck, is an error after ten thousand polls.
func (a *Azure) Finish(ctx context.Context, p Poller) error {
	for range 10000 {
		if p.Done() {
			return nil
		}
		if _, err := p.Poll(ctx); err != nil {
			return err
		}
		if a.virtual && !p.Done() {
			a.Advance(5 * time.Second)
		}
	}
	return fmt.Errorf("the operation did not end in 10,000 polls; a fault may have it stuck")
}

// Environ returns the environment that makes another process a client, for an exec.Cmd besides os.Environ:
// HTTPS_PROXY leads Azure's own hosts to the simulator, its certificate is trusted, and the environment's credential
// of the SDKs is the application. It writes the certificate to the file ca, and starts a proxy the first time.
func (a *Azure) Environ(ca string) ([]string, error) {
	if err := os.WriteFile(ca, a.CA(), 0o600); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	if a.proxy == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		a.proxy = &http.Server{Handler: a.ProxyHandler(a.Endpoint[len("https://"):]), ReadHeaderTimeout: 30 * time.Second}
		a.proxyAddr = listener.Addr().String()
		go func() { _ = a.proxy.Serve(listener) }()
	}
	return []string{
		"HTTPS_PROXY=http://" + a.proxyAddr, "https_proxy=http://" + a.proxyAddr,
		"SSL_CERT_FILE=" + ca, "REQUESTS_CA_BUNDLE=" + ca, "CURL_CA_BUNDLE=" + ca,
		"AZURE_TENANT_ID=" + a.Tenant, "AZURE_CLIENT_ID=" + a.ClientID, "AZURE_CLIENT_SECRET=" + a.ClientSecret,
		"AZURE_SUBSCRIPTION_ID=" + a.Subscription,
	}, nil
}
