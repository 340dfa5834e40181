package jsonpath

import (
	"maps"
	"slices"
	"strconv"
)

// Walk calls visit with the place of each value in a body and the value, the body first, members in the order of their keys. Elements
// have their position as name. If visit returns false, the values below are left out. The path is valid during the call only.
func Walk(body any, visit func(path Path, value any) bool) {
	w := walker{visit: visit}
	w.walk(body)
}

type walker struct {
	path  Path
	visit func(Path, any) bool
}

func (w *walker) walk(value any) {
	if !w.visit(w.path, value) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			w.walkChild(Step{Name: key}, value[key])
		}
	case []any:
		for i, item := range value {
			w.walkChild(Step{Name: strconv.Itoa(i), Element: true}, item)
		}
	}
}

func (w *walker) walkChild(step Step, value any) {
	w.path = append(w.path, step)
	w.walk(value)
	w.path = w.path[:len(w.path)-1]
}

// WalkTexts calls visit with each text in a body, and each key, in no particular order.
func WalkTexts(body any, visit func(text string)) {
	switch body := body.(type) {
	case string:
		visit(body)
	case []any:
		for _, item := range body {
			WalkTexts(item, visit)
		}
	case map[string]any:
		for key, item := range body {
			visit(key)
			WalkTexts(item, visit)
		}
	}
}
