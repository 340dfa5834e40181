package scenario

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// request is one line of the simulator's request log.
type request struct {
	Time time.Time `json:"time"`
	// Answered is when Azure began to answer.
	Answered  time.Time `json:"answered"`
	Method    string    `json:"method"`
	URL       string    `json:"url"`
	Status    int       `json:"status"`
	UserAgent string    `json:"userAgent"`
	// RetryAfterMs is the wait time that the answer asks for.
	RetryAfterMs int64 `json:"retryAfterMs"`
	// Unread means that the client closed its connection before Azure answered.
	Unread bool `json:"unread"`
	// TokenID is that of the process that sent the request.
	TokenID string `json:"tokenID"`
	// Repeats is set for a PUT with the body of the PUT of the resource before it.
	Repeats bool `json:"repeats"`
}

// resourceChange is one line of the simulator's log of changes. It has no body when the resource is gone.
type resourceChange struct {
	Time time.Time      `json:"time"`
	ID   string         `json:"id"`
	Body map[string]any `json:"body"`
}

// resourceID returns the path of the resource, lower case as Resource Manager compares it.
func (r request) resourceID() string {
	path, _, _ := strings.Cut(r.URL, "?")
	return strings.ToLower(path)
}

// isWrite reports whether the request is meant to change something in Azure; asking for a token or for a list of credentials is
// a POST too.
func (r request) isWrite() bool {
	action := r.resourceID()[strings.LastIndex(r.resourceID(), "/")+1:]
	if r.Method == http.MethodPost && strings.HasPrefix(action, "list") {
		return false
	}
	return r.Method != http.MethodGet && r.Method != http.MethodHead && strings.HasPrefix(r.resourceID(), "/subscriptions/")
}

// byLab reports whether the lab itself made the resource, before any cluster.
func (r request) byLab() bool { return r.UserAgent == "lab" }

// listRequests returns those that Resource Manager has answered since the story began, from the request log.
func (l *lab) listRequests() []request {
	l.t.Helper()
	return readLines[request](l.t, l.loadSettings().RequestLog(), l.seenRequests)
}

// listChanges returns the changes of resources since the story began.
func (l *lab) listChanges() []resourceChange {
	l.t.Helper()
	return readLines[resourceChange](l.t, l.loadSettings().ChangeLog(), l.seenChanges)
}

// readLines returns the records that a log has after this many bytes, one in each line. A line without an end is being written.
func readLines[T any](t *testing.T, file string, begin int) (out []T) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw = raw[begin:]
	for line := range bytes.Lines(raw[:bytes.LastIndexByte(raw, '\n')+1]) {
		var record T
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%s: %v: %.200s", filepath.Base(file), err, line)
		}
		out = append(out, record)
	}
	return out
}

// clusterPUTs returns the successful PUTs of clusters.
func (l *lab) clusterPUTs() []request {
	l.t.Helper()
	return slices.DeleteFunc(l.listRequests(), func(r request) bool {
		return r.Method != http.MethodPut || r.Status >= 300 || r.byLab() || !strings.HasPrefix(r.resourceID(), "/subscriptions/")
	})
}

// listResources returns the IDs of everything that the simulated Azure has, lower case.
func (l *lab) listResources() []string {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	state, err := azure.ReadState(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	raw, err := json.Marshal(state)
	if err != nil {
		l.t.Fatal(err)
	}
	var answer struct {
		Resources []struct {
			ID string `json:"id"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		l.t.Fatal(err)
	}
	var ids []string
	for _, r := range answer.Resources {
		ids = append(ids, strings.ToLower(r.ID))
	}
	slices.Sort(ids)
	return ids
}

// namesOf returns the last segments of the IDs of a type, "microsoft.compute/virtualmachines" for example.
func namesOf(ids []string, typ string) []string {
	var names []string
	for _, id := range ids {
		if _, rest, ok := strings.Cut(id, "/providers/"+typ+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names
}

// expectNothingLeft asks Azure for every resource that the story had written for a cluster, and looks for others.
func (l *lab) expectNothingLeft() {
	l.t.Helper()
	get := l.newReader()
	asked := map[string]bool{}
	for _, r := range l.clusterPUTs() {
		if asked[r.resourceID()] {
			continue
		}
		asked[r.resourceID()] = true
		if status := get(r.URL); status != http.StatusNotFound {
			l.t.Errorf("GET %s: %d after the cluster was deleted, want 404", r.URL, status)
		}
	}
	if len(asked) == 0 {
		l.t.Error("the request log has no PUT of a cluster")
	}
	all := readLines[request](l.t, l.loadSettings().RequestLog(), 0)
	for _, id := range l.listResources() {
		if !slices.ContainsFunc(all, func(r request) bool { return r.byLab() && r.resourceID() == id }) {
			l.t.Errorf("%s is left in Azure after the cluster was deleted", id)
		}
	}
	l.t.Logf("%d resources were written and are gone", len(asked))
	l.left = true
}

// newReader reads from Resource Manager as the lab's service principal, over what `lab env` tells every client.
func (l *lab) newReader() func(url string) int {
	l.t.Helper()
	s := l.loadSettings()
	ca, err := os.ReadFile(s.SimulatorCA())
	if err != nil {
		l.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	l.t.Cleanup(client.CloseIdleConnections)
	response, err := client.PostForm(s.SimulatorURL()+"/"+settings.TenantID+"/oauth2/v2.0/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {settings.ClientID}, "client_secret": {s.ClientSecret},
		"scope": {"https://management.core.windows.net//.default"},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&token); err != nil || token.AccessToken == "" {
		l.t.Fatalf("no token: %s, %v", response.Status, err)
	}
	return func(path string) int {
		l.t.Helper()
		// The log shows the query as people read it.
		path, query, _ := strings.Cut(path, "?")
		asked, err := http.NewRequestWithContext(context.Background(), http.MethodGet,
			s.SimulatorURL()+(&url.URL{Path: path, RawQuery: query}).String(), nil)
		if err != nil {
			l.t.Fatal(err)
		}
		asked.Header.Set("Authorization", "Bearer "+token.AccessToken)
		answer, err := client.Do(asked)
		if err != nil {
			l.t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
}
