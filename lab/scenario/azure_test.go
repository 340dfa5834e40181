package scenario

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// request is one line of the simulator's request log.
type request struct {
	Time      time.Time `json:"time"`
	Method    string    `json:"method"`
	URL       string    `json:"url"`
	Status    int       `json:"status"`
	UserAgent string    `json:"userAgent"`
	// DurationMs is how long Azure took for the answer.
	DurationMs int64 `json:"durationMs"`
	// RetryAfterMs is the wait time that the answer asks for.
	RetryAfterMs int64 `json:"retryAfterMs"`
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
	return l.requestsFrom(l.seenRequests)
}

// requestsFrom returns those that the request log has after this many bytes.
func (l *lab) requestsFrom(begin int) []request {
	l.t.Helper()
	raw, err := os.ReadFile(l.loadSettings().RequestLog())
	if err != nil {
		l.t.Fatal(err)
	}
	raw = raw[begin:]
	var all []request
	for lines := bufio.NewReader(bytes.NewReader(raw)); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return all // a line without an end is being written
		}
		if err != nil {
			l.t.Fatal(err)
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			l.t.Fatalf("request log: %v: %s", err, line)
		}
		all = append(all, r)
	}
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
	all := l.requestsFrom(0)
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
