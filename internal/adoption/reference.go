package adoption

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// toReferences returns a body in ASO's spelling: IDs of resources are {armId: ...} under a key that ends in Reference, and the
// identities of a resource are a list of them. Keys of maps are not changed, because they belong to the user.
func toReferences(part schema.Part, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range value {
			_, child, ok := part.Property(key, value)
			if !part.IsObject() || !ok {
				out[key] = toReferences(part.Values(), inner)
				continue
			}
			if ids, isMap := inner.(map[string]any); isMap && key == "userAssignedIdentities" {
				out[key] = toIdentityList(ids)
				continue
			}
			name, reference := toReferenceField(child, key, inner)
			out[name] = reference
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, toReferences(part.Items(), item))
		}
		return out
	}
	return value
}

// toReferenceField returns the key and the value of a property in ASO's spelling.
func toReferenceField(part schema.Part, key string, value any) (string, any) {
	text, isText := value.(string)
	list, isList := value.([]any)
	isList = isList && len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool { return !isResourceID(item) })
	lower := strings.ToLower(key)
	switch {
	case isText && isResourceID(text) && lower == "id":
		return "reference", map[string]any{"armId": text}
	case isText && isResourceID(text) && strings.HasSuffix(lower, "id"):
		return key[:len(key)-len("id")] + "Reference", map[string]any{"armId": text}
	case isList && strings.HasSuffix(lower, "ids"):
		var references []any
		for _, id := range list {
			references = append(references, map[string]any{"armId": id})
		}
		return key[:len(key)-len("ids")] + "References", references
	}
	return key, toReferences(part, value)
}

func isResourceID(value any) bool {
	text, ok := value.(string)
	return ok && strings.HasPrefix(strings.ToLower(text), "/subscriptions/")
}

func toIdentityList(ids map[string]any) []any {
	var out []any
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, map[string]any{"reference": map[string]any{"armId": id}})
	}
	return out
}
