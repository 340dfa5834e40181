package schedule

import (
	"slices"
	"strings"
)

// FindReferences finds the resources that each resource names in its body. The state may group resources in any way: an
// object with an ID that is not inside another resource is a resource, and any other text with the form of an ID is a
// reference. A reference in a part with an ID of its own, such as a subnet in its network, is one of both the part
// and the whole.
func FindReferences(state any) map[string][]string {
	found := map[string][]string{}
	var visit func(key string, v any, owners []string)
	visit = func(key string, v any, owners []string) {
		switch v := v.(type) {
		case string:
			if id := strings.ToLower(v); key != "id" && isID(id) {
				addReferences(found, owners, id)
			}
		case []any:
			for _, item := range v {
				visit("", item, owners)
			}
		case map[string]any:
			id, _ := v["id"].(string)
			switch id = strings.ToLower(id); {
			case !isID(id):
			case len(owners) == 0 || strings.HasPrefix(id, owners[0]+"/"):
				owners = append(slices.Clone(owners), id)
			default:
				addReferences(found, owners, id)
			}
			for k, item := range v {
				visit(k, item, owners)
			}
		}
	}
	visit("", state, nil)
	return found
}

func isID(text string) bool { return strings.HasPrefix(text, "/subscriptions/") }

func addReferences(found map[string][]string, owners []string, id string) {
	for _, owner := range owners {
		if id != owner && !strings.HasPrefix(id, owner+"/") && !slices.Contains(found[owner], id) {
			found[owner] = append(found[owner], id)
		}
	}
}
