package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// DroppedTags are the keys of tags that an earlier spec had and this one has not, sorted. stored is the annotation that
// tells: a JSON object of the tags that were written last. One that cannot be read names none, so that tags which others
// set stay.
func DroppedTags(stored string, wanted map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(storedTags(stored))) {
		if !hasKey(wanted, key) {
			out = append(out, key)
		}
	}
	return out
}

// RememberTags is the annotation to store before tags are written: those of earlier specs and of this one, so that
// nothing is forgotten when a process dies in between. "" is for none.
func RememberTags(stored string, wanted map[string]string) string {
	tags := storedTags(stored)
	for key, value := range wanted {
		maps.DeleteFunc(tags, func(k, _ string) bool { return strings.EqualFold(k, key) })
		tags[key] = value
	}
	return SettledTags(tags)
}

// SettledTags is the annotation to store once all resources have the wanted tags. "" is for none.
func SettledTags(wanted map[string]string) string {
	if len(wanted) == 0 {
		return ""
	}
	raw, _ := json.Marshal(wanted) // A map of strings always marshals.
	return string(raw)
}

func storedTags(stored string) map[string]string {
	out := map[string]string{}
	if json.Unmarshal([]byte(stored), &out) != nil || out == nil {
		return map[string]string{}
	}
	return out
}

// hasKey tells whether tags have a key, which Azure compares without regard to case.
func hasKey(tags map[string]string, key string) bool {
	for k := range tags {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}
