package compare

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
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

// secretWords are parts of names of members whose values are never shown, besides those of text.IsSecretName. Differences are shown without
// being asked for, so that more is hidden.
var secretWords = []string{"password", "secret", "customdata", "userdata", "protectedsettings", "commandtoexecute", "sas", "key"}

// FormatValue returns a value for a message: short JSON, "(hidden)" if it may be secret.
func FormatValue(path string, value any) string { return formatValue(path, value) }

// formatValue returns a value for a message: JSON of at most 80 characters.
func formatValue(path string, value any) string {
	if value == nil {
		return "(absent)"
	}
	if hasSecretWord(path[strings.LastIndex(path, ".")+1:]) {
		return "(hidden)"
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
	return text.Truncate(text.HideSignatures(string(raw)), 80)
}

// containsSecret reports whether a value has a member that must not be shown.
func containsSecret(value any) bool {
	found := false
	jsonpath.Walk(value, func(path jsonpath.Path, _ any) bool {
		found = found || len(path) > 0 && hasSecretWord(path[len(path)-1].Name)
		return !found
	})
	return found
}

func hasSecretWord(member string) bool {
	if text.IsSecretName(member) {
		return true
	}
	member = strings.ToLower(member)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(member, word) })
}
