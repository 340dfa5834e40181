package provider

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Style is a provider's wire format of long-running operations.
type Style string

// The wire styles seen in recordings of Azure.
const (
	Network    Style = "net"  // Azure-AsyncOperation on PUT, both headers on DELETE; 200 polls
	Compute    Style = "cmp"  // as Network, with startTime and name in the polls, Location is ...&monitor=true
	Disk       Style = "disk" // 202 with both headers
	PrivateDNS Style = "dns"  // 202 with an empty body, polls are 202 while running
	Containers Style = "aks"  // Azure-AsyncOperation without Retry-After
	Extension  Style = "ext"  // Azure-AsyncOperation below the resource, polls show the resource's state; Location of a PUT is the resource
	Deployment Style = "depl" // Azure-AsyncOperation below the deployment, polls show Running; DELETE as Group, ended by 204
	Group      Style = "rg"   // only Location; polls are 202, then 200
	Results    Style = "res"  // only Location; polls are 202, then 200 with the resource
	Common     Style = "arm"  // Azure-AsyncOperation on PUT, both headers on DELETE; polls show ID, name and times
	Silent     Style = "none" // no header: only the resource's state shows the progress
	Sync       Style = "sync" // never long-running
)

// EtagStyle is the format of a provider's etags.
type EtagStyle int

// Etag styles.
const (
	NoEtag  EtagStyle = iota
	Weak              // W/"<guid>", new on every state change; shown as property and header
	Counter           // "1", "2", ...
	Bare              // a GUID without quotes
	Quoted            // "<guid>"
)

// Provider is one resource provider namespace.
type Provider struct {
	Namespace string
	Types     []*Type
	// Regional answers GET /subscriptions/s/providers/<namespace>/locations/<l>/<key>/…; keys in lower case.
	Regional map[string]func(c *Call, location string, rest []string) (*Reply, error)
	// RegionalPosts answers POSTs there.
	RegionalPosts map[string]func(c *Call, location string, rest []string) (*Reply, error)
	// Subscription answers GET /subscriptions/s/providers/<namespace>/<key>; keys in lower case.
	Subscription map[string]func(c *Call) (*Reply, error)
}

// Timing has the durations on Azure: medians. A zero LRO makes the verb synchronous.
type Timing struct {
	HTTP   time.Duration // the request itself
	LRO    time.Duration // from accept to the end of the operation
	Spread float64       // sigma of the log-normal distribution; 0 means 0.35
}

// Type is one resource type. See the package documentation for how the parts work together.
type Type struct {
	Name        string   // canonical: "Microsoft.Network/virtualNetworks/subnets"
	APIVersions []string // advertised by the provider; newest first

	Style Style
	Etag  EtagStyle
	// EtagSince is the first api-version that shows the etag and heeds preconditions; "": all do.
	EtagSince string
	Create    Timing
	Update    Timing // zero: as Create
	Delete    Timing
	Read      Timing

	RetryAfter       int  // seconds on an accepted PUT; 0: no header
	UpdateRetryAfter int  // on a PUT of an existing resource; -1: none; 0: as RetryAfter
	DeleteRetryAfter int  // 0: 10; -1: none
	DeleteShows      bool // an accepted DELETE is answered with the resource
	AcceptedStatus   int  // status of an accepted PUT; 0: 201 for new, 200 otherwise
	// Echoes makes the answer to an accepted PUT show the sent body, a state and these of id, name and type.
	Echoes    []string
	Immediate bool // PUT answers Succeeded at once although the operation header is sent (load balancers)
	// Waits takes a new resource back out of Immediate.
	Waits          func(d *Draft) bool
	DeleteStatus   int    // of a synchronous DELETE; 0: 200
	StateNew       string // provisioningState while creating; "" means by Style
	NoState        bool   // has no provisioningState at all
	LocationHeader bool   // a PUT sends the resource's ID as Location
	// Polls are answered with the state of the operation and nothing else, or with an empty object as its result.
	TersePolls, EmptyResult bool

	Inline   string // property of the parent that holds this type; "" when stored by itself
	ReadOnly bool   // inline child without PUT and DELETE of its own
	// KeepOmitted reports, for an inline type, whether a PUT of the parent without the property keeps the children.
	KeepOmitted func(apiVersion string) bool

	Extension     bool     // may stand at any scope, tenant and subscription included
	Untracked     bool     // has neither location nor tags
	Global        bool     // location is always "global"
	EdgeZones     bool     // may be in an edge zone: has an extendedLocation
	PutMerges     bool     // PUT keeps the properties that it does not mention
	LowerID       bool     // renders .../resourcegroups/...
	Immutable     []string // paths that may not change; answered with PropertyChangeNotAllowed
	ReadOnlyPaths []string // dropped from PUT bodies; "[]" steps into arrays
	// Since maps paths to the first api-version that shows them, for changes before the versions of definitions/ and
	// those that are in none.
	Since map[string]string
	// Works makes a PUT an operation even when it changes nothing.
	Works bool
	// ShowOperation changes the answer to a poll of the operation's URL.
	ShowOperation func(op *store.Operation, rep *Reply, shown body.Object)
	// Missing is the provider's own answer for a resource that does not exist in an existing parent; nil: that of its style.
	Missing func(c *Call) *Error
	// NameRule checks a new resource's name.
	NameRule func(name string) *Error

	// Serial returns the IDs no two operations may hold at once. nil: the top-level resource.
	Serial func(id store.ID) []string

	Prepare   func(c *Call, d *Draft) error
	Finish    func(c *Call, op *store.Operation, r *store.Resource) error // r may be changed; it is stored afterwards
	CanDelete func(c *Call, it *Item) error
	// StartDelete runs when a DELETE is accepted.
	StartDelete func(c *Call, r *store.Resource)
	// WaitDelete may return Again while something the deletion needs is not done yet.
	WaitDelete func(c *Call, op *store.Operation, r *store.Resource) error
	Deleted    func(c *Call, r *store.Resource)
	View       func(c *Call, it *Item)
	Patch      func(c *Call, d *Draft) error // nil: tags only
	PatchLRO   Timing
	Actions    map[string]*Action                                 // POST <resource>/<key>; keys in lower case
	Reads      map[string]func(c *Call, it *Item) (*Reply, error) // GET <resource>/<key>; keys in lower case
	// Whole makes a list one page, as where the SDK's answer has no nextLink.
	Whole bool
	// EmptyEnd has an empty page follow the last page of a list.
	EmptyEnd bool
	// ListMore adds resources that are stored as another type to a list.
	ListMore func(c *Call) []any
	// ListFilter narrows a list by the request's $filter and $expand. CheckFilter refuses a $filter that it does not know.
	ListFilter  func(c *Call, r *store.Resource) bool
	CheckFilter func(c *Call) error
	// Inherited has lists show the resources of the scopes above, too.
	Inherited bool
}

// initialState returns the provisioningState of a resource that is being made.
func (t *Type) initialState() string {
	if t.StateNew != "" {
		return t.StateNew
	}
	if t.Style == Compute || t.Style == Containers || t.Style == PrivateDNS {
		return "Creating"
	}
	return "Updating"
}

// ListVersions returns the api-versions that the provider advertises for the type, newest first.
func (t *Type) ListVersions() []string {
	if len(t.APIVersions) > 0 {
		return t.APIVersions
	}
	namespace, _, _ := strings.Cut(t.Name, "/")
	if known := defaultVersions[strings.ToLower(namespace)]; known != nil {
		return known
	}
	return []string{"2025-04-01", "2024-03-01", "2022-07-01", "2021-04-01"}
}

var defaultVersions = map[string][]string{
	"microsoft.network":         {"2025-05-01", "2024-05-01", "2023-05-01", "2022-07-01", "2020-11-01"},
	"microsoft.compute":         {"2025-04-01", "2024-11-01", "2024-03-01", "2023-07-03", "2021-07-01"},
	"microsoft.managedidentity": {"2024-11-30", "2023-01-31"},
	"microsoft.authorization":   {"2022-04-01", "2020-05-01", "2016-09-01"},
}

// Action is a POST on a resource.
type Action struct {
	Timing     Timing
	RetryAfter int
	// Start validates. For a synchronous action (no LRO) its Reply is the answer; otherwise the Reply's body, if an object, becomes
	// the operation's Data.
	Start func(c *Call, r *store.Resource) (*Reply, error)
	// Finish runs when the operation ends, Break when it ends as a fault has it.
	Finish func(c *Call, op *store.Operation, r *store.Resource) error
	Break  func(c *Call, op *store.Operation, r *store.Resource)
}

// Draft is the resource that a PUT or PATCH is about to store. Old and Parent must not be changed.
type Draft struct {
	ID       string
	Name     string
	Location string
	Old      body.Object // nil when new
	New      body.Object
	// Parent is, for an inline type, the parent as it will be stored; ParentID its ID.
	Parent   body.Object
	ParentID string
	// Secret holds write-only values; Prepare moves them there.
	Secret body.Object
	// Sent is the request body before the type's ReadOnlyPaths were dropped and old values were merged in.
	Sent body.Object
}

// Item is something to be shown or deleted: a stored resource or an inline child. Body is a copy.
type Item struct {
	ID       string
	Name     string
	Location string
	Body     body.Object
	Resource *store.Resource // the stored one; for an inline child, its parent
}

// Reply is an answer of a hook.
type Reply struct {
	Status int
	Body   any // nil: empty
	Header map[string]string
	// Operation was started by the request.
	Operation  *store.Operation
	RetryAfter time.Duration // not scaled
	Etag       string
}

// OK answers 200 with a body.
func OK(b any) *Reply { return &Reply{Status: 200, Body: b} }

// Again is returned by Finish and WaitDelete: ask once more after that time (scaled).
type Again time.Duration

// Error implements error.
func (a Again) Error() string { return "not done yet" }

// Wait is Again without scaling: for waits that depend on something outside the simulator.
type Wait time.Duration

// Error implements error.
func (w Wait) Error() string { return "waiting" }

// postponedFor returns how long to wait when err is a request to be called again.
func (c *Call) postponedFor(err error) (time.Duration, bool) {
	switch w := err.(type) {
	case Again:
		return max(c.ScaleDuration(time.Duration(w)), time.Millisecond), true
	case Wait:
		return time.Duration(w), true
	}
	return 0, false
}

// Keep carries a read-only value over from the stored body, or makes it.
func (d *Draft) Keep(path string, make func() string) {
	if old := body.String(d.Old, path); old != "" {
		body.Set(d.New, path, old)
	} else {
		body.Set(d.New, path, make())
	}
}
