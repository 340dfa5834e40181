package aso

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

var line = regexp.MustCompile(`line \d+`)

// parse reads a JSON or YAML text. Its errors tell the line and not the text, which may be a password in the wrong place.
func parse(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("is empty: write a merge patch, as in {\"spec\": {...}}, or take it out of the list")
	}
	if documents(text) > 1 {
		return nil, errors.New("has several YAML documents, of which only the first would count: make them several patches")
	}
	content, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		reason := "is neither JSON nor YAML"
		if strings.Contains(err.Error(), "already set") || strings.Contains(err.Error(), "already defined") {
			reason = "has a key twice in one object"
		}
		if at := line.FindString(err.Error()); at != "" {
			reason += fmt.Sprintf(" (%s)", at)
		}
		return nil, errors.New(reason)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return nil, errors.New("is neither JSON nor YAML")
	}
	object, ok := out.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be an object, as in {\"spec\": {...}}, not %s", describe(out))
	}
	return object, nil
}

// documents counts those that have any content, as separators may stand at the start and the end.
func documents(text string) int {
	count, content := 0, false
	for _, each := range append(strings.Split(text, "\n"), "---") {
		switch each = strings.TrimRight(each, " \r\t"); {
		case each == "---":
			if content {
				count++
			}
			content = false
		case each != "" && !strings.HasPrefix(strings.TrimSpace(each), "#"):
			content = true
		}
	}
	return count
}

// clone copies a decoded JSON value.
func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, child := range value {
			out[key] = clone(child)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, child := range value {
			out[i] = clone(child)
		}
		return out
	default:
		return value
	}
}
