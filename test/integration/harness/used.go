package harness

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// usedRights are the rights that requests of managers took, as "verb resource.group/subresource".
type usedRights struct {
	mu   sync.Mutex
	seen map[string]bool
}

// UsedRights returns the rights that managers of the environment have made use of so far, sorted, as "patch
// azureclusters.infrastructure.cluster.x-k8s.io/status".
func (e *Environment) UsedRights() []string {
	e.used.mu.Lock()
	defer e.used.mu.Unlock()
	return slices.Sorted(maps.Keys(e.used.seen))
}

func (u *usedRights) recordRight(request *http.Request) {
	right, ok := rightOf(request)
	if !ok {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	u.seen[right] = true
}

// rightOf returns the right that a request takes, as the API server reads it from its path; a path of no resource takes none.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
func rightOf(request *http.Request) (right string, ok bool) {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	group := ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = "."+parts[1], parts[3:]
	default:
		return "", false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch",
		http.MethodDelete: "delete"}[request.Method]
	switch {
	case verb != "":
	case request.URL.Query().Get("watch") != "":
		verb = "watch"
	case len(parts) == 1:
		verb = "list"
	default:
		verb = "get"
	}
	right = verb + " " + parts[0] + group
	if len(parts) > 2 {
		right += "/" + parts[2]
	}
	return right, true
}
