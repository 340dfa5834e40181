package compare

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// isEmpty reports whether a value equals its absence. Azure leaves some of these out and returns others.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

func sameNumber(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

// sameScalars compares lists of scalars without regard to order.
func (d *differ) sameScalars(shape string, want, have []any) bool {
	if len(want) != len(have) {
		return false
	}
	rest := slices.Clone(have)
	for _, value := range want {
		i := slices.IndexFunc(rest, func(other any) bool { return d.sameScalar(shape+"[]", value, other) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

func containsObjects(list []any) bool {
	return slices.ContainsFunc(list, func(item any) bool { _, ok := item.(map[string]any); return ok })
}

// elementKey returns the member that identifies the elements of all lists: "name", or else "id", or "service", which service endpoints
// have; "" means the position.
func elementKey(lists ...[]any) string {
	for _, key := range []string{"name", "id", "service"} {
		found, all := false, true
		for _, list := range lists {
			for _, item := range list {
				found = true
				all = all && elementName(item, key) != ""
			}
		}
		if found && all {
			return key
		}
	}
	return ""
}

func elementName(item any, key string) string {
	object, _ := item.(map[string]any)
	value, _ := lookupKey(object, key)
	name, _ := value.(string)
	return strings.TrimRight(name, "/")
}

func findElement(list []any, key, name string) any {
	for _, item := range list {
		if strings.EqualFold(elementName(item, key), name) {
			return item
		}
	}
	return nil
}

// lookupKey finds a member, ignoring case if there is no exact match: some keys are resource IDs or names of tags, and Azure changes
// their case.
func lookupKey(object map[string]any, key string) (any, bool) {
	if value, ok := object[key]; ok {
		return value, true
	}
	for _, other := range sortedKeys(object) {
		if strings.EqualFold(key, other) {
			return object[other], true
		}
	}
	return nil, false
}

func sortedKeys(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	if strings.HasPrefix(key, "/") {
		return path + "[" + key + "]"
	}
	return path + "." + key
}

// secretWords are parts of names of members whose values are never shown.
var secretWords = []string{"password", "secret", "customdata", "userdata", "protectedsettings", "commandtoexecute", "sas", "key"}

// FormatValue returns a value for a message: short JSON, "(hidden)" if it may be secret.
func FormatValue(path string, value any) string { return formatValue(path, value) }

// formatValue returns a value for a message: JSON of at most 80 characters.
func formatValue(path string, value any) string {
	if value == nil {
		return "(absent)"
	}
	name := strings.ToLower(path[strings.LastIndex(path, ".")+1:])
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return "(hidden)"
		}
	}
	switch value.(type) {
	case map[string]any, []any:
		if containsSecret(value) {
			return "(hidden)"
		}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "(unprintable)"
	}
	if len(raw) > 80 {
		return strings.ToValidUTF8(string(raw[:77]), "") + "..."
	}
	return string(raw)
}

// containsSecret reports whether a value has a member that must not be shown.
func containsSecret(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			for _, word := range secretWords {
				if strings.Contains(strings.ToLower(key), word) {
					return true
				}
			}
			if containsSecret(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, containsSecret)
	}
	return false
}
