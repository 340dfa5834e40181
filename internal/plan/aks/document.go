package aks

import (
	"bytes"
	"encoding/json"
	"strings"
)

// documentOf is a model as the decoded JSON that patches and retractions work on. Numbers are json.Number.
func documentOf(model any) (map[string]any, error) {
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

// at is the value at a dotted path; nil when there is none.
func at(document map[string]any, path string) any {
	var value any = document
	for _, key := range strings.Split(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// remove takes the value at a dotted path out, and the objects that this leaves empty.
func remove(document map[string]any, path string) {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		delete(document, key)
		return
	}
	object, ok := document[key].(map[string]any)
	if !ok {
		return
	}
	remove(object, rest)
	if len(object) == 0 {
		delete(document, key)
	}
}

// set puts a value at a dotted path, making objects on the way.
func set(document map[string]any, path string, value any) {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		document[key] = value
		return
	}
	object, ok := document[key].(map[string]any)
	if !ok {
		object = map[string]any{}
		document[key] = object
	}
	set(object, rest, value)
}

func text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
