package server

import (
	"iter"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/authorization"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resourcehealth"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const groupType = "Microsoft.Resources/resourceGroups"

// identifyResource finds the resource type and ID of the path, as far as there is one; faults and latencies go by it.
func (x *exchange) identifyResource() {
	path := "/" + strings.Join(x.segs, "/")
	id, err := store.ParseID(path)
	if err != nil {
		return
	}
	x.call.ID = id
	if t := x.s.env.TypeOf(id.Type()); t != nil {
		x.call.Type = t
		return
	}
	// The last segment may be an action or a read below a resource.
	if id.IsCollection() && len(id.Types) > 1 {
		if t := x.s.env.TypeOf(id.Parent().Type()); t != nil {
			x.call.Type, x.call.ID = t, id.Parent()
		}
	}
}

// onlyMethod returns the method of a path of Azure Resource Manager itself that has one, "" for all other paths.
func (x *exchange) onlyMethod() string {
	switch path := strings.Join(x.lower, "/"); {
	case readOnlyPaths.MatchString(path):
		return http.MethodGet
	case postOnlyPaths.MatchString(path):
		return http.MethodPost
	}
	return ""
}

var (
	readOnlyPaths = regexp.MustCompile(`^(subscriptions(/[^/]+)?|tenants|(subscriptions/[^/]+/)?providers(/[^/]+)?` +
		`|subscriptions/[^/]+/(locations|resources|tagnames|resourcegroups|operationresults/[^/]+|resourcegroups/[^/]+/resources` +
		`|providers/microsoft.features/(features|providers/[^/]+/features(/[^/]+)?)|providers/microsoft.insights/eventtypes/management/values))$`)
	postOnlyPaths = regexp.MustCompile(`^(providers/microsoft.resourcegraph/resources` +
		`|subscriptions/[^/]+/providers/[^/]+/(register|unregister)|subscriptions/[^/]+/providers/microsoft.features/providers/[^/]+/features/[^/]+/[^/]+)$`)
)

// dispatchPath finds who answers the path.
func (x *exchange) dispatchPath() (*provider.Reply, error) {
	if only := x.onlyMethod(); only != "" && x.r.Method != only {
		return nil, x.refuseMethod()
	}
	l, n := x.lower, len(x.lower)
	switch {
	case n == 1 && l[0] == "subscriptions":
		return x.pageOfList(x.listSubscriptions()), nil
	case n == 1 && l[0] == "tenants":
		return x.pageOfList(x.listTenants()), nil
	case n >= 1 && n <= 2 && l[0] == "providers":
		return x.answerProviders("", l[1:])
	case n == 3 && l[0] == "providers" && l[1] == "microsoft.resourcegraph" && l[2] == "resources":
		return x.answerResourceGraph()
	case n < 2:
		return nil, provider.GatewayErrorf(404, "InvalidResourceNamespace", "The path '%s' names no resource.", x.r.URL.Path)
	}
	if l[0] == "subscriptions" {
		if !x.s.knownSubscription(l[1]) {
			return nil, provider.GatewayErrorf(404, "SubscriptionNotFound", "The subscription '%s' could not be found.", x.segs[1])
		}
		if rep, err, done := x.ofSubscription(); done {
			return rep, err
		}
	}
	if i := lastProvider(l); i >= 0 {
		if rep, err, done := x.ofProvider(i); done {
			return rep, err
		}
	}
	return x.ofResource()
}

func firstSegment(rest []string) string {
	if len(rest) == 0 {
		return ""
	}
	return rest[0]
}

func lastProvider(l []string) int {
	for i := len(l) - 2; i >= 0; i-- {
		if l[i] == "providers" && i%2 == 0 {
			return i
		}
	}
	return -1
}

// ofSubscription answers the paths of Azure Resource Manager itself below a subscription.
func (x *exchange) ofSubscription() (*provider.Reply, error, bool) {
	l, n := x.lower, len(x.lower)
	switch {
	case n == 2:
		return provider.OK(x.showSubscription(x.segs[1])), nil, true
	case n == 3 && l[2] == "locations":
		return x.pageOfList(x.listLocations(x.segs[1])), nil, true
	case n == 3 && l[2] == "resources":
		rep, err := x.pageOfListing(x.genericList("/subscriptions/" + x.segs[1]))
		return rep, err, true
	case n == 3 && l[2] == "tagnames":
		return x.pageOfList([]any{}), nil, true
	case n == 3 && l[2] == "resourcegroups":
		x.call.Type = x.s.env.TypeOf(groupType)
		rep, err := x.pageOfListing(x.listGroups())
		return rep, err, true
	case n == 4 && l[2] == "operationresults":
		rep, err := x.groupOperation(x.segs[3])
		return rep, err, true
	case n >= 5 && l[2] == "providers" && l[3] == "microsoft.features":
		rep, err := x.answerFeatures()
		return rep, err, true
	case n == 7 && strings.Join(l[2:], "/") == "providers/microsoft.insights/eventtypes/management/values":
		rep, err := x.answerActivityLog()
		return rep, err, true
	case n >= 3 && n <= 5 && l[2] == "providers" && (n < 5 || l[4] == "register" || l[4] == "unregister"):
		rep, err := x.answerProviders(x.segs[1], l[3:])
		return rep, err, true
	case n == 5 && l[2] == "resourcegroups":
		return x.ofGroup(l[4])
	}
	return nil, nil, false
}

// ofGroup answers the lists and actions of a resource group.
func (x *exchange) ofGroup(name string) (*provider.Reply, error, bool) {
	post := x.r.Method == "POST"
	switch {
	case post && (name == "moveresources" || name == "validatemoveresources"):
		return nil, x.refuseMove(), true
	case post && name == "exporttemplate":
		rep, err := x.exportGroup()
		return rep, err, true
	case name == "resources":
		x.call.Type = nil
		group := "/" + strings.Join(x.segs[:4], "/")
		if x.call.Get(group) == nil {
			return nil, provider.ResourceGroupNotFound(x.segs[3]), true
		}
		rep, err := x.pageOfListing(x.genericList(group))
		return rep, err, true
	}
	return nil, nil, false
}

// ofProvider answers paths that belong to a provider but are not resources.
func (x *exchange) ofProvider(i int) (*provider.Reply, error, bool) {
	l := x.lower
	ns := l[i+1]
	rest := l[i+2:]
	switch {
	case ns == "microsoft.resources" && len(rest) == 2 && rest[0] == "tags" && rest[1] == "default":
		rep, err := x.answerTags("/" + strings.Join(x.segs[:i], "/"))
		return rep, err, true
	case ns == "microsoft.network" && len(rest) == 2 &&
		slices.Contains([]string{"privatednsoperationstatuses", "privatednsoperationresults", "dnsoperationstatuses", "dnsoperationresults"},
			rest[0]):
		rep, err := x.answerPoll(decodeOperation(x.segs[i+3]), strings.HasSuffix(rest[0], "results"))
		return rep, err, true
	case ns == "microsoft.authorization" && firstSegment(rest) == "roledefinitions" && x.r.Method == "GET":
		id, _ := store.ParseID("/" + strings.Join(x.segs, "/"))
		x.call.ID, x.call.Type = id, x.s.env.TypeOf(authorization.Definitions)
		if len(rest) == 1 {
			return x.pageOfList(authorization.ListRoles(x.call)), nil, true
		}
		if role := authorization.BuiltInDefinition(id.Name()); role != nil {
			return provider.OK(role), nil, true
		}
	case ns == "microsoft.authorization" && len(rest) == 1 && rest[0] == "permissions" && x.r.Method == "GET":
		return x.pageOfList(x.listPermissions("/" + strings.Join(x.segs[:i], "/"))), nil, true
	case ns == "microsoft.resourcehealth" && len(rest) == 2 && rest[0] == "availabilitystatuses":
		if x.r.Method != "GET" {
			return nil, x.refuseMethod(), true
		}
		rep, err := resourcehealth.AnswerCurrent(x.call, "/"+strings.Join(x.segs[:i], "/"))
		return rep, err, true
	}
	if ns == "microsoft.resources" && firstSegment(rest) == "deployments" {
		if rep, err, done := x.answerDeployments(rest); done {
			return rep, err, true
		}
	}
	p := x.s.env.FindProvider(ns)
	if p == nil {
		return nil, provider.GatewayErrorf(404, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", x.segs[i+1]), true
	}
	if id, result, ok := x.polledOperation(rest); ok {
		rep, err := x.answerPoll(id, result)
		return rep, err, true
	}
	if len(rest) >= 3 && rest[0] == "locations" {
		return x.ofRegion(p, rest[1:])
	}
	if len(rest) == 1 && i == 2 {
		if f := p.Subscription[rest[0]]; f != nil && x.r.Method != "GET" {
			return nil, x.refuseMethod(), true
		} else if f != nil {
			rep, err := f(x.call)
			return x.pageOfReply(rep), err, true
		}
	}
	return nil, nil, false
}

// ofRegion answers requests for data of a region that are no resources, such as deleted vaults.
func (x *exchange) ofRegion(p *provider.Provider, rest []string) (*provider.Reply, error, bool) {
	get, post := p.Regional[rest[1]], p.RegionalPosts[rest[1]]
	f := map[string]func(*provider.Call, string, []string) (*provider.Reply, error){"GET": get, "POST": post}[x.r.Method]
	switch {
	case get == nil && post == nil:
		return nil, nil, false
	case f == nil:
		return nil, x.refuseMethod(), true
	}
	location := provider.NormalizeLocation(rest[0])
	if !slices.Contains(x.s.opts.Locations, location) {
		version := x.call.Query.Get("api-version")
		return nil, provider.GatewayErrorf(400, "NoRegisteredProviderFound",
			"No registered resource provider found for location '%s' and API version '%s' for type 'locations/%s'. The supported api-versions are '%[2]s'. "+
				"The supported locations are '%[4]s'.", rest[0], version, rest[1], strings.Join(x.s.opts.Locations, ", ")), true
	}
	rep, err := f(x.call, location, rest[2:])
	return x.pageOfReply(rep), err, true
}

func (x *exchange) refuseMethod() error {
	return provider.GatewayErrorf(405, "MethodNotAllowed", "The requested resource does not support http method '%s'.", x.r.Method)
}

// polledOperation returns the operation that a path below a provider asks after, and whether it asks for its result.
func (x *exchange) polledOperation(rest []string) (id string, result, ok bool) {
	n := len(rest)
	if n < 4 {
		return "", false, false
	}
	// Under a resource, as the Kubernetes configuration provider has it.
	if rest[0] != "locations" {
		op := x.call.Operation(rest[n-1])
		if (rest[n-2] == "operations" || rest[n-2] == "operationresults") && op != nil {
			return op.ID, rest[n-2] == "operationresults", true
		}
		return "", false, false
	}
	if n != 4 {
		return "", false, false
	}
	switch rest[2] {
	case "operations", "diskoperations", "operationstatuses":
		return rest[3], x.call.Query.Get("monitor") == "true", true
	case "operationresults":
		return rest[3], true, true
	}
	return "", false, false
}

// ofResource answers everything that is a resource, a collection, an action or a read below a resource.
func (x *exchange) ofResource() (*provider.Reply, error) {
	c := x.call
	id, err := store.ParseID("/" + strings.Join(x.segs, "/"))
	if err != nil {
		return nil, provider.GatewayErrorf(404, "InvalidResourceType", "The path '%s' names no resource.", x.r.URL.Path)
	}
	t := x.s.env.TypeOf(id.Type())
	last := x.lower[len(x.lower)-1]
	if id.Namespace != "" && id.IsCollection() {
		if t == nil || len(id.Types) > 1 && x.r.Method == "POST" {
			return x.answerBelow(id, last)
		}
		c.ID, c.Type = id, t
		if x.r.Method != "GET" {
			return nil, x.refuseMethod()
		}
		list, err := c.ListCollection()
		if err == nil && t.Whole {
			rows, _ := list.CutPage("", math.MaxInt32)
			return provider.OK(body.Object{"value": rows}), nil
		}
		return x.pageOfListing(list, err)
	}
	if t == nil {
		return x.belowNamed(id)
	}
	c.ID, c.Type = id, t
	switch x.r.Method {
	case "GET":
		return c.ReadResource()
	case "HEAD":
		rep, err := c.ReadResource()
		if err != nil {
			return nil, err
		}
		return &provider.Reply{Status: 204, Etag: rep.Etag}, nil
	case "PUT":
		return c.PutResource()
	case "PATCH":
		return c.PatchResource()
	case "DELETE":
		return c.DeleteResource()
	}
	return nil, provider.GatewayErrorf(405, "MethodNotAllowed", "The requested resource does not support http method '%s'.", x.r.Method)
}

// answerBelow answers POST <resource>/<action> and GET <resource>/<read>.
func (x *exchange) answerBelow(id store.ID, last string) (*provider.Reply, error) {
	if len(id.Types) < 2 {
		return nil, x.unknownType(id)
	}
	c := x.call
	c.ID = id.Parent()
	if c.Type = x.s.env.TypeOf(c.ID.Type()); c.Type == nil {
		return nil, x.unknownType(id)
	}
	if f := c.Type.Reads[last]; f != nil && (x.r.Method == "GET" || x.r.Method == "POST" && c.Type.Actions[last] == nil) {
		it := c.FindItem(c.ID.String())
		if it == nil {
			_, err := c.ReadResource()
			return nil, err
		}
		rep, err := f(c, it)
		return x.pageOfReply(rep), err
	}
	if x.r.Method == "POST" && c.Type.Actions[last] != nil {
		return c.RunAction(last)
	}
	return nil, x.unknownType(id)
}

// belowNamed answers GET <resource>/<read>/<name>, which looks like a resource and is none ("upgradeProfiles/default").
func (x *exchange) belowNamed(id store.ID) (*provider.Reply, error) {
	if len(id.Names) < 2 || x.r.Method != "GET" {
		return nil, x.unknownType(id)
	}
	c := x.call
	parent := x.s.env.TypeOf(id.Parent().Type())
	if parent == nil || parent.Reads[strings.ToLower(id.Types[len(id.Types)-1]+"/"+id.Name())] == nil {
		return nil, x.unknownType(id)
	}
	c.ID, c.Type = id.Parent(), parent
	it := c.FindItem(c.ID.String())
	if it == nil {
		return c.ReadResource()
	}
	return parent.Reads[strings.ToLower(id.Types[len(id.Types)-1]+"/"+id.Name())](c, it)
}

func (x *exchange) unknownType(id store.ID) error {
	versions := "2025-05-01,2025-04-01,2024-03-01,2023-05-01"
	return provider.GatewayErrorf(404, "InvalidResourceType",
		"The resource type '%s' could not be found in the namespace '%s' for api version '%s'. The supported api-versions are '%s'.",
		strings.Join(id.Types, "/"), id.Namespace, x.call.APIVersion, versions)
}

// pageOfList cuts a list that is rendered into pages.
func (x *exchange) pageOfList(list []any) *provider.Reply {
	return x.pageOf(provider.RenderedListing(list))
}

// pageOfListing answers with one page of a list, or with the reason why there is none.
func (x *exchange) pageOfListing(list provider.Listing, err error) (*provider.Reply, error) {
	if err != nil {
		return nil, err
	}
	return x.pageOf(list), nil
}

// pageOf answers with one page of a list.
func (x *exchange) pageOf(list provider.Listing) *provider.Reply {
	size := x.s.opts.PageSize
	if top, err := strconv.Atoi(x.call.Query.Get("$top")); err == nil && top > 0 && top < size {
		size = top
	}
	rows, next := list.CutPage(x.call.Query.Get("$skiptoken"), size)
	out := body.Object{"value": rows}
	if next != "" {
		q := maps.Clone(x.call.Query)
		q.Set("$skiptoken", next)
		out["nextLink"] = x.call.BaseURL + x.r.URL.Path + "?" + q.Encode()
	}
	return provider.OK(out)
}

// pageOfReply cuts a reply whose body is a bare list of objects; a provider that answers an array asks for that with type body.Object lists only.
func (x *exchange) pageOfReply(rep *provider.Reply) *provider.Reply {
	if rep == nil {
		return nil
	}
	if list, ok := rep.Body.([]any); ok {
		return x.pageOfList(list)
	}
	return rep
}

// listGroups lists resource groups with $filter=tagName eq 'x' and tagValue eq 'y'.
func (x *exchange) listGroups() (provider.Listing, error) {
	c := x.call
	filter, err := parseFilter(c.Query.Get("$filter"), groupFilters)
	return provider.Listing{
		Stored: func(after string) iter.Seq[*store.Resource] {
			return c.Range(groupType, "/subscriptions/"+x.segs[1], after)
		},
		Wanted: filter.matches,
		Show: func(r *store.Resource) any {
			shown := c.RenderResource(r)
			// The reference has no $expand for this list. Scripts ask for createdTime and get it.
			if strings.Contains(strings.ToLower(c.Query.Get("$expand")), "createdtime") {
				shown["createdTime"] = r.Created.Format("2006-01-02T15:04:05.0000000Z")
			}
			return shown
		},
	}, err
}

// genericList returns the list of resources of any type.
func (x *exchange) genericList(scope string) (provider.Listing, error) {
	c := x.call
	filter, err := parseFilter(c.Query.Get("$filter"), resourceFilters)
	if group := filter.only("resourcegroup"); group != "" && len(x.segs) == 3 {
		scope += "/resourceGroups/" + group
	}
	expand := strings.ToLower(c.Query.Get("$expand"))
	return provider.Listing{
		Stored: func(after string) iter.Seq[*store.Resource] {
			return c.Range(filter.only("resourcetype"), scope, after)
		},
		Wanted: func(r *store.Resource) bool {
			t := x.s.env.TypeOf(r.Type)
			if t == nil || t.Untracked || r.Type == groupType || t.Extension {
				return false
			}
			return filter.matches(r)
		},
		Show: func(r *store.Resource) any { return x.genericResource(r, expand) },
	}, err
}

// genericResource returns a resource as the list of resources of any type shows it.
func (x *exchange) genericResource(r *store.Resource, expand string) body.Object {
	full := x.call.RenderResource(r)
	id, _ := store.ParseID(r.ID)
	o := body.Object{"id": full["id"], "name": strings.Join(id.Names, "/"), "type": r.Type, "location": r.Location}
	for _, k := range []string{"tags", "sku", "kind", "identity", "zones", "managedBy", "plan"} {
		if v, ok := full[k]; ok {
			o[k] = v
		}
	}
	if strings.Contains(expand, "createdtime") {
		o["createdTime"] = r.Created.Format("2006-01-02T15:04:05.0000000Z")
	}
	if strings.Contains(expand, "changedtime") {
		o["changedTime"] = changedTime(r).Format("2006-01-02T15:04:05.0000000Z")
	}
	if strings.Contains(expand, "provisioningstate") {
		o["provisioningState"] = body.String(full, "properties.provisioningState")
	}
	return o
}

// changedTime returns the time of a resource's last change, as the list of all resources has it. It is undocumented which
// changes count. Assumption: only requests for the resource itself, not those for its children, and not changes that
// Azure makes by itself.
func changedTime(r *store.Resource) time.Time {
	if r.Written.IsZero() {
		return r.Created
	}
	return r.Written
}
