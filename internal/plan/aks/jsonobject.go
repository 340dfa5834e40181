package aks

import (
	"bytes"
	"encoding/json"
	"strings"
)

// toJSONObject is a model as the decoded JSON that patches and retractions work on. Numbers are json.Number.
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

// valueAt is the value at a dotted path; nil when there is none.
func valueAt(body map[string]any, path string) any {
	var value any = body
	for _, key := range strings.Split(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// deleteValue takes the value at a dotted path out, and the objects that this leaves empty.
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

// setValue puts a value at a dotted path, making objects on the way.
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

func toText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
