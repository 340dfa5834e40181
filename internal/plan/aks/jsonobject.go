package aks

import (
	"bytes"
	"encoding/json"
	"strings"
)

// toJSONObject returns a model as decoded JSON, the form that patches and resets work on. Numbers are json.Number.
func toJSONObject(model any) (map[string]any, error) {
	raw, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out map[string]any
	err = decoder.Decode(&out)
	return out, err
}

// valueAt returns the value at a dotted path, nil if there is none.
func valueAt(body map[string]any, path string) any {
	var value any = body
	for _, key := range strings.Split(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// deleteValue deletes the value at a dotted path, and the objects that become empty.
func deleteValue(body map[string]any, path string) {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		delete(body, key)
		return
	}
	object, ok := body[key].(map[string]any)
	if !ok {
		return
	}
	deleteValue(object, rest)
	if len(object) == 0 {
		delete(body, key)
	}
}

// setValue sets the value at a dotted path and creates missing objects.
func setValue(body map[string]any, path string, value any) {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		body[key] = value
		return
	}
	object, ok := body[key].(map[string]any)
	if !ok {
		object = map[string]any{}
		body[key] = object
	}
	setValue(object, rest, value)
}

// toText returns a string or number as text, "" for any other value.
func toText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
