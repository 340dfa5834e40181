// Package server is the simulated Azure as an http.Handler: Azure Resource Manager, Microsoft Entra ID tokens, managed identity
// and metadata endpoints, and a control API under /_sim/.
//
// Its promise: requests of an unmodified Azure client are answered as Azure would, with Azure's status codes, headers, error codes and
// wire styles of long-running operations; nothing that was acknowledged is lost when a state directory is set; and with a virtual
// clock and a seed the answers are the same on every run.
//
// A test uses it like this:
//
//	clock := store.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
//	sim, err := server.New(server.Options{Clock: clock, TimeScale: 1})
//	ts := httptest.NewTLSServer(sim.Handler())
//	// point azcore at ts.URL with ts.Client(), token from sim.Token("")
//	sim.Advance(time.Minute) // operations end only now
package server

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Defaults used when Options leaves a field empty.
const (
	DefaultSubscription = "00000000-0000-0000-0000-000000000001"
	DefaultTenant       = "72f988bf-0000-0000-0000-000000000000"
	DefaultClientID     = "11111111-1111-1111-1111-111111111111"
	DefaultSecret       = "simulated-secret"
)

// Principal is an application that may log in. One that has several secrets is listed with each.
type Principal struct {
	ClientID string
	Secret   string // empty: no login by secret
	ObjectID string // empty: derived from the client ID
}

// Options configure a simulator. The zero value works: one subscription, one principal, everything at once, nothing on disk.
type Options struct {
	Clock     store.Clock // nil: the wall clock
	TimeScale float64     // multiplies measured latencies; 1 is Azure's speed, 0 at once (an operation still shows InProgress once)
	// AdvanceOnPoll has polls move a virtual clock: each GET of a running operation, or of the resource that it changes, moves it by ten
	// seconds, and clients are asked to poll again at once. A client that only polls then reaches the end without real time.
	AdvanceOnPoll bool
	Seed          uint64
	Tenant        string
	Subscriptions []string
	Principals    []Principal
	Locations     []string       // regions served; nil: all of the built-in catalogue
	StateDir      string         // "": in memory
	RequestLog    io.Writer      // one JSON object per request and line; nil: none
	ChangeLog     io.Writer      // one JSON object per changed resource and line, without write-only values; nil: none
	Throttle      *Throttle      // nil: Azure's limits on a running clock, none on a virtual one
	PageSize      int            // entries per page of a list; 0: 1000
	Quota         map[string]int // compute limits: "cores" or a family, or either after "<location>/"; others are far away
	FeaturesOff   []string       // features that are not registered, as in "Microsoft.Compute/EncryptionAtHost"; nil: all are
	Unregistered  []string       // resource providers that are not registered at the start, as in "Microsoft.Compute"; nil: all are
	// PutDropsTags makes a PUT without tags remove the tags of a virtual machine, scale set or disk. It is off by
	// default: by Microsoft's page on PUTs such a PUT leaves the properties that it does not mention,
	// https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update. That
	// this holds for tags is an assumption. A recording agrees, but a policy may have set its tags anew: the second
	// PUT of a scale set in Test_Insights_v1api_CreationAndDeletion of github.com/Azure/azure-service-operator/v2
	// v2.18.0.
	PutDropsTags bool
	Replication  time.Duration // how long Entra ID needs to show a new principal to role assignments; scaled
	// RemembersGroup reports whether the server of Resource Manager that answers the DELETE of a nested resource does not know yet that
	// their group was deleted. nil: all know.
	RemembersGroup func(id string) bool
	ControlToken   string   // required in X-Sim-Token for /_sim/ when set
	EnforceRBAC    bool     // callers may do only what their role assignments allow
	Owners         []string // client IDs that may do everything even with roles enforced, so that roles can be assigned at all
	// Committed is called with the resources that changed, before another request sees them; it must not call the server. Nil is not called.
	Committed func([]Change)
	// Origin has the resources with which the simulator begins. Each is copied when it is first needed. Nil has none.
	Origin Origin
	// AssumeRoles has the identities of resources hold the roles that a service checks them for: an Origin does not list its role assignments.
	AssumeRoles bool
}

// Server is a running simulator. All methods are safe for concurrent use.
type Server struct {
	opts   Options
	store  *store.Store
	env    *provider.Env
	faults *fault.Script
	views  views
	entra  *entra
	tls    *authority
	log    *requestLog
	limits *limiter
	guests *guestView
	aks    *clusterView
	stop   chan struct{}
	once   sync.Once
	pollMu sync.Mutex
	polls  map[string]int
	// deployMu is held while deployments are taken further, which takes requests of their own.
	deployMu sync.Mutex
	idMu     sync.Mutex
	ids      *rand.Rand
	// tokenIDs is a source of its own, so that IDs of requests do not depend on the number of tokens.
	tokenIDs *rand.Rand
	// random holds the sources of random numbers: operations draws for operations, ids for requests.
	random struct{ operations, ids *rand.PCG }
}

// New starts a simulator.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = store.Real{}
	}
	if len(o.Subscriptions) == 0 {
		o.Subscriptions = []string{DefaultSubscription}
	}
	if o.Tenant == "" {
		o.Tenant = DefaultTenant
	}
	if len(o.Principals) == 0 {
		o.Principals = []Principal{{ClientID: DefaultClientID, Secret: DefaultSecret}}
	}
	if len(o.Locations) == 0 {
		o.Locations = regionNames()
	}
	o.Locations = slices.Clone(o.Locations)
	for i, location := range o.Locations {
		// As requests have them: WestEurope and "West Europe" are westeurope.
		o.Locations[i] = provider.NormalizeLocation(location)
	}
	if o.PageSize == 0 {
		o.PageSize = 1000
	}
	dir := o.StateDir
	if dir != "" {
		dir = filepath.Join(dir, "state")
	}
	st, err := store.Open(o.Clock, dir)
	if err != nil {
		return nil, err
	}
	s, err := newServer(o, st)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return s, nil
}

func newServer(o Options, st *store.Store) (*Server, error) {
	s := &Server{opts: o, store: st, faults: &fault.Script{}, stop: make(chan struct{}), polls: map[string]int{}}
	var restarts uint64
	if err := st.Update(func(tx *store.Tx) error {
		tx.ReadNote("restarts", &restarts)
		tx.SetMeta("restarts", restarts+1)
		// The rules of the former process are gone, so nothing else would end these operations.
		releaseStuck(tx, func(store.Operation) bool { return true })
		return nil
	}); err != nil {
		return nil, err
	}
	// Requests that change nothing draw IDs, too. Their separate source leaves the numbers of operations unchanged.
	s.random.operations, s.random.ids = rand.NewPCG(o.Seed, restarts), rand.NewPCG(o.Seed, ^restarts)
	s.ids, s.tokenIDs = rand.New(s.random.ids), rand.New(rand.NewPCG(^o.Seed, restarts))
	s.env = &provider.Env{Tenant: o.Tenant, TimeScale: o.TimeScale, Rand: rand.New(s.random.operations), Locations: o.Locations, Pairs: regionPairs(),
		Quota: o.Quota, FeaturesOff: o.FeaturesOff, PutDropsTags: o.PutDropsTags, AssumeRoles: o.AssumeRoles, Replication: o.Replication,
		RemembersGroup: o.RemembersGroup}
	s.env.OperationFault = s.operationFault
	s.env.RequestFault = s.checkFault
	s.env.Register(s.listProviders()...)
	var err error
	if s.entra, err = newEntra(s); err != nil {
		return nil, err
	}
	if s.tls, err = newAuthority(o.StateDir); err != nil {
		return nil, err
	}
	s.log = newRequestLog(o.RequestLog)
	s.limits = newLimiter(o)
	s.guests = newGuestView(s)
	s.aks = newClusterView(s)
	if o.Committed != nil || o.ChangeLog != nil {
		s.showCommits()
	}
	if o.Origin != nil {
		st.SetOrigin(storeOrigin{from: o.Origin, env: s.env})
	}
	if _, virtual := o.Clock.(*store.Virtual); !virtual {
		go s.runClock()
	}
	return s, nil
}

// Close stops the simulator's clockwork and releases the state directory.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.stop) })
	return s.store.Close()
}

// Handler serves everything on one listener.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveExchange) }

// Requests returns the requests logged so far, in the order in which they ended.
func (s *Server) Requests() []RequestRecord { return s.log.allRecords() }

// AddFault appends a rule to the fault script. Rules with Now act before AddFault returns.
func (s *Server) AddFault(r fault.Rule) error {
	if err := s.checkFaultRule(r); err != nil {
		return err
	}
	if !r.Now {
		return s.faults.Add(r)
	}
	return s.disturbNow(r)
}

// checkFaultRule returns an error for a faulty rule, and for one of a type that no request can have: it would never act.
func (s *Server) checkFaultRule(r fault.Rule) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.Type != "" && s.env.TypeOf(r.Type) == nil {
		return fmt.Errorf("type %q is unknown, so the rule would never act: correct its spelling, as in Microsoft.Compute/virtualMachines", r.Type)
	}
	return nil
}

// RemoveFault removes the rule of a number, and reports whether there was one. Operations that are stuck end now unless another rule has
// them stuck.
func (s *Server) RemoveFault(number int) bool {
	if !s.faults.Remove(number) {
		return false
	}
	s.endStuck(func(op store.Operation) bool { return !s.faults.HasStuck(methodOf(op.Verb), op.Type, op.ResourceID) })
	return true
}

// Faults returns the rules of the fault script with how often each acted.
func (s *Server) Faults() []fault.Use { return s.faults.ListUses() }

// ClearFaults removes all rules. Operations that are stuck end now.
func (s *Server) ClearFaults() {
	s.faults.Clear()
	s.views.clearViews()
	s.endStuck(func(store.Operation) bool { return true })
}

// endStuck ends stuck operations that are chosen.
func (s *Server) endStuck(chosen func(store.Operation) bool) {
	_ = s.store.Update(func(tx *store.Tx) error {
		releaseStuck(tx, chosen)
		return nil
	})
	_ = s.runDue()
}

// releaseStuck makes stuck operations that are chosen due.
func releaseStuck(tx *store.Tx, chosen func(store.Operation) bool) {
	for _, running := range tx.Running() {
		if !running.Due.IsZero() || !chosen(*running) {
			continue
		}
		op := tx.Operation(running.ID)
		op.Due = tx.Now()
		tx.PutOperation(op)
	}
}

// Token returns a bearer token for a client ID, or for the first principal when it is "".
func (s *Server) Token(clientID string) string {
	if clientID == "" {
		clientID = s.opts.Principals[0].ClientID
	}
	return s.entra.issueToken(clientID, "https://management.core.windows.net/", "")
}

// showResource renders a stored resource as a GET would; nil for a type that is not served.
func (s *Server) showResource(tx *store.Tx, r *store.Resource) body.Object {
	t := s.env.TypeOf(r.Type)
	if t == nil {
		return nil
	}
	c := &provider.Call{Tx: tx, Env: s.env, BaseURL: "https://management.azure.com", Type: t}
	c.ID, _ = store.ParseID(r.ID)
	return c.RenderResource(r)
}

// State returns every stored resource as a GET would show it, without write-only values, ordered by ID.
func (s *Server) State() []body.Object {
	var out []body.Object
	s.store.View(func(tx *store.Tx) {
		for _, r := range tx.List("", "") {
			if shown := s.showResource(tx, r); shown != nil {
				out = append(out, shown)
			}
		}
	})
	return out
}

// Operations returns every long-running operation in the order they started.
func (s *Server) Operations() []*store.Operation {
	var out []*store.Operation
	s.store.View(func(tx *store.Tx) { out = tx.Operations() })
	return out
}

// Advance moves a virtual clock by d and ends the operations that become due, each at its own time.
func (s *Server) Advance(d time.Duration) {
	v, ok := s.opts.Clock.(*store.Virtual)
	if !ok {
		return
	}
	until := v.Now().Add(d)
	for {
		due, any := s.nextDue()
		if !any || due.After(until) {
			break
		}
		v.Set(due)
		if s.runDue() != nil {
			break
		}
	}
	v.Set(until)
	_ = s.runDue()
}

// Settle moves a virtual clock until no operation is running, except those that are stuck. It returns how far the clock moved.
func (s *Server) Settle() time.Duration {
	v, ok := s.opts.Clock.(*store.Virtual)
	if !ok {
		return 0
	}
	start := v.Now()
	for {
		due, any := s.nextDue()
		if !any {
			return v.Now().Sub(start)
		}
		v.Set(due)
		if s.runDue() != nil {
			return v.Now().Sub(start)
		}
	}
}

// nextDue returns the time when the next operation ends.
func (s *Server) nextDue() (time.Time, bool) {
	var due time.Time
	s.store.View(func(tx *store.Tx) {
		for op := range tx.EachRunning() {
			if !op.Due.IsZero() && (due.IsZero() || op.Due.Before(due)) {
				due = op.Due
			}
		}
	})
	return due, !due.IsZero()
}

// runDue ends every operation that is due. It stops at one whose end cannot be stored.
func (s *Server) runDue() error {
	for range 100000 {
		done, deployment := false, ""
		err := s.store.Update(func(tx *store.Tx) error {
			op := firstDue(tx)
			if op == nil {
				return nil
			}
			if resources.IsDeployment(op) {
				done, deployment = true, op.ID
				return nil
			}
			id, err := store.ParseID(op.ResourceID)
			if err != nil {
				return err
			}
			c := &provider.Call{Tx: tx, Env: s.env, Method: "PUT", ID: id, APIVersion: op.APIVersion, RequestID: op.RequestID,
				BaseURL: "https://management.azure.com", Internal: true,
				Header: http.Header{}, Principal: provider.Principal{ObjectID: op.Principal, TenantID: s.opts.Tenant}}
			c.CompleteOperation(op)
			done = true
			return nil
		})
		if err != nil || !done {
			return err
		}
		if deployment != "" {
			s.stepDeployment(deployment)
		}
	}
	return nil
}

// firstDue returns the operation to be ended next, nil when none is due. Deployments come behind all others, because they wait for others.
func firstDue(tx *store.Tx) (first *store.Operation) {
	now := tx.Now()
	for op := range tx.EachRunning() {
		if op.Due.IsZero() || op.Due.After(now) {
			continue
		}
		if first == nil || isEndedBefore(op, first) {
			first = op
		}
	}
	return first
}

func isEndedBefore(op, other *store.Operation) bool {
	if deployment := resources.IsDeployment(op); deployment != resources.IsDeployment(other) {
		return !deployment
	}
	return op.CompareDue(other) < 0
}

// retryEnd is the interval in which the clockwork tries again to store the end of an operation.
const retryEnd = time.Second

// runClock ends operations when their time has come, for clocks that move by themselves.
func (s *Server) runClock() {
	for {
		failure := s.runDue()
		changed := s.store.Changed()
		wait := time.Hour
		if failure != nil {
			wait = retryEnd
		} else if due, any := s.nextDue(); any {
			wait = due.Sub(s.opts.Clock.Now())
		}
		if wait <= 0 {
			continue
		}
		t := time.NewTimer(wait)
		select {
		case <-s.stop:
			t.Stop()
			return
		case <-changed:
		case <-t.C:
		}
		t.Stop()
	}
}

func (s *Server) knownSubscription(id string) bool {
	return slices.ContainsFunc(s.opts.Subscriptions, func(k string) bool { return strings.EqualFold(k, id) })
}

// addFaults adds all rules, or none if one is faulty.
func (s *Server) addFaults(rules []fault.Rule) error {
	for i, rule := range rules {
		if err := s.checkFaultRule(rule); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	for _, rule := range rules {
		if err := s.AddFault(rule); err != nil {
			return err
		}
	}
	return nil
}

// LoadFaults appends the rules of a JSON array, or one rule.
func (s *Server) LoadFaults(raw []byte) error {
	rules, err := fault.Parse(raw)
	if err != nil {
		return fmt.Errorf("faults: %w", err)
	}
	return s.addFaults(rules)
}
