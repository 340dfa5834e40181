package applied

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Members of the annotation and of its objects that this release knows.
var (
	contentMembers   = memberNames[Content]()
	inventoryMembers = memberNames[Inventory]()
	migrationMembers = memberNames[Migration]()
)

// memberNames returns the names of the members of a JSON object.
func memberNames[T any]() (out []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// encode returns the value of the annotation. It keeps the members of the stored value that this release does not know: a later release
// wrote them, and needs its record when users return to it. Those of an inventory stay as long as it belongs to the same object.
func (c Content) encode(stored string) string {
	raw, _ := json.Marshal(c) // Texts, lists and maps always marshal.
	if stored == "" || stored == string(raw) || len(stored) > maxSize {
		return string(raw)
	}
	before := decodeMembers([]byte(stored))
	after := decodeMembers(raw)
	kept := keepUnknown(after, before, contentMembers)
	if c.Inventory.isStored() && readInventoryObject(before["inventory"]) == c.Inventory.Object {
		kept = keepUnknownIn(after, before, "inventory", inventoryMembers) || kept
	}
	if c.Migration != nil {
		kept = keepUnknownIn(after, before, "migration", migrationMembers) || kept
	}
	if !kept {
		return string(raw)
	}
	raw, _ = json.Marshal(after)
	return string(raw)
}

// decodeMembers returns the members of a JSON object, none for another value.
func decodeMembers(raw json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &out) != nil {
		return map[string]json.RawMessage{}
	}
	return out
}

// readInventoryObject returns the object of an inventory.
func readInventoryObject(raw json.RawMessage) (out string) {
	_ = json.Unmarshal(decodeMembers(raw)["object"], &out) // Another value is that of no object.
	return out
}

// keepUnknown copies the members of from that are not known, and reports whether it copied any. It leaves out members that are null,
// because they have no value to keep.
func keepUnknown(to, from map[string]json.RawMessage, known []string) bool {
	unknown := maps.Clone(from)
	maps.DeleteFunc(unknown, func(name string, value json.RawMessage) bool {
		return slices.Contains(known, name) || string(value) == "null"
	})
	maps.Copy(to, unknown)
	return len(unknown) > 0
}

// keepUnknownIn is keepUnknown for the object in a member.
func keepUnknownIn(to, from map[string]json.RawMessage, member string, known []string) bool {
	inner := decodeMembers(to[member])
	if !keepUnknown(inner, decodeMembers(from[member]), known) {
		return false
	}
	to[member], _ = json.Marshal(inner)
	return true
}
