package server_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func TestNothingAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	dir := t.TempDir()
	clock := store.NewVirtual(epoch)
	with := func(o *server.Options) { o.StateDir, o.Clock = dir, clock }
	a := newAzure(t, with)
	a.createMachine()
	op := a.sendRequest("PUT", net+"/virtualNetworks/vnet/subnets/late",
		obj{"properties": obj{"addressPrefix": "10.3.0.0/24"}}).header.Get("Azure-AsyncOperation")
	token := a.sim.Token("")
	before := a.sim.State()
	dir = copyState(t, dir)
	b := newAzure(t, with)
	if d := cmp.Diff(before, b.sim.State()); d != "" {
		t.Error(d)
	}
	u, err := url.Parse(op)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.sendRequest("GET", u.RequestURI(), nil, "Authorization", "Bearer "+token); r.valueAt("status") != "InProgress" {
		t.Errorf("the running operation after the restart: %d %v", r.status, r.body)
	}
	b.sim.Settle()
	if r := b.sendRequest("GET", u.RequestURI(), nil); r.valueAt("status") != "Succeeded" {
		t.Errorf("its end: %v", r.body)
	}
	if r := b.sendRequest("GET", net+"/virtualNetworks/vnet/subnets/late", nil); r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("the subnet: %v", r.body)
	}
	if !bytes.Equal(a.sim.CA(), b.sim.CA()) {
		t.Error("the CA changed with the restart")
	}
}

func TestScriptedFaults(t *testing.T) {
	table := net + "/routeTables/x"
	put := func(a *azure) response { return a.sendRequest("PUT", table, obj{"location": "westus3"}) }
	cases := map[string]struct {
		reason string
		rule   fault.Rule
		act    func(t *testing.T, a *azure)
	}{
		"status": {"the request is not carried out", fault.Rule{Kind: fault.Status, Status: 503, Method: "PUT"}, func(t *testing.T, a *azure) {
			if r := put(a); r.status != 503 || r.errorCode() != "ServiceUnavailable" {
				t.Errorf("%d %s", r.status, r.errorCode())
			}
			if r := a.sendRequest("GET", table, nil); r.status != 404 {
				t.Errorf("GET = %d", r.status)
			}
			if r := put(a); r.status != 201 {
				t.Errorf("the rule is used up, but %d", r.status)
			}
		}},
		"throttle": {"429 with Retry-After", fault.Rule{Kind: fault.Throttle, RetryAfter: 17, ID: "*/routetables/*"},
			func(t *testing.T, a *azure) {
				if r := put(a); r.status != 429 || r.header.Get("Retry-After") != "17" {
					t.Errorf("%d %q", r.status, r.header.Get("Retry-After"))
				}
				log := a.sim.Requests()
				if got := log[len(log)-1].RetryAfterMs; got != 17000 {
					t.Errorf("the log has retryAfterMs %d, want 17000", got)
				}
			}},
		"second": {"nth counts matching requests", fault.Rule{Kind: fault.Status, Status: 500, Nth: 2, Type: "Microsoft.Network/routeTables"},
			func(t *testing.T, a *azure) {
				if first, second := put(a), a.sendRequest("GET", table, nil); first.status != 201 || second.status != 500 {
					t.Errorf("%d then %d", first.status, second.status)
				}
			}},
		"omit": {"one list lacks an existing resource", fault.Rule{Kind: fault.Omit, Target: "/routeTables/X", ID: "*/routetables"},
			func(t *testing.T, a *azure) {
				a.mustSucceed("PUT", table, obj{"location": "westus3"})
				for _, want := range []int{0, 1} {
					if list, _ := a.sendRequest("GET", net+"/routeTables", nil).valueAt("value").([]any); len(list) != want {
						t.Errorf("%d items, want %d", len(list), want)
					}
				}
			}},
		"lost": {"the write happens, the answer does not arrive", fault.Rule{Kind: fault.Lost, Method: "PUT"}, func(t *testing.T, a *azure) {
			if err := a.transportError("PUT", table, obj{"location": "westus3"}); err == nil {
				t.Error("an answer arrived")
			}
			if r := a.sendRequest("GET", table, nil); r.status != 200 {
				t.Errorf("GET = %d", r.status)
			}
		}},
		"late": {"504 after the provider accepted", fault.Rule{Kind: fault.LateError, Method: "PUT"}, func(t *testing.T, a *azure) {
			if r := put(a); r.status != 504 || r.errorCode() != "GatewayTimeout" {
				t.Errorf("%d %s", r.status, r.errorCode())
			}
			if r := a.sendRequest("GET", table, nil); r.status != 200 {
				t.Errorf("GET = %d", r.status)
			}
		}},
		"reset": {"nothing happens", fault.Rule{Kind: fault.Reset, Method: "PUT"}, func(t *testing.T, a *azure) {
			if err := a.transportError("PUT", table, obj{"location": "westus3"}); err == nil {
				t.Error("an answer arrived")
			}
			if r := a.sendRequest("GET", table, nil); r.status != 404 {
				t.Errorf("GET = %d", r.status)
			}
		}},
		"stuck": {"the operation does not end before the rules are removed", fault.Rule{Kind: fault.Stuck}, func(t *testing.T, a *azure) {
			op := put(a).header.Get("Azure-AsyncOperation")
			a.sim.Advance(100 * time.Hour)
			if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "InProgress" {
				t.Errorf("%v", r.body)
			}
			a.sim.ClearFaults()
			if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "Succeeded" {
				t.Errorf("%v", r.body)
			}
		}},
		"fail": {"the operation fails and so does the resource", fault.Rule{Kind: fault.Fail, Code: "InternalServerError"},
			func(t *testing.T, a *azure) {
				op := put(a).header.Get("Azure-AsyncOperation")
				a.sim.Settle()
				if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "Failed" || r.valueAt("error.code") != "InternalServerError" {
					t.Errorf("%v", r.body)
				}
				if r := a.sendRequest("GET", table, nil); r.valueAt("properties.provisioningState") != "Failed" {
					t.Errorf("%v", r.valueAt("properties.provisioningState"))
				}
				put(a)
				a.sim.Settle()
				if r := a.sendRequest("GET", table, nil); r.valueAt("properties.provisioningState") != "Succeeded" {
					t.Errorf("one more PUT must heal it: %v", r.valueAt("properties.provisioningState"))
				}
			}},
		"cancel": {"the operation and the resource end Canceled, and one more PUT heals it", fault.Rule{Kind: fault.Cancel},
			func(t *testing.T, a *azure) {
				op := put(a).header.Get("Azure-AsyncOperation")
				a.sim.Settle()
				if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "Canceled" || r.valueAt("error.code") != "Canceled" ||
					r.valueAt("error.details.0.code") != "CanceledAndSupersededDueToAnotherOperation" {
					t.Errorf("%v", r.body)
				}
				for _, want := range []string{"Canceled", "Succeeded"} {
					if r := a.sendRequest("GET", table, nil); r.valueAt("properties.provisioningState") != want {
						t.Errorf("%v, want %s", r.valueAt("properties.provisioningState"), want)
					}
					put(a)
					a.sim.Settle()
				}
			}},
		"truncate": {"the write happens, the answer breaks off", fault.Rule{Kind: fault.Truncate, Method: "PUT"}, func(t *testing.T, a *azure) {
			if err := a.transportError("PUT", table, obj{"location": "westus3"}); err == nil {
				t.Error("a whole answer arrived")
			}
			if r := a.sendRequest("GET", table, nil); r.status != 200 {
				t.Errorf("GET = %d", r.status)
			}
		}},
		"stale": {"a GET shows the earlier state for a minute", fault.Rule{Kind: fault.Stale, Method: "GET", Count: -1},
			func(t *testing.T, a *azure) {
				for _, want := range []int{404, 404, 200} {
					if r := a.sendRequest("GET", table, nil); r.status != want {
						t.Errorf("GET = %d, want %d", r.status, want)
					}
					put(a)
					a.sim.Advance(40 * time.Second)
				}
			}},
		"unseen": {"a GET right after the creation answers 404", fault.Rule{Kind: fault.Unseen, Method: "PUT", Seconds: 5, Count: -1},
			func(t *testing.T, a *azure) {
				for _, want := range [][]int{{201, 404}, {200, 200}} {
					if r := put(a); r.status != want[0] {
						t.Errorf("PUT = %d, want %d", r.status, want[0])
					}
					a.sim.Advance(4 * time.Second)
					if r := a.sendRequest("GET", table, nil); r.status != want[1] {
						t.Errorf("GET = %d %s, want %d", r.status, r.errorCode(), want[1])
					}
					a.sim.Advance(2 * time.Second)
					if r := a.sendRequest("GET", table, nil); r.status != 200 {
						t.Errorf("GET after 6 s = %d", r.status)
					}
				}
			}},
		"token": {"the token is refused with a challenge", fault.Rule{Kind: fault.Token, Code: "ExpiredAuthenticationToken"},
			func(t *testing.T, a *azure) {
				if r := put(a); r.status != 401 || r.errorCode() != "ExpiredAuthenticationToken" || r.header.Get("WWW-Authenticate") == "" {
					t.Errorf("%d %s", r.status, r.errorCode())
				}
				if r := put(a); r.status != 201 {
					t.Errorf("%d", r.status)
				}
			}},
		"race": {"another client writes just before", fault.Rule{Kind: fault.EtagRace, Method: "PUT", Nth: 2}, func(t *testing.T, a *azure) {
			put(a)
			a.sim.Settle()
			etag, _ := a.sendRequest("GET", table, nil).valueAt("etag").(string)
			if r := a.sendRequest("PUT", table, obj{"location": "westus3"}, "If-Match", etag); r.status != 412 {
				t.Errorf("%d", r.status)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.t = t
			a.createGroup()
			if err := a.sim.AddFault(tc.rule); err != nil {
				t.Fatal(err)
			}
			tc.act(t, a)
		})
	}
}

// transportError sends a request and returns the transport's error.
func (a *azure) transportError(method, path string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, a.url+path+"?api-version=2024-05-01", bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.GetBody = nil // no silent second try of the transport
	req.Header.Set("Authorization", "Bearer "+a.sim.Token(""))
	res, err := a.http.Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	return err
}

func TestOutOfBandChanges(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	rule := net + "/networkSecurityGroups/nsg/securityRules/api"
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Edit, Now: true, ID: rule, Patch: obj{"properties": obj{"access": "Deny"}}}); err != nil {
		t.Fatal(err)
	}
	if r := a.sendRequest("GET", rule, nil); r.valueAt("properties.access") != "Deny" {
		t.Errorf("the edited rule: %v", r.valueAt("properties.access"))
	}
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Remove, Now: true, ID: rule}); err != nil {
		t.Fatal(err)
	}
	if r := a.sendRequest("GET", rule, nil); r.status != 404 {
		t.Errorf("the removed rule: %d", r.status)
	}
	if err := a.sim.AddFault(fault.Rule{Kind: "nonsense"}); err == nil || !strings.Contains(err.Error(), "use one of") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// callControl calls the control API.
func (a *azure) callControl(method, path string, body, out any) int {
	a.t.Helper()
	raw, isText := body.([]byte)
	if !isText {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			a.t.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, a.url+path, bytes.NewReader(raw))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("X-Sim-Token", "token")
	res, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	if out != nil {
		if err := json.NewDecoder(res.Body).Decode(out); err != nil {
			a.t.Fatal(err)
		}
	}
	return res.StatusCode
}

func TestGuestsAndTheDataPlane(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	var page struct {
		Revision int64
		Guests   []server.Guest
	}
	a.callControl("GET", "/_sim/guests", nil, &page)
	start := page.Revision
	a.createMachine()
	a.callControl("GET", fmt.Sprintf("/_sim/guests?after=%d&wait=5", start), nil, &page)
	if len(page.Guests) != 1 || page.Revision <= start {
		t.Fatalf("guests: %+v", page)
	}
	g := page.Guests[0]
	if g.VMID != comp+"/virtualMachines/vm0" || g.CustomData != cloudInit || g.PowerState != "running" || g.Zone != "1" ||
		g.OSType != "Linux" || g.BootID == "" || g.NICs[0].PrivateIPs[0] != "10.0.0.4" {
		t.Errorf("guest: %+v", g)
	}
	const name = "api.westus3.cloudapp.azure.com"
	dial := func(host string, port int) (r server.Route) {
		t.Helper()
		a.callControl("GET", fmt.Sprintf("/_sim/dial?host=%s&port=%d", host, port), nil, &r)
		return r
	}
	for what, want := range map[string]struct {
		host string
		port int
		step string
	}{
		"an unknown name":      {"none.example", 443, "dns"},
		"a port without rule":  {name, 80, "rule"},
		"no answer":            {name, 443, "probe"},
		"an unknown address":   {"10.200.0.1", 22, "frontend"},
		"nothing on that port": {"10.0.0.4", 6443, "listener"},
	} {
		if r := dial(want.host, want.port); r.Step != want.step || r.Message == "" {
			t.Errorf("%s: %+v, want step %s", what, r, want.step)
		}
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello from the guest") }))
	defer backend.Close()
	address := strings.TrimPrefix(backend.URL, "http://")
	if s := a.callControl("PUT", "/_sim/guests/listeners", obj{"vmID": g.VMID, "port": 6443, "address": address}, nil); s != 204 {
		t.Fatalf("listener: %d", s)
	}
	if r := dial(name, 443); r.Address != address || r.VMID != g.VMID || len(r.Trace) < 4 {
		t.Errorf("through the load balancer: %+v", r)
	}
	proxy := httptest.NewServer(a.sim.ProxyHandler(strings.TrimPrefix(a.url, "https://")))
	defer proxy.Close()
	through := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) },
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer through.CloseIdleConnections()
	if res, err := through.Get("https://management.azure.com/subscriptions?api-version=2022-12-01"); err != nil || res.StatusCode != 401 {
		t.Errorf("Azure through the proxy: %v %v", res, err)
	} else {
		res.Body.Close()
	}
	conn, err := sendThroughTunnel(proxy.URL, name+":443")
	if err != nil || !strings.Contains(conn, "hello from the guest") {
		t.Errorf("the guest through the proxy: %q %v", conn, err)
	}
	deny := allowRule("api", 100, "*")
	deny["properties"].(obj)["access"] = "Deny"
	a.mustSucceed("PUT", net+"/networkSecurityGroups/nsg/securityRules/api", deny)
	if r := dial(name, 443); r.Step != "securityRule" {
		t.Errorf("with a rule that denies: %+v", r)
	}
	if s := a.callControl("PUT", "/_sim/guests/status", obj{"vmID": g.VMID, "phase": "Running", "nodeName": "cp-0"}, nil); s != 204 {
		t.Errorf("status: %d", s)
	}
	a.callControl("GET", "/_sim/guests", nil, &page)
	if page.Guests[0].Status.NodeName != "cp-0" {
		t.Errorf("status: %+v", page.Guests[0].Status)
	}
	a.mustSucceed("DELETE", g.VMID, nil)
	a.callControl("GET", "/_sim/guests", nil, &page)
	if len(page.Guests) != 0 {
		t.Errorf("after the delete: %+v", page.Guests)
	}
}

// sendThroughTunnel sends one HTTP request through a CONNECT proxy and returns the answer.
func sendThroughTunnel(proxy, target string) (string, error) {
	conn, err := stdnet.Dial("tcp", strings.TrimPrefix(proxy, "http://"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	fmt.Fprintf(conn, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", target)
	res, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"})
	if err != nil || res.StatusCode != 200 {
		return "", fmt.Errorf("CONNECT: %v %v", res, err)
	}
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: guest\r\nConnection: close\r\n\r\n")
	if res, err = http.ReadResponse(in, nil); err != nil {
		return "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return string(raw), err
}

func TestBootstrappingExtensionWaitsForTheGuest(t *testing.T) {
	for phase, want := range map[string]string{"Running": "Succeeded", "Failed": "Failed"} {
		t.Run(phase, func(t *testing.T) {
			a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
			a.t = t
			a.createMachine()
			a.callControl("GET", "/_sim/guests?after=0&wait=1", nil, nil)
			id := comp + "/virtualMachines/vm0"
			r := a.sendRequest("PUT", id+"/extensions/CAPZ.Linux.Bootstrapping",
				obj{"location": "westus3",
					"properties": obj{"publisher": "Microsoft.Azure.ContainerUpstream", "type": "CAPZ.Linux.Bootstrapping", "typeHandlerVersion": "1.0"}})
			op := r.header.Get("Azure-AsyncOperation")
			a.sim.Advance(5 * time.Minute)
			if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "InProgress" {
				t.Errorf("before the guest reports: %v", r.body)
			}
			a.callControl("PUT", "/_sim/guests/status", obj{"vmID": id, "phase": phase, "message": "kubeadm init failed"}, nil)
			a.sim.Advance(5 * time.Second)
			r = a.sendRequest("GET", op, nil)
			if r.valueAt("status") != want {
				t.Errorf("after %s: %v", phase, r.body)
			}
			if msg, _ := r.valueAt("error.message").(string); phase == "Failed" &&
				(r.valueAt("error.code") != "VMExtensionProvisioningError" || !strings.Contains(msg, "kubeadm init failed")) {
				t.Errorf("error: %v", r.body)
			}
		})
	}
}

func TestControlTokenIsAsked(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "other" })
	if s := a.callControl("GET", "/_sim/state", nil, nil); s != 401 {
		t.Errorf("a wrong token: %d", s)
	}
}

func TestPrivateNamesLeadThroughTheInternalLoadBalancer(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	a.createBase()
	lb := net + "/loadBalancers/internal"
	a.mustSucceed("PUT", lb, obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "fe",
			"properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/cp"), "privateIPAllocationMethod": "Static",
				"privateIPAddress": "10.0.0.100"}}},
		"backendAddressPools": []any{obj{"name": "pool"}},
		"loadBalancingRules": []any{obj{"name": "api",
			"properties": obj{"protocol": "Tcp", "frontendPort": 6443, "backendPort": 6443,
				"frontendIPConfiguration": newRef(
					lb + "/frontendIPConfigurations/fe"), "backendAddressPool": newRef(lb + "/backendAddressPools/pool")}}},
	}})
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0",
		newNIC("cp", obj{"loadBalancerBackendAddressPools": newRefs(lb + "/backendAddressPools/pool")}))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", newVM("nic0", nil))
	zone := net + "/privateDnsZones/c.capz.io"
	a.mustSucceed("PUT", zone, obj{"location": "global"})
	a.mustSucceed("PUT", zone+"/virtualNetworkLinks/l",
		obj{"location": "global", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/vnet"), "registrationEnabled": false}})
	a.mustSucceed("PUT", zone+"/A/apiserver", obj{"properties": obj{"ttl": 300, "aRecords": []any{obj{"ipv4Address": "10.0.0.100"}}}})
	a.callControl("PUT", "/_sim/guests/listeners", obj{"vmID": comp + "/virtualMachines/vm0", "port": 6443, "address": "127.0.0.1:1"}, nil)
	var r server.Route
	a.callControl("GET", "/_sim/dial?host=apiserver.c.capz.io&port=6443", nil, &r)
	if r.Address != "127.0.0.1:1" {
		t.Errorf("route: %+v", r)
	}
	a.mustSucceed("POST", comp+"/virtualMachines/vm0/deallocate", nil)
	r = server.Route{}
	a.callControl("GET", "/_sim/dial?host=10.0.0.4&port=6443", nil, &r)
	if r.Step != "listener" || !strings.Contains(r.Message, "not running") {
		t.Errorf("a deallocated machine: %+v", r)
	}
}

func BenchmarkThousandMachines(b *testing.B) {
	for b.Loop() {
		sim, err := server.New(server.Options{Clock: store.NewVirtual(epoch), TimeScale: 1, StateDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		h, token := sim.Handler(), sim.Token("")
		do := func(method, path string, body any) {
			raw, _ := json.Marshal(body)
			req := httptest.NewRequest(method, "https://x"+path+"?api-version=2024-05-01", bytes.NewReader(raw))
			req.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code > 299 {
				b.Fatalf("%s %s = %d %s", method, path, w.Code, w.Body)
			}
		}
		do("PUT", groupA, obj{"location": "westus3"})
		do("PUT", net+"/virtualNetworks/vnet",
			obj{"location": "westus3",
				"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}},
					"subnets": []any{obj{"name": "cp", "properties": obj{"addressPrefix": "10.0.0.0/16"}}}}})
		sim.Settle()
		for i := range 1000 {
			name := fmt.Sprintf("n%d", i)
			do("PUT", net+"/networkInterfaces/"+name, newNIC("cp", nil))
			do("PUT", comp+"/virtualMachines/"+name, newVM(name, func(p obj) { p["storageProfile"].(obj)["dataDisks"] = []any{} }))
		}
		sim.Settle()
		do("GET", comp+"/virtualMachines", nil)
		do("DELETE", groupA, nil)
		sim.Settle()
		if left := sim.State(); len(left) != 0 {
			b.Fatalf("%d resources are left", len(left))
		}
		if err := sim.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// lines sends each line that is written.
type lines chan []byte

func (l lines) Write(line []byte) (int, error) {
	l <- bytes.Clone(line)
	return len(line), nil
}

// TestHalfBody sends a part of a body, as a client that is killed does, to Resource Manager and to Microsoft Graph. Nothing is created, and the
// log has no answer.
func TestHalfBody(t *testing.T) {
	for name, row := range map[string]struct{ method, path, read string }{
		"resource":    {http.MethodPut, groupA + "?api-version=2024-05-01", groupA},
		"application": {http.MethodPost, "/v1.0/applications", ""},
		"objects":     {http.MethodPost, "/v1.0/directoryObjects/getByIds", ""},
	} {
		t.Run(name, func(t *testing.T) {
			log := make(lines, 10)
			a := newAzure(t, func(o *server.Options) {
				o.RequestLog, o.Principals = log, []server.Principal{{ClientID: ownerID, Secret: "s"}}
			})
			body := io.MultiReader(strings.NewReader(`{"location":"west`), iotest.ErrReader(errors.New("killed")))
			request, err := http.NewRequest(row.method, a.url+row.path, body)
			if err != nil {
				t.Fatal(err)
			}
			request.ContentLength = 100
			token := a.token
			if strings.HasPrefix(row.path, "/v1.0/") {
				_, _, token = a.signIn(url.Values{"scope": {"https://graph.microsoft.com/.default"}, "client_id": {ownerID}, "client_secret": {"s"}})
				<-log
			}
			request.Header.Set("Authorization", "Bearer "+token)
			if response, err := a.http.Do(request); err == nil {
				response.Body.Close()
				t.Errorf("half of a body was answered with %s", response.Status)
			}
			var record server.RequestRecord
			if err := json.Unmarshal(<-log, &record); err != nil {
				t.Fatal(err)
			}
			if record.Method != row.method || record.Status != 0 {
				t.Errorf("the log has %s with the status %d, want %s with 0", record.Method, record.Status, row.method)
			}
			if row.read == "" {
				return
			}
			if got := a.sendRequest(http.MethodGet, row.read, nil).status; got != http.StatusNotFound {
				t.Errorf("%s was answered with %d, want 404", row.read, got)
			}
		})
	}
}
