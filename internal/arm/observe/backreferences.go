package observe

import (
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// withoutBackReferences returns a body without the lists of resources that use this one. They grow with the number of machines, and
// each machine's reconciliation would carry them.
func withoutBackReferences(row types.Type, body json.RawMessage) json.RawMessage {
	for _, path := range row.BackReferences {
		body = removePath(body, jsonpath.Parse(path))
	}
	return body
}

// removePath returns a document without the values at a path, whose elements are those of whole lists. A document of another shape stays
// as it is. Only the parts on the path are decoded.
func removePath(document json.RawMessage, path jsonpath.Path) json.RawMessage {
	if path[0].Element {
		var elements []json.RawMessage
		if json.Unmarshal(document, &elements) != nil {
			return document
		}
		for i := range elements {
			elements[i] = removePath(elements[i], path[1:])
		}
		return marshalParts(elements)
	}
	key := path[0].Name
	var object map[string]json.RawMessage
	if json.Unmarshal(document, &object) != nil || object[key] == nil {
		return document
	}
	if len(path) == 1 {
		delete(object, key)
	} else {
		object[key] = removePath(object[key], path[1:])
	}
	return marshalParts(object)
}

// marshalParts marshals a combination of JSON texts, which cannot fail.
func marshalParts(parts any) json.RawMessage {
	out, _ := json.Marshal(parts)
	return out
}
