package bridge

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const testControlToken = "control-token"

// fakeSimulator speaks azuresim's control API and offers a CONNECT proxy that follows it.
type fakeSimulator struct {
	t       *testing.T
	options Options
	proxy   *url.URL

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced on every change
	revision  int64
	list      []guest
	listeners map[string]map[int32]string
	statuses  []guestStatus // every report, in order
	console   string        // of all guests

	clusters         []managedCluster
	clusterListeners map[string]string
	signer           *rsa.PrivateKey // of the simulated Entra ID
}

func newFakeSimulator(t *testing.T) *fakeSimulator {
	f := &fakeSimulator{t: t, changed: make(chan struct{}), listeners: map[string]map[int32]string{}, clusterListeners: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sim/guests", f.getGuests)
	mux.HandleFunc("PUT /_sim/guests/listeners", f.putListener)
	mux.HandleFunc("DELETE /_sim/guests/listeners", f.deleteListener)
	mux.HandleFunc("PUT /_sim/guests/status", f.putStatus)
	mux.HandleFunc("GET /_sim/dial", f.getDial)
	mux.HandleFunc("GET /_sim/state", f.getState)
	mux.HandleFunc("GET /_sim/clusters", f.getClusters)
	mux.HandleFunc("PUT /_sim/clusters/listeners", f.putClusterListener)
	mux.HandleFunc("DELETE /_sim/clusters/listeners", f.deleteClusterListener)
	mux.HandleFunc("GET /common/discovery/v2.0/keys", f.getKeys)
	control := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Sim-Token") != testControlToken {
			http.Error(w, "token", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(control.Close)
	proxy := httptest.NewServer(http.HandlerFunc(f.serveConnect))
	t.Cleanup(proxy.Close)
	f.proxy, _ = url.Parse(proxy.URL)

	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")
	for name, data := range map[string][]byte{
		ca:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: control.Certificate().Raw}),
		token: []byte(testControlToken + "\n"),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.options = Options{Simulator: control.URL, SimulatorCAFile: ca, ControlTokenFile: token}
	return f
}

// changeAndWake applies an edit and wakes everyone who waits.
func (f *fakeSimulator) changeAndWake(edit func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit()
	f.revision++
	close(f.changed)
	f.changed = make(chan struct{})
}

// awaitCondition blocks until the condition holds; it is checked on every change.
func (f *fakeSimulator) awaitCondition(what string, condition func() bool) {
	f.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		f.mu.Lock()
		ok, changed := condition(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			f.mu.Lock()
			defer f.mu.Unlock()
			f.t.Fatalf("timed out waiting for %s; reports so far: %+v", what, f.statuses)
		}
	}
}

func (f *fakeSimulator) bootGuest(g guest) { f.changeAndWake(func() { f.list = append(f.list, g) }) }

func (f *fakeSimulator) deleteGuest(name string) {
	f.changeAndWake(func() {
		f.list = slices.DeleteFunc(f.list, func(g guest) bool { return g.ComputerName == name })
	})
}

func (f *fakeSimulator) editGuest(name string, edit func(*guest)) {
	f.changeAndWake(func() {
		for i := range f.list {
			if f.list[i].ComputerName == name {
				edit(&f.list[i])
			}
		}
	})
}

// lastReport returns the newest report on a VM. The caller holds f.mu.
func (f *fakeSimulator) lastReport(name string) guestStatus {
	for _, s := range slices.Backward(f.statuses) {
		if strings.HasSuffix(s.VMID, "/"+name) {
			return s
		}
	}
	return guestStatus{}
}

func (f *fakeSimulator) awaitPhase(name, phase string) guestStatus {
	f.t.Helper()
	var status guestStatus
	f.awaitCondition(name+" "+phase, func() bool { status = f.lastReport(name); return status.Phase == phase })
	return status
}

func (f *fakeSimulator) getGuests(w http.ResponseWriter, r *http.Request) {
	f.longPoll(w, r, func() (string, any) {
		list := slices.Clone(f.list)
		for i := range list {
			list[i].Status = f.lastReport(list[i].ComputerName)
		}
		return "guests", list
	})
}

// longPoll answers once the revision is greater than the client's. The list is read with f.mu held.
func (f *fakeSimulator) longPoll(w http.ResponseWriter, r *http.Request, read func() (name string, list any)) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	wait, _ := strconv.Atoi(r.URL.Query().Get("wait"))
	deadline := time.After(time.Duration(wait) * time.Second)
	for {
		f.mu.Lock()
		revision, changed := f.revision, f.changed
		name, list := read()
		f.mu.Unlock()
		if revision > after || wait == 0 {
			_ = json.NewEncoder(w).Encode(map[string]any{"revision": revision, name: list})
			return
		}
		select {
		case <-changed:
		case <-deadline:
			wait = 0
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fakeSimulator) putListener(_ http.ResponseWriter, r *http.Request) {
	var b listenerBody
	_ = json.NewDecoder(r.Body).Decode(&b)
	f.changeAndWake(func() {
		if f.listeners[b.VMID] == nil {
			f.listeners[b.VMID] = map[int32]string{}
		}
		f.listeners[b.VMID][b.Port] = b.Address
	})
}

func (f *fakeSimulator) deleteListener(_ http.ResponseWriter, r *http.Request) {
	var b listenerBody
	_ = json.NewDecoder(r.Body).Decode(&b)
	f.changeAndWake(func() { delete(f.listeners[b.VMID], b.Port) })
}

func (f *fakeSimulator) putStatus(_ http.ResponseWriter, r *http.Request) {
	var s struct {
		guestStatus
		Console string `json:"console"`
	}
	_ = json.NewDecoder(r.Body).Decode(&s)
	f.changeAndWake(func() { f.statuses, f.console = append(f.statuses, s.guestStatus), f.console+s.Console+"\n" })
}

// routeHost plays load balancer: the public name leads to the first VM that listens on the port.
func (f *fakeSimulator) routeHost(host, port string) (string, *controlError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.clusters {
		if address := f.clusterListeners[c.ID]; host == c.FQDN && port == "443" && address != "" {
			return address, nil
		}
	}
	if host != testEndpointHost {
		return "", &controlError{Step: "dns", Message: "no record of " + host}
	}
	p, _ := strconv.Atoi(port)
	for _, g := range f.list {
		if address, ok := f.listeners[g.VMID][int32(p)]; ok {
			return address, nil
		}
	}
	return "", &controlError{Step: "listener", Message: "no member of the backend pool listens on " + port}
}

func (f *fakeSimulator) getDial(w http.ResponseWriter, r *http.Request) {
	address, fault := f.routeHost(r.URL.Query().Get("host"), r.URL.Query().Get("port"))
	if fault != nil {
		w.WriteHeader(http.StatusBadGateway)
		_ = json.NewEncoder(w).Encode(map[string]string{"step": fault.Step, "message": fault.Message})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"address": address})
}

func (f *fakeSimulator) getState(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"resources": testState(f.list...)})
}

func (f *fakeSimulator) serveConnect(w http.ResponseWriter, r *http.Request) {
	host, port, _ := net.SplitHostPort(r.Host)
	address, fault := f.routeHost(host, port)
	if fault != nil {
		http.Error(w, fault.Error(), http.StatusBadGateway)
		return
	}
	upstream, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		upstream.Close()
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	pipe := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		to.Close()
	}
	go pipe(client, upstream)
	go pipe(upstream, client)
}

// runBridge starts a bridge and returns a function that ends it and waits.
func (f *fakeSimulator) runBridge() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() { done <- RunBridge(ctx, f.options) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				f.t.Errorf("Run: %v", err)
			}
		})
	}
	f.t.Cleanup(stop)
	return stop
}
