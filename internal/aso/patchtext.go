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

var linePattern = regexp.MustCompile(`line \d+`)

// parsePatch decodes a JSON or YAML text. Its errors contain the line, but not the text, which may be a password in the wrong place.
func parsePatch(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("is empty: write a merge patch, such as {\"spec\": {...}}, or take it out of the list")
	}
	if countDocuments(text) > 1 {
		return nil, errors.New("has several YAML documents, of which only the first would count: write one patch for each")
	}
	content, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		reason := "is neither JSON nor YAML"
		if strings.Contains(err.Error(), "already set") || strings.Contains(err.Error(), "already defined") {
			reason = "has a key twice in one object"
		}
		if at := linePattern.FindString(err.Error()); at != "" {
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
		return nil, fmt.Errorf("must be an object, such as {\"spec\": {...}}, not %s", describeType(out))
	}
	return object, nil
}

// countDocuments returns the number of YAML documents with content. Separators at the start and the end are ignored.
func countDocuments(text string) int {
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
