package putbody

import (
	"encoding/json"
	"strconv"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Default is the default of a property, which Azure may not show.
type Default struct{ Path, Value string }

// OmitDefaults removes values from the body that equal a default and that the existing resource does not show: they differ only in
// form.
func OmitDefaults(body map[string]any, observed json.RawMessage, defaults []Default) {
	var shown map[string]any
	for _, d := range defaults {
		if toText(jsonpath.Get(body, d.Path)) != d.Value {
			continue
		}
		if shown == nil && json.Unmarshal(observed, &shown) != nil {
			return // Nothing is known of the resource, or it does not exist.
		}
		if jsonpath.Get(shown, d.Path) == nil {
			jsonpath.Prune(body, d.Path)
		}
	}
}

// toText returns a string or number as text, "" for any other value.
func toText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return ""
}
