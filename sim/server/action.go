package server

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/authorization"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// verbs maps methods to the last part of an action. A POST names its own.
var verbs = map[string]string{"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete", "POST": "action"}

// special are actions that are not called after their path, in lower case.
// Source: https://learn.microsoft.com/azure/role-based-access-control/permissions/management-and-governance
var special = map[string]string{
	"microsoft.resourcehealth/availabilitystatuses/read": "Microsoft.ResourceHealth/AvailabilityStatuses/current/read",
}

// neededAction returns the action that the request itself needs, and its scope. Requests that any signed-in caller may send
// need none: Azure lists the subscriptions that the caller can see, and the providers of the tenant.
//
// Source: https://learn.microsoft.com/azure/role-based-access-control/resource-provider-operations
func (s *Server) neededAction(method, path string) (authorization.Need, bool) {
	segs, l := splitSegments(path), splitSegments(strings.ToLower(path))
	n := len(segs)
	if n < 2 || l[0] == "providers" && (n <= 2 || l[1] == "microsoft.resourcegraph") {
		return authorization.Need{}, false
	}
	path = "/" + strings.Join(segs, "/")
	if need, ok := needOfSubscription(method, segs, l); ok {
		return need, true
	}
	i := lastProvider(l)
	if i < 0 || l[0] == "subscriptions" && i == 2 && n <= 5 && (n <= 4 || l[4] == "register" || l[4] == "unregister") {
		return needOfManager(verbs[method], segs, i), true
	}
	namespace, rest := segs[i+1], segs[i+2:]
	if space := s.env.FindProvider(namespace); space != nil {
		namespace = space.Namespace
	}
	types, verb, scope := []string{namespace}, verbs[method], path
	for j := 0; j < len(rest); j += 2 {
		types = append(types, rest[j])
	}
	if len(rest)%2 == 1 {
		// The request is for a collection, or for an action or read below a resource. The scope is the parent.
		scope = "/" + strings.Join(segs[:len(segs)-1], "/")
	}
	action := s.canonicalType(types) + "/" + verb
	if id, err := store.ParseID(path); err == nil && len(rest)%2 == 0 && id.Name() == "current" && special[strings.ToLower(action)] != "" {
		action = special[strings.ToLower(action)]
	}
	return authorization.Need{Action: action, Scope: scope}, true
}

// needOfSubscription returns the need for what a subscription has besides resources: features and the activity log.
func needOfSubscription(method string, segs, l []string) (authorization.Need, bool) {
	if l[0] != "subscriptions" || len(l) < 5 || l[2] != "providers" {
		return authorization.Need{}, false
	}
	scope := "/" + strings.Join(segs[:2], "/")
	switch {
	case l[3] == "microsoft.features" && method == "GET":
		return authorization.Need{Action: "Microsoft.Features/features/read", Scope: scope}, true
	case l[3] == "microsoft.features":
		return authorization.Need{Action: "Microsoft.Features/providers/features/" + l[len(l)-1] + "/action", Scope: scope}, true
	case l[3] == "microsoft.insights" && l[4] == "eventtypes":
		return authorization.Need{Action: "Microsoft.Insights/eventtypes/values/Read", Scope: scope}, true
	}
	return authorization.Need{}, false
}

// needOfManager returns the need for resources of Resource Manager itself: subscriptions, groups, and the
// registration of providers.
func needOfManager(verb string, segs []string, i int) authorization.Need {
	if i >= 0 {
		scope := "/" + strings.Join(segs[:2], "/")
		if len(segs) == 5 {
			return authorization.Need{Action: segs[3] + "/" + strings.ToLower(segs[4]) + "/action", Scope: scope}
		}
		return authorization.Need{Action: "Microsoft.Resources/subscriptions/providers/" + verb, Scope: scope}
	}
	types := []string{"Microsoft.Resources"}
	for j := 0; j < len(segs); j += 2 {
		name := segs[j]
		if strings.EqualFold(name, "resourceGroups") {
			name = "resourceGroups"
		}
		types = append(types, name)
	}
	return authorization.Need{Action: strings.Join(types, "/") + "/" + verb, Scope: "/" + strings.Join(segs[:len(segs)/2*2], "/")}
}

// canonicalType writes a type as Azure does. The last part may be an action or a read that is no type.
func (s *Server) canonicalType(types []string) string {
	for n := len(types); n > 1; n-- {
		if t := s.env.TypeOf(strings.Join(types[:n], "/")); t != nil {
			return strings.Join(append([]string{t.Name}, types[n:]...), "/")
		}
	}
	return strings.Join(types, "/")
}
