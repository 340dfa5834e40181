package conformance

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// redacted replaces subscriptions and tenants in the recordings.
const redacted = "00000000-0000-0000-0000-000000000000"

// outcome is one exchange after its replay.
type outcome struct {
	Type string
	// Served is false for a type that the simulator does not have; such exchanges are only counted.
	Served     bool
	Comparison comparison
	// Request is the method and path, for who looks at what differs.
	Request string
}

// player replays one recording.
type player struct {
	t     *testing.T
	sim   *server.Server
	clock *store.Virtual
	token string
	// types are the served resource types by their name in lower case.
	types map[string]string
	// operations leads from a recorded operation URL to the simulator's.
	operations map[string]operation
	// guids leads from values that Azure made up to those of the simulator: principals, clients.
	guids map[string]string
	// seen are the paths that had a request, in lower case.
	seen map[string]bool
	// before are writes of the resources that a recording did not create, by their path in lower case; it begins with reads of readFirst.
	before    map[string]exchange
	readFirst []string
	// current is the exchange that is replayed.
	current exchange
	// policies are the effects of the subscription's policies on requests.
	policies []fault.Rule
	// shift is how far the simulator's clock runs ahead of the recording.
	shift time.Duration
}

type operation struct {
	typ    string
	served bool
	url    string // "" when the simulator returned none
}

func newPlayer(t *testing.T, all []exchange) *player {
	t.Helper()
	clock := store.NewVirtual(all[0].At)
	p := &player{t: t, clock: clock, types: map[string]string{}, operations: map[string]operation{},
		guids: map[string]string{}, seen: map[string]bool{}, policies: recordedPolicies(all)}
	p.before, p.readFirst = initialResources(all)
	sim, err := server.New(server.Options{Clock: clock, Locations: recordedRegions(all), TimeScale: 1, Seed: 1, Tenant: redacted, Subscriptions: recordedSubscriptions(all),
		Principals: recordedPrincipals(all), Replication: replicationTime(all), RemembersGroup: p.remembersGroup})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	p.sim, p.token = sim, sim.Token("")
	list, _ := decodeJSON(p.sendRequest("GET", "/subscriptions/"+redacted+"/providers?api-version=2021-04-01", "").body).(map[string]any)
	namespaces, _ := list["value"].([]any)
	for _, entry := range namespaces {
		namespace := entry.(map[string]any)
		for _, resourceType := range namespace["resourceTypes"].([]any) {
			name := namespace["namespace"].(string) + "/" + resourceType.(map[string]any)["resourceType"].(string)
			p.types[strings.ToLower(name)] = name
		}
	}
	if len(p.types) == 0 {
		t.Fatal("the simulator lists no resource types")
	}
	return p
}

var principalID = regexp.MustCompile(`"principalId": ?"(` + guid.String() + `)"`)

// recordedPrincipals returns the application that sends the requests, and those of identities that types without a simulation got.
func recordedPrincipals(all []exchange) []server.Principal {
	out := []server.Principal{{ClientID: server.DefaultClientID}}
	seen := map[string]bool{}
	for _, e := range all {
		for _, match := range principalID.FindAllStringSubmatch(e.Answer, -1) {
			if id := match[1]; !seen[id] && e.Status/100 == 2 {
				seen[id] = true
				out = append(out, server.Principal{ClientID: id, ObjectID: id})
			}
		}
	}
	return out
}

// replicationTime returns how long new principals are refused: as long as the refusals of the recording tell, as far as the principals
// that were accepted sooner allow. Entra ID shows each one after a time of its own; the simulator has one for all.
func replicationTime(all []exchange) time.Duration {
	born := map[string]time.Time{}
	longest := time.Duration(0)
	for _, e := range all {
		if e.Method == "PUT" && e.Status/100 == 2 {
			for _, match := range principalID.FindAllStringSubmatch(e.Answer, -1) {
				if _, known := born[match[1]]; !known {
					born[match[1]] = e.At
				}
			}
		}
		if match := principalID.FindStringSubmatch(e.Body); match != nil && strings.Contains(e.Answer, "PrincipalNotFound") {
			if since, known := born[match[1]]; known {
				longest = max(longest, e.At.Sub(since)+moment)
			}
		}
	}
	return longest
}

// replayRecording sends the recorded requests in their order and compares the answers.
func replayRecording(t *testing.T, all []exchange) []outcome {
	t.Helper()
	if len(all) == 0 {
		return nil
	}
	all = shiftVersions(all)
	p := newPlayer(t, all)
	lasts := operationDurations(all)
	var out []outcome
	for i, e := range all {
		out = append(out, p.playExchange(e, lasts[i]))
	}
	return out
}

func (p *player) playExchange(e exchange, lasts time.Duration) outcome {
	if ahead := e.At.Add(p.shift).Sub(p.clock.Now()); ahead > 0 {
		p.sim.Advance(ahead)
	}
	p.current = e
	poll, isPoll := p.operations[operationKey(e.URL.String())]
	o := outcome{Type: poll.typ, Served: poll.served, Request: e.Method + " " + e.URL.Path}
	if !isPoll {
		o.Type, o.Served = p.typeOf(e.Method, e.URL.Path)
	}
	if !o.Served {
		p.pairOperations(e, o, http.Header{})
		return o
	}
	var got answer
	switch {
	case !isPoll:
		p.onlyPolicies()
		if lasts > 0 {
			if err := p.sim.AddFault(fault.Rule{Method: e.Method, Kind: fault.Slow, Seconds: lasts.Seconds()}); err != nil {
				p.t.Fatal(err)
			}
		}
		got = p.sendRequest(e.Method, p.rewriteText(e.URL.RequestURI()), p.rewriteText(e.Body))
		if path := strings.ToLower(e.URL.Path); !p.seen[path] {
			p.seen[path] = true
			if p.beginBefore(e, got) {
				got = p.sendRequest(e.Method, p.rewriteText(e.URL.RequestURI()), p.rewriteText(e.Body))
			}
		}
		p.sim.ClearFaults()
	case poll.url == "":
		got = answer{status: 0, header: http.Header{}}
	default:
		got = p.pollOperation(e, poll.url)
	}
	o.Comparison = compareAnswers(e, got)
	if isPoll && poll.url == "" {
		o.Comparison.status = e.Method + " of an operation that the simulator did not begin"
	}
	p.pairOperations(e, o, got.header)
	p.pairGUIDs(decodeJSON(e.Answer), decodeJSON(got.body))
	return o
}

// onlyPolicies removes the faults of requests, except for those of policies.
func (p *player) onlyPolicies() {
	p.sim.ClearFaults()
	for _, rule := range p.policies {
		if err := p.sim.AddFault(rule); err != nil {
			p.t.Fatal(err)
		}
	}
}

// pollOperation asks for an operation. When Azure's had ended, the simulator gets the time it needs: durations are not
// compared.
func (p *player) pollOperation(e exchange, target string) answer {
	before := p.clock.Now()
	got := p.sendRequest(e.Method, target, "")
	for range 360 {
		if !isOperationEnded(e.Status, e.Answer) || isOperationEnded(got.status, got.body) {
			break
		}
		p.sim.Advance(10 * time.Second)
		got = p.sendRequest(e.Method, target, "")
	}
	p.shift += p.clock.Now().Sub(before)
	return got
}

func (p *player) sendRequest(method, target, body string) answer {
	u, err := url.Parse(target)
	if err != nil {
		p.t.Fatal(err)
	}
	r := httptest.NewRequest(method, "https://management.azure.com"+u.RequestURI(), strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Accept", "application/json")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == p.current.Method && method != "GET" {
		for name, value := range p.current.Match {
			r.Header.Set(name, p.currentEtag(value))
		}
	}
	w := httptest.NewRecorder()
	p.sim.Handler().ServeHTTP(w, r)
	return answer{status: w.Code, header: w.Header(), body: w.Body.String()}
}

// currentEtag returns the etag of the current exchange's resource in place of one that its recorder has removed, and another one if Azure found
// the etag out of date.
func (p *player) currentEtag(recorded string) string {
	if !strings.Contains(recorded, redacted) {
		return recorded
	}
	if p.current.Status == http.StatusPreconditionFailed {
		return `W/"outdated"`
	}
	shown, _ := decodeJSON(p.sendRequest("GET", p.rewriteText(p.current.URL.RequestURI()), "").body).(map[string]any)
	etag, _ := shown["etag"].(string)
	return etag
}

var chineseRegion = regexp.MustCompile(`"china(?:east|north)[0-9]?"|"China (?:East|North)[0-9 ]*"`)

// recordedRegions returns the regions of a recording of Azure China, which the catalog of the simulator does not have; nil for others.
func recordedRegions(all []exchange) []string {
	found := map[string]bool{}
	for _, e := range all {
		for _, name := range chineseRegion.FindAllString(e.Body, -1) {
			found[strings.ToLower(strings.ReplaceAll(strings.Trim(name, `"`), " ", ""))] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// pairOperations pairs the operation URLs of an answer.
func (p *player) pairOperations(e exchange, o outcome, got http.Header) {
	for _, name := range operationHeaders[:2] {
		if key := operationKey(e.Header.Get(name)); key != "" {
			p.operations[key] = operation{typ: o.Type, served: o.Served, url: got.Get(name)}
		}
	}
}

// typeOf returns the resource type of a request, and whether the simulator has it.
func (p *player) typeOf(method, path string) (string, bool) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	last := -1
	for i, s := range segments {
		if i%2 == 0 && strings.EqualFold(s, "providers") {
			last = i
		}
	}
	if last < 0 {
		if len(segments) >= 3 && len(segments) <= 4 && strings.EqualFold(segments[2], "resourceGroups") {
			return "Microsoft.Resources/resourceGroups", true
		}
		return path, false
	}
	if last+1 >= len(segments) {
		return path, false
	}
	name := segments[last+1]
	for i := last + 2; i < len(segments); i += 2 {
		if i == len(segments)-1 && method == "POST" {
			break
		}
		name += "/" + segments[i]
	}
	if served, ok := p.types[strings.ToLower(name)]; ok {
		return served, true
	}
	return strings.ToLower(name), false
}

var guid = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

func (p *player) rewriteText(s string) string {
	return guid.ReplaceAllStringFunc(s, func(recorded string) string {
		if own, ok := p.guids[strings.ToLower(recorded)]; ok {
			return own
		}
		return recorded
	})
}

// pairGUIDs pairs the GUIDs at the same places of two documents: whole values, and in the names that Azure makes with them.
func (p *player) pairGUIDs(recorded, got any) {
	switch r := recorded.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			for key, value := range r {
				p.pairGUIDs(value, g[key])
			}
		}
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(r) {
			for i, value := range r {
				p.pairGUIDs(value, g[i])
			}
		}
	case string:
		g, ok := got.(string)
		if !ok || !strings.EqualFold(guid.ReplaceAllString(r, ""), guid.ReplaceAllString(g, "")) {
			return
		}
		theirs, ours := guid.FindAllString(r, -1), guid.FindAllString(g, -1)
		for i := range min(len(theirs), len(ours)) {
			if theirs[i] != redacted {
				p.guids[strings.ToLower(theirs[i])] = ours[i]
			}
		}
	}
}
