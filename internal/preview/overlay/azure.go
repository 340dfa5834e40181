package overlay

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Options configure an Azure.
type Options struct {
	// Subscriptions are the subscriptions that objects name.
	Subscriptions []string
	// Live reads the live Azure. With nil, Azure has nothing but the assumed resources.
	Live *Live
	// Assumed are the resources that users and other programs bring. They are used without Live.
	Assumed []Assumed
	// Clock is the time in Azure.
	Clock *store.Virtual
}

// Azure answers requests. It implements policy.Transporter.
type Azure struct {
	live    *Live
	sim     *server.Server
	handler http.Handler
	clock   *store.Virtual
	token   func() string

	mu sync.Mutex
	// changed has the keys of the resources that writes have changed, also to nothing.
	changed map[string]bool
	// gone has the keys of those that writes have deleted.
	gone map[string]bool
	// operations has the paths at which the simulated Azure shows operations.
	operations map[string]bool
	writes     []Write
	// committed counts the changes that the simulated Azure has made.
	committed int
	// unanswered has the reasons of the live Azure for not answering reads, by path.
	unanswered map[string]string
}

// Write is a request that changes Azure.
type Write struct {
	// Actor is the object for which the request was sent, as WithActor names it.
	Actor string
	// Turn is the position of the actor among all.
	Turn int
	// At is when the request was sent, in the time of the plan.
	At time.Time
	// Method is PUT, PATCH, POST or DELETE. Path is the path of the request, as it was sent, and Query its query.
	Method, Path, Query string
	// ID is the resource: the path without the name of an action, and of tags the resource that has them.
	ID arm.ID
	// Before is the resource before the request, nil if it did not exist.
	Before json.RawMessage
	// Body is the body of the request, nil for none.
	Body json.RawMessage
	// Status is that of the answer. Refusal is the answer if it is an error.
	Status  int
	Refusal json.RawMessage
}

// New returns an Azure.
func New(o Options) (*Azure, error) {
	a := &Azure{live: o.Live, clock: o.Clock, changed: map[string]bool{}, gone: map[string]bool{}, operations: map[string]bool{}, unanswered: map[string]string{}}
	options := server.Options{Clock: o.Clock, Subscriptions: o.Subscriptions, PageSize: 1 << 20, Committed: a.recordChanges,
		AssumeRoles: true}
	if options.Origin = assumedOrigin(o.Assumed); o.Live != nil {
		options.Origin = liveOrigin{o.Live}
	}
	var err error
	if a.sim, err = server.New(options); err != nil {
		return nil, err
	}
	a.handler, a.token = a.sim.Handler(), sync.OnceValue(func() string { return a.sim.Token("") })
	return a, nil
}

// Close ends the simulated Azure.
func (a *Azure) Close() error { return a.sim.Close() }

// Writes returns the writes so far, in the order of sortWrites.
func (a *Azure) Writes() []Write {
	a.mu.Lock()
	defer a.mu.Unlock()
	return sortWrites(slices.Clone(a.writes))
}

// Changes returns how often something was changed so far: by a request, or by the end of an operation.
func (a *Azure) Changes() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.writes) + a.committed
}

func (a *Azure) recordChanges(changes []server.Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.committed++
	for _, change := range changes {
		a.changed[change.ID] = true
		if change.Body == nil {
			a.gone[change.ID] = true
		} else {
			delete(a.gone, change.ID)
		}
	}
}

// Do implements policy.Transporter.
func (a *Azure) Do(request *http.Request) (*http.Response, error) {
	if isRead(request) {
		return a.read(request)
	}
	var raw []byte
	if request.Body != nil {
		var err error
		if raw, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		_ = request.Body.Close()
		request.Body = io.NopCloser(bytes.NewReader(raw))
	}
	write := Write{Method: request.Method, Path: request.URL.Path, Query: request.URL.RawQuery, ID: resourceOf(request.URL.Path),
		At: a.clock.Now()}
	if len(raw) > 0 {
		write.Body = raw
	}
	write.Before = a.currentBody(request, write.ID)
	a.mu.Lock()
	write.Actor, write.Turn = actorOf(request.Context())
	at := len(a.writes)
	a.writes = append(a.writes, write)
	a.mu.Unlock()
	response := a.simulate(request)
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes[at].Status = response.StatusCode
	if response.StatusCode >= http.StatusBadRequest {
		a.writes[at].Refusal = answer
	}
	return response, nil
}

// isRead reports whether a request changes nothing. Some reads are POST requests, because they return secrets.
func isRead(request *http.Request) bool {
	switch request.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPost:
		action := strings.ToLower(request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:])
		return strings.HasPrefix(action, "list") || !strings.HasPrefix(request.URL.Path, "/subscriptions/")
	}
	return false
}

// tagsSuffix ends the path of the tags of a resource.
const tagsSuffix = "/providers/microsoft.resources/tags/default"

// resourceOf returns the resource that a request changes.
func resourceOf(path string) arm.ID {
	path = strings.TrimSuffix(path, "/")
	if strings.HasSuffix(strings.ToLower(path), tagsSuffix) {
		return arm.ID(path[:len(path)-len(tagsSuffix)])
	}
	if parsed, err := store.ParseID(path); err == nil && parsed.IsCollection() {
		return arm.ID(path[:strings.LastIndexByte(path, '/')]) // The last segment is the name of an action.
	}
	return arm.ID(path)
}

// simulate has the simulated Azure answer a request.
func (a *Azure) simulate(request *http.Request) *http.Response {
	served := request.Clone(request.Context())
	served.RequestURI, served.Host = request.URL.RequestURI(), request.URL.Host
	served.Header.Set("Authorization", "Bearer "+a.token())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	a.handler.ServeHTTP(recorder, served)
	response := recorder.Result()
	response.Request = request
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, header := range []string{"Azure-Asyncoperation", "Location"} {
		if at, err := request.URL.Parse(response.Header.Get(header)); err == nil && response.Header.Get(header) != "" {
			a.operations[strings.ToLower(at.Path)] = true
		}
	}
	return response
}

// currentBody returns the resource as a GET shows it now, or nil. The api-version is that of the request.
func (a *Azure) currentBody(request *http.Request, id arm.ID) json.RawMessage {
	get, err := http.NewRequestWithContext(request.Context(), http.MethodGet, "https://"+request.URL.Host+string(id), nil)
	if err != nil {
		return nil
	}
	query := get.URL.Query()
	query.Set("api-version", apiVersionFor(id, request.URL.Query().Get("api-version")))
	get.URL.RawQuery = query.Encode()
	response, err := a.read(get)
	if err != nil {
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil
	}
	return body
}
