package applied

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// decodeSound decodes a value into a struct with some of its parts. It returns false if one of them has to be decoded by a decoder. A null
// would become an empty text, which has a meaning.
func decodeSound(stored string, out any) bool {
	return stored != "" && len(stored) <= maxSize && !strings.Contains(stored, "null") && json.Unmarshal([]byte(stored), out) == nil
}

// decoder decodes values that users may have written. damaged is set when it leaves out something of another type than expected.
type decoder struct {
	damaged bool
}

// decode decodes JSON. It returns nil for a value that is no JSON, or longer than an annotation can be.
func (d *decoder) decode(stored string) any {
	var value any
	if len(stored) > maxSize || json.Unmarshal([]byte(stored), &value) != nil {
		d.damaged = true
		return nil
	}
	return value
}

func (d *decoder) object(value any) map[string]any { return expect[map[string]any](d, value) }

func (d *decoder) text(value any) string { return expect[string](d, value) }

// ids returns the IDs in a list, without those that are no texts.
func (d *decoder) ids(value any) []arm.ID {
	var out []arm.ID
	for _, text := range d.texts(value) {
		out = append(out, arm.ID(text))
	}
	return out
}

// texts returns the texts in a list. Other elements are left out: an empty text in their place would have a meaning.
func (d *decoder) texts(value any) []string {
	out := []string{}
	for _, item := range expect[[]any](d, value) {
		if text, ok := item.(string); ok {
			out = append(out, text)
		} else {
			d.damaged = true
		}
	}
	return out
}

// lists returns the lists of texts in an object, nil if there is no object.
func (d *decoder) lists(value any) map[string][]string {
	object := d.object(value)
	if object == nil {
		return nil
	}
	out := map[string][]string{}
	for key, list := range object {
		out[key] = d.texts(list)
	}
	return out
}

// expect returns a value of the expected type. The zero value stands for a missing value and for one of another type.
func expect[T any](d *decoder, value any) T {
	typed, ok := value.(T)
	d.damaged = d.damaged || !ok && value != nil
	return typed
}
