package timeline

import (
	"slices"
	"strings"
)

// References finds which resources each resource names in its body. The state may group resources in any way: an object
// with an ID that is not inside of another resource is a resource, and any other text with the form of an ID is a
// reference.
func References(state any) map[string][]string {
	found := map[string][]string{}
	var visit func(key string, v any, owner string)
	visit = func(key string, v any, owner string) {
		switch v := v.(type) {
		case string:
			if id := strings.ToLower(v); key != "id" && isID(id) {
				add(found, owner, id)
			}
		case []any:
			for _, item := range v {
				visit("", item, owner)
			}
		case map[string]any:
			id, _ := v["id"].(string)
			switch id = strings.ToLower(id); {
			case !isID(id):
			case owner == "":
				owner = id
			default:
				// A part of the resource has an ID below it; a reference has that of another one.
				add(found, owner, id)
			}
			for k, item := range v {
				visit(k, item, owner)
			}
		}
	}
	visit("", state, "")
	return found
}

func isID(text string) bool { return strings.HasPrefix(text, "/subscriptions/") }

func add(found map[string][]string, owner, id string) {
	if owner != "" && id != owner && !strings.HasPrefix(id, owner+"/") && !slices.Contains(found[owner], id) {
		found[owner] = append(found[owner], id)
	}
}
