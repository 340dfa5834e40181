package provider

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Principal is who calls.
type Principal struct {
	ClientID string
	ObjectID string
	TenantID string
}

// Env is shared by all calls. Use it only inside a store transaction.
type Env struct {
	Tenant    string
	TimeScale float64
	Rand      *rand.Rand
	Locations []string
	// Pairs are the regions that hold the copies of geo-redundant resources, by region.
	Pairs map[string]string
	// Replication is the time until Entra ID shows a new principal to role assignments, unscaled.
	Replication time.Duration
	// RemembersGroup reports whether the server of Resource Manager that answers a DELETE of a nested resource has not yet learnt that the
	// group is gone. nil: all have.
	RemembersGroup func(id string) bool
	// Quota overrides the compute limits: "cores" or a family ("standardDSv3Family"), or either after "<location>/".
	Quota map[string]int
	// FeaturesOff are features that the subscription has not registered: "Microsoft.Compute/EncryptionAtHost".
	FeaturesOff []string
	// PutDropsTags makes a PUT without tags remove the tags of a resource whose type otherwise keeps the properties
	// that a PUT leaves out.
	PutDropsTags bool
	// AssumeRoles has the identities of resources hold the roles that a service checks them for.
	AssumeRoles bool
	// OperationFault lets the fault script change an operation at its start.
	OperationFault func(op *store.Operation)
	// RequestFault returns an error the fault script wants a named check to give ("quota", "capacity"), or nil.
	RequestFault func(kind, method, typ, id string) *Error

	types  map[string]*Type
	spaces map[string]*Provider
	order  []*Provider
}

// Register adds resource providers. A namespace may be registered in parts.
func (e *Env) Register(ps ...*Provider) {
	if e.types == nil {
		e.types, e.spaces = map[string]*Type{}, map[string]*Provider{}
	}
	for _, p := range ps {
		key := strings.ToLower(p.Namespace)
		have := e.spaces[key]
		if have == nil {
			have = &Provider{Namespace: p.Namespace, Regional: map[string]func(*Call, string, []string) (*Reply, error){},
				RegionalPosts: map[string]func(*Call, string, []string) (*Reply, error){},
				Subscription:  map[string]func(*Call) (*Reply, error){}}
			e.spaces[key] = have
			e.order = append(e.order, have)
		}
		have.Types = append(have.Types, p.Types...)
		maps.Copy(have.Regional, p.Regional)
		maps.Copy(have.RegionalPosts, p.RegionalPosts)
		maps.Copy(have.Subscription, p.Subscription)
		for _, t := range p.Types {
			e.types[strings.ToLower(t.Name)] = t
		}
	}
}

// TypeOf returns the type with that full name, or nil.
func (e *Env) TypeOf(name string) *Type { return e.types[strings.ToLower(name)] }

// FindProvider returns the provider of a namespace, or nil.
func (e *Env) FindProvider(namespace string) *Provider { return e.spaces[strings.ToLower(namespace)] }

// Providers returns all providers in the order they were registered.
func (e *Env) Providers() []*Provider { return e.order }

// InlineTypes returns the types kept inside typ.
func (e *Env) InlineTypes(typ string) []*Type {
	p := e.FindProvider(strings.SplitN(typ, "/", 2)[0])
	if p == nil {
		return nil
	}
	var out []*Type
	for _, t := range p.Types {
		if t.Inline != "" && strings.EqualFold(t.Name[:strings.LastIndexByte(t.Name, '/')], typ) {
			out = append(out, t)
		}
	}
	return out
}

func (e *Env) pairOf(region string) string { return e.Pairs[region] }

// NewGUID returns a random GUID of the seeded generator.
func (e *Env) NewGUID() string { return DrawGUID(e.Rand) }

// DrawGUID draws a GUID.
func DrawGUID(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

// DrawDuration takes a duration from the log-normal distribution around median, unscaled.
func (e *Env) DrawDuration(median time.Duration, spread float64) time.Duration {
	if median <= 0 {
		return 0
	}
	if spread == 0 {
		spread = 0.35
	}
	return time.Duration(float64(median) * math.Exp(spread*e.Rand.NormFloat64()))
}

// Seconds returns a duration in seconds.
func Seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// ScaleDuration multiplies by the time scale.
func (e *Env) ScaleDuration(d time.Duration) time.Duration {
	return time.Duration(float64(d) * e.TimeScale)
}

// Call is one request, or the end of one operation, inside a transaction.
type Call struct {
	*store.Tx
	*Env
	Method     string
	ID         store.ID
	Type       *Type
	APIVersion string
	Query      url.Values
	Header     http.Header
	Body       body.Object
	Principal  Principal
	RequestID  string
	BaseURL    string // "https://host" as the client wrote it
	// Internal is set when the simulator itself calls, for example to delete the resources of a resource group.
	Internal bool

	edge string // edge zone of the resource being written
}

// CallOn makes a call on another resource with the same circumstances.
func (c *Call) CallOn(method, id string) (*Call, error) {
	parsed, err := store.ParseID(id)
	if err != nil {
		return nil, err
	}
	n := *c
	n.Method, n.ID, n.Type = method, parsed, c.TypeOf(parsed.Type())
	n.Query, n.Body = url.Values{}, nil
	n.Header = http.Header{}
	n.Internal = true
	return &n, nil
}

// FindItem returns the resource or inline child with that ID, or nil.
func (c *Call) FindItem(id string) *Item {
	if r := c.Get(id); r != nil {
		return &Item{ID: r.ID, Name: r.Name(), Location: r.Location, Body: r.Body, Resource: r}
	}
	parsed, err := store.ParseID(id)
	if err != nil || len(parsed.Names) < 2 || parsed.IsCollection() {
		return nil
	}
	t := c.TypeOf(parsed.Type())
	if t == nil || t.Inline == "" {
		return nil
	}
	parent := c.FindItem(parsed.Parent().String())
	if parent == nil {
		return nil
	}
	if _, e := body.FindNamed(body.Objects(parent.Body, t.Inline), parsed.Name()); e != nil {
		return &Item{ID: parent.ID + "/" + lastType(t.Name) + "/" + body.String(e, "name"), Name: body.String(e, "name"),
			Location: parent.Location, Body: e, Resource: parent.Resource}
	}
	return nil
}

// RequireReference returns a referenced resource. It must exist, be of the type (any when ""), in the location (any when "") and
// in the edge zone of the referring resource, and not be in the middle of an operation; otherwise the error is
// Azure's. from is the ID of the referring resource.
func (c *Call) RequireReference(id, from, typ, location string) (*Item, error) {
	parsed, err := store.ParseID(id)
	if err != nil || parsed.IsCollection() {
		return nil, networkError(Errorf(400, "LinkedInvalidPropertyId",
			"Property id '%s' at path 'properties' is invalid. Expect fully qualified resource Id that start with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.", id))
	}
	if typ != "" && !strings.EqualFold(parsed.Type(), typ) {
		return nil, networkError(Errorf(400, "InvalidResourceReference", "Resource %s referenced by resource %s is of type %s, expected %s.", id,
			from, parsed.Type(), typ))
	}
	it := c.FindItem(id)
	if it == nil || location != "" && c.IsElsewhere(it, location) {
		return nil, InvalidReference(id, c.nameInErrors(from))
	}
	state, busy := body.String(it.Body, statePath), c.nameInErrors(it.ID)
	if whole := c.deletedWhole(it.ID); whole != "" {
		state, busy = "Deleting", whole
	}
	if state == "Updating" || state == "Deleting" {
		verb := "Put"
		if state == "Deleting" {
			verb = "Delete"
		}
		parsed, _ = store.ParseID(busy)
		short := singularName(lastType(parsed.Type()))
		msg := fmt.Sprintf("Cannot proceed with operation because resource %s used by resource %s is not in Succeeded state. Resource is in %s state and the last operation that updated/is updating the resource is %s%sOperation.", busy, c.nameInErrors(from), state, verb, short)
		e := networkError(Errorf(429, "RetryableError",
			"A retryable error occurred.").WithDetail(Errorf(0, "ReferencedResourceNotProvisioned", "%s", msg)))
		return nil, e // without Retry-After, as recorded
	}
	return it, nil
}

// deletedWhole returns the ID of the resource that is being deleted and takes the nested resource with that ID along, or "". That Azure
// names it in the error is an assumption.
func (c *Call) deletedWhole(id string) string {
	parsed, err := store.ParseID(id)
	for err == nil && len(parsed.Names) > 1 {
		parsed = parsed.Parent()
		if r := c.Get(parsed.String()); r != nil && body.String(r.Body, statePath) == "Deleting" {
			return r.ID
		}
	}
	return ""
}

// nameInErrors returns the name of a resource in errors. A part without a URL for writes, such as an IP configuration, has
// the name of its whole. Recordings: Test_Network_v1api20220701_CreationAndDeletion and others whose interfaces and
// load balancers came too soon.
func (c *Call) nameInErrors(id string) string {
	for {
		parsed, err := store.ParseID(id)
		if err != nil || len(parsed.Names) < 2 {
			return id
		}
		if t := c.TypeOf(parsed.Type()); t == nil || !t.ReadOnly {
			return id
		}
		id = parsed.Parent().String()
	}
}

// lastType returns the last part of a type name.
func lastType(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// singularName makes the operation name Azure uses: "virtualNetworks" -> "VirtualNetwork".
func singularName(typ string) string {
	s := strings.ToUpper(typ[:1]) + typ[1:]
	switch {
	case s == "PublicIPAddresses":
		return "PublicIpAddress" // as recorded
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "xes"):
		return s[:len(s)-2]
	case strings.HasSuffix(s, "ies"):
		return s[:len(s)-3] + "y"
	}
	return strings.TrimSuffix(s, "s")
}

// NormalizeLocation normalises "East US 2" to "eastus2".
func NormalizeLocation(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }

var zoneless = map[string]bool{"northcentralus": true, "westus": true, "westcentralus": true, "eastasia": true, "canadaeast": true,
	"ukwest": true, "japanwest": true}

// HasZones reports whether a region has availability zones 1, 2 and 3.
func HasZones(location string) bool { return !zoneless[NormalizeLocation(location)] }

// NetworkError makes an error in the network provider's form, which always has "details".
func NetworkError(status int, code, format string, args ...any) *Error {
	return networkError(Errorf(status, code, format, args...))
}
