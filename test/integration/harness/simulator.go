package harness

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/endpoint"
)

// Simulator is a simulated Azure that one test has for itself.
type Simulator struct {
	*server.Server
	// URL is the address at which it listens, and HTTP a client that trusts it.
	URL  string
	HTTP *http.Client
	// TLS has the certificate that the simulator serves with, which clients trust, and its key.
	TLS *tls.Config
	// SubscriptionID is its subscription, TenantID its tenant, ClientID and ClientSecret its principal's credential.
	SubscriptionID, TenantID, ClientID, ClientSecret string
	// OtherSecret is another secret of the principal.
	OtherSecret string

	// Changing is called before each change of Azure that is no request, and the function that it returns after it; nil is not called.
	Changing func() (done func())

	t testing.TB
	// patience is how long PutResource waits.
	patience time.Duration
	// user is the application that tests play a user of Azure with; "" is the provider's.
	user string
	// bearer makes the user's token once: a signature takes longer than most answers.
	bearer func() string
}

// userID is the application of the user where the provider's may not do everything.
const userID = "99999999-9999-9999-9999-999999999999"

// NewSimulator returns a simulator in which operations end at once, for a test that needs no API server.
func NewSimulator(t testing.TB, secret string) *Simulator {
	t.Helper()
	return newSimulator(t, secret, secret, 0, Unlimited, false)
}

// newSimulator starts a simulator in which operations take timeScale times as long as on Azure.
func newSimulator(t testing.TB, secret, other string, timeScale float64, throttle *server.Throttle, guarded bool) *Simulator {
	t.Helper()
	s := &Simulator{
		SubscriptionID: server.DefaultSubscription, TenantID: server.DefaultTenant, ClientID: server.DefaultClientID, ClientSecret: secret,
		OtherSecret: other, t: t, patience: Patience,
	}
	options := server.Options{
		TimeScale: timeScale, Principals: []server.Principal{{ClientID: s.ClientID, Secret: secret}, {ClientID: s.ClientID, Secret: other}},
		Throttle: throttle,
	}
	if guarded {
		s.user = userID
		options.EnforceRBAC, options.Owners, options.Principals = true, []string{userID},
			append(options.Principals, server.Principal{ClientID: userID})
	}
	var err error
	s.Server, err = server.New(options)
	if err != nil {
		t.Fatalf("simulator: %v", err)
	}
	listener := endpoint.ListenTLS(s.Server)
	s.bearer = sync.OnceValue(func() string { return s.Token(s.user) })
	s.URL, s.HTTP, s.TLS = listener.URL, listener.Client(), listener.TLS
	t.Cleanup(func() {
		listener.CloseClientConnections()
		listener.Close()
		if err := s.Close(); err != nil {
			t.Errorf("stop the simulator: %v", err)
		}
	})
	return s
}

// UserToken returns the token of the user that tests play.
func (s *Simulator) UserToken() string { return s.bearer() }

// isWrite reports whether a request changes something in Azure.
func isWrite(method, path string) bool {
	return method != http.MethodGet && method != http.MethodHead && strings.HasPrefix(strings.ToLower(path), "/subscriptions/")
}

// Mark is a point in the simulator's request log.
type Mark int

// MarkRequests is now.
func (s *Simulator) MarkRequests() Mark { return Mark(len(s.Requests())) }

// RequestsSince returns the requests of the provider to Resource Manager after the mark, as "GET /subscriptions/... 200", without the
// query and with the subscription's part of the path left out.
func (s *Simulator) RequestsSince(mark Mark) []string {
	var out []string
	for _, request := range s.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if request.UserAgent == UserAgent || !strings.HasPrefix(path, "/subscriptions/") {
			continue
		}
		out = append(out, fmt.Sprintf("%s %s %d", request.Method, s.shortenPath(path), request.Status))
	}
	return out
}

// WritesSince returns the requests after the mark that changed something, as "PUT resourceGroups/a", whatever the answer was.
func (s *Simulator) WritesSince(mark Mark) []string {
	var out []string
	for _, request := range s.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if request.UserAgent != UserAgent && isWrite(request.Method, path) {
			out = append(out, request.Method+" "+s.shortenPath(path))
		}
	}
	return out
}

func (s *Simulator) shortenPath(path string) string {
	path = strings.TrimPrefix(path, "/subscriptions/"+s.SubscriptionID+"/")
	return strings.Replace(path, "/providers/", "/", 1)
}

// ListResources returns the IDs of everything that exists, without the subscription's part, sorted.
func (s *Simulator) ListResources() []string {
	var out []string
	for _, resource := range s.State() {
		out = append(out, s.shortenPath(fmt.Sprint(resource["id"])))
	}
	slices.Sort(out)
	return out
}

// UserAgent marks the requests of tests that play a user of Azure.
const UserAgent = "integration-test"

// AddFault makes Azure do something by itself.
func (s *Simulator) AddFault(rule fault.Rule) error {
	if s.Changing != nil {
		defer s.Changing()()
	}
	return s.Server.AddFault(rule)
}

// ApproveConnections approves the connections of private endpoints that wait for it, as the owners of the services do.
func (s *Simulator) ApproveConnections() {
	s.t.Helper()
	for _, resource := range s.State() {
		properties, _ := resource["properties"].(map[string]any)
		connections, _ := properties["manualPrivateLinkServiceConnections"].([]any)
		if len(connections) == 0 || properties["provisioningState"] != "Succeeded" {
			continue
		}
		pending := false
		for _, connection := range connections {
			state := connection.(map[string]any)["properties"].(map[string]any)["privateLinkServiceConnectionState"].(map[string]any)
			pending = pending || state["status"] == "Pending"
			state["status"], state["description"] = "Approved", "approved by the owner"
		}
		if !pending {
			continue
		}
		err := s.AddFault(fault.Rule{Now: true, ID: fmt.Sprint(resource["id"]), Kind: fault.Edit,
			Patch: map[string]any{"properties": map[string]any{"manualPrivateLinkServiceConnections": connections}}})
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// PutResource makes a resource as a user of Azure would, and waits until it exists. path starts with "resourceGroups/".
func (s *Simulator) PutResource(path, apiVersion string, body map[string]any) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	if status, answer := s.SendRequest(http.MethodPut, path, apiVersion, raw); status > 299 {
		s.t.Fatalf("PUT %s: %d %s", path, status, answer)
	}
	err = wait.PollUntilContextTimeout(s.t.Context(), 10*time.Millisecond, s.patience, true, func(context.Context) (bool, error) {
		status, answer := s.SendRequest(http.MethodGet, path, apiVersion, nil)
		var resource struct {
			Properties struct {
				ProvisioningState string `json:"provisioningState"`
			} `json:"properties"`
		}
		if status != http.StatusOK || json.Unmarshal(answer, &resource) != nil {
			return false, nil
		}
		// Some types have no state: a resource that can be read exists.
		state := resource.Properties.ProvisioningState
		return state == "Succeeded" || state == "", nil
	})
	if err != nil {
		s.t.Fatalf("%s did not come up: %v", path, err)
	}
}

// GetResource reads a resource as a user of Azure would; status is 404 when it does not exist.
func (s *Simulator) GetResource(path, apiVersion string) (status int, resource map[string]any) {
	s.t.Helper()
	status, raw := s.SendRequest(http.MethodGet, path, apiVersion, nil)
	if err := json.Unmarshal(raw, &resource); err != nil {
		s.t.Fatalf("GET %s: %d, not JSON: %v", path, status, err)
	}
	return status, resource
}

// DeleteResource asks for the deletion of a resource as a user of Azure would. It does not wait until it is gone.
func (s *Simulator) DeleteResource(path, apiVersion string) {
	s.t.Helper()
	if status, answer := s.SendRequest(http.MethodDelete, path, apiVersion, nil); status > 299 {
		s.t.Fatalf("DELETE %s: %d %s", path, status, answer)
	}
}

// PostAction asks for an action on a resource as a user of Azure would. It does not wait until it is done.
func (s *Simulator) PostAction(path, apiVersion string) {
	s.t.Helper()
	if status, answer := s.SendRequest(http.MethodPost, path, apiVersion, nil); status > 299 {
		s.t.Fatalf("POST %s: %d %s", path, status, answer)
	}
}

// SendRequest sends a request of a user of Azure. path starts with "resourceGroups/".
func (s *Simulator) SendRequest(method, path, apiVersion string, body []byte) (int, []byte) {
	s.t.Helper()
	url := s.URL + "/subscriptions/" + s.SubscriptionID + "/" + path + "?api-version=" + apiVersion
	request, err := http.NewRequestWithContext(s.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.UserToken())
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", UserAgent)
	response, err := s.HTTP.Do(request)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, raw
}

// API versions that the harness uses where the version does not matter.
const (
	groupVersion   = "2021-04-01"
	networkVersion = "2024-05-01"
)

// PutNetwork makes a resource group and in it a virtual network with subnets, by name their address range, as users bring
// them.
func (s *Simulator) PutNetwork(group, name, addresses string, subnets map[string]string) {
	s.t.Helper()
	s.PutResource("resourceGroups/"+group, groupVersion, map[string]any{"location": "eastus"})
	list := []any{}
	for _, subnet := range slices.Sorted(maps.Keys(subnets)) {
		list = append(list, map[string]any{"name": subnet, "properties": map[string]any{"addressPrefix": subnets[subnet]}})
	}
	s.PutResource("resourceGroups/"+group+"/providers/Microsoft.Network/virtualNetworks/"+name, networkVersion, map[string]any{
		"location": "eastus", "tags": map[string]any{"team": "network"},
		"properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{addresses}}, "subnets": list},
	})
}

// FindString returns the string at a dotted path of a resource, as in "properties.ipConfigurations.0.id"; "" when there is none.
func FindString(resource any, path string) string {
	text, _ := FindValue(resource, path).(string)
	return text
}

// FindValue returns what Find finds, of any type; nil when there is none. An element of a list is found by its name or its position.
func FindValue(value any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i := slices.IndexFunc(v, func(item any) bool { return strings.EqualFold(FindString(item, "name"), part) })
			if position, err := strconv.Atoi(part); err == nil && i < 0 {
				i = position
			}
			if i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}
