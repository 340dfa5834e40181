package observe

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// withoutBackReferences returns a body without the lists of resources that use this one. They grow with the number of machines, and
// each machine's reconciliation would carry them.
func withoutBackReferences(row types.Type, body json.RawMessage) json.RawMessage {
	for _, path := range row.BackReferences {
		body = removePath(body, strings.Split(path, "."))
	}
	return body
}

// removePath returns a document without the value at a path. A document of another shape stays as it is.
func removePath(document json.RawMessage, path []string) json.RawMessage {
	key, isList := strings.CutSuffix(path[0], "[]")
	var object map[string]json.RawMessage
	if json.Unmarshal(document, &object) != nil || object[key] == nil {
		return document
	}
	switch {
	case len(path) == 1:
		delete(object, key)
	case isList:
		var elements []json.RawMessage
		if json.Unmarshal(object[key], &elements) != nil {
			return document
		}
		for i := range elements {
			elements[i] = removePath(elements[i], path[1:])
		}
		object[key] = marshalParts(elements)
	default:
		object[key] = removePath(object[key], path[1:])
	}
	return marshalParts(object)
}

// marshalParts marshals a combination of JSON texts, which cannot fail.
func marshalParts(parts any) json.RawMessage {
	out, _ := json.Marshal(parts)
	return out
}
