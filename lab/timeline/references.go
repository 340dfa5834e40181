package timeline

import (
	"slices"
	"strings"
)

// References finds which resources each resource names in its body. The state may group resources in any way: whatever
// object has an ID is a resource, and whatever text below it has the form of an ID is a reference.
func References(state any) map[string][]string {
	found := map[string][]string{}
	var visit func(key string, v any, owners []string)
	visit = func(key string, v any, owners []string) {
		switch v := v.(type) {
		case string:
			id := strings.ToLower(v)
			if !strings.HasPrefix(id, "/subscriptions/") || key == "id" {
				// "id" of the object itself is not a reference; references are objects with nothing but an id.
				return
			}
			add(found, owners, id)
		case []any:
			for _, item := range v {
				visit("", item, owners)
			}
		case map[string]any:
			id, _ := v["id"].(string)
			id = strings.ToLower(id)
			if strings.HasPrefix(id, "/subscriptions/") {
				if len(v) == 1 {
					add(found, owners, id)
					return
				}
				owners = append(slices.Clone(owners), id)
			}
			for k, item := range v {
				visit(k, item, owners)
			}
		}
	}
	visit("", state, nil)
	return found
}

// add notes a reference, and one to each resource that the target is inside of: a subnet's virtual network, a backend
// pool's load balancer.
func add(found map[string][]string, owners []string, id string) {
	for _, owner := range owners {
		for target := id; target != ""; target = parent(target) {
			if target != owner && !strings.HasPrefix(owner, target+"/") && !slices.Contains(found[owner], target) {
				found[owner] = append(found[owner], target)
			}
		}
	}
}

// parent is the resource that a child resource is inside of; "" for one that is not a child.
func parent(id string) string {
	_, rest, ok := strings.Cut(id, "/providers/")
	if !ok || strings.Count(rest, "/") < 4 {
		return ""
	}
	for range 2 {
		id = id[:strings.LastIndexByte(id, '/')]
	}
	return id
}
