package overlay

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// removeGone returns a body of the live Azure without references to resources that a write has deleted. Azure keeps a resource that others
// need, so these references are those that Azure itself adds to a resource, such as properties.ipConfiguration of a public IP address and
// managedBy of a disk. The live Azure shows them as long as the deletion is only planned.
func (a *Azure) removeGone(raw []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.mentionsGone(string(raw)) {
		return raw
	}
	decoded, err := arm.DecodeBody(json.RawMessage(raw))
	body, is := decoded.(map[string]any)
	if err != nil || !is {
		return raw // The reader judges it.
	}
	for key, value := range body {
		if key != "id" {
			body[key] = a.withoutGone(value)
		}
	}
	out, err := json.Marshal(body)
	if err != nil {
		return raw
	}
	return out
}

// mentionsGone reports whether a text has the ID of a resource that a write has deleted.
func (a *Azure) mentionsGone(text string) bool {
	text = strings.ToLower(text)
	for id := range a.gone {
		if strings.Contains(text, id) {
			return true
		}
	}
	return false
}

// isGone reports whether a value is a reference to a resource that a write has deleted, or to something in it: an ID, or an object with the
// ID.
func (a *Azure) isGone(value any) bool {
	if object, is := value.(map[string]any); is {
		value = object["id"]
	}
	id, _ := value.(string)
	for key := strings.ToLower(id); strings.HasPrefix(key, "/"); key = key[:strings.LastIndexByte(key, '/')] {
		if a.gone[key] {
			return true
		}
	}
	return false
}

func (a *Azure) withoutGone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, of := range v {
			if key != "id" && a.isGone(of) {
				delete(v, key)
				continue
			}
			v[key] = a.withoutGone(of)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, of := range v {
			if !a.isGone(of) {
				kept = append(kept, a.withoutGone(of))
			}
		}
		return kept
	}
	return value
}
