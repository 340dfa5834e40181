package virtual

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// History records every state that Azure had since it was begun, property by property.
type History struct {
	subscription string

	mu sync.Mutex
	// now are the properties of each resource, by its ID.
	now map[string]map[string]bool
	// removed are the properties that a commit removed, with how many commits there had been; a property may be removed again and again.
	removed map[string][]int
	commits int
}

// transient are properties that show operations under way, or that repeat a value stored with another resource.
var transient = regexp.MustCompile(`\.(provisioningState|etag|resourceGuid|timeCreated|currentKubernetesVersion|lastModified\w*|systemData\.\w+|statuses\.\S*|code|powerState\.code)(:|\.)`)

// RecordHistory begins a history.
func (s *Scenario) RecordHistory() *History {
	h := &History{subscription: s.Azure.SubscriptionID, now: map[string]map[string]bool{}, removed: map[string][]int{}}
	s.Committed = h.recordChanges
	return h
}

func (h *History) recordChanges(changes []server.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commits++
	for _, change := range changes {
		properties := h.listProperties(change)
		before := h.now[change.ID]
		h.now[change.ID] = properties
		for property := range before {
			if !h.hasProperty(property) {
				h.removed[property] = append(h.removed[property], h.commits)
			}
		}
	}
}

// hasProperty returns true if a resource has a property now. Effects may be those of several resources.
func (h *History) hasProperty(property string) bool {
	for _, properties := range h.now {
		if properties[property] {
			return true
		}
	}
	return false
}

// listProperties returns the leaves of a resource, with named elements of lists by their names.
func (h *History) listProperties(change server.Change) map[string]bool {
	out := map[string]bool{}
	if change.Body == nil {
		return out
	}
	var body any
	raw, err := json.Marshal(change.Body)
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		panic(err) // The simulator shows JSON.
	}
	flattenValue(out, strings.TrimPrefix(change.ID, "/subscriptions/"+h.subscription+"/"), body)
	return out
}

// flattenValue adds the leaves of a value by their path, and the effect of each element of a list. An element is named by its name, ID or
// service, or is its own text, so that the order of a list does not count.
func flattenValue(out map[string]bool, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			flattenValue(out, path+"."+key, inner)
		}
	case []any:
		for i, element := range v {
			flattenValue(out, fmt.Sprintf("%s[%s]", path, elementName(i, element)), element)
			if effect := effectOf(element); effect != "" {
				out[typeOf(path)+"[*]: "+effect] = true
			}
		}
	default:
		if line := fmt.Sprintf("%s: %v", path, value); !transient.MatchString(line) {
			out[line] = true
		}
	}
}

// unrelated are members of an element that have no part in its effect: two security rules of different names and priorities may allow
// the same port.
var unrelated = []string{"provisioningState", "priority", "description", "resourceGuid"}

// effectOf returns the properties of an element of a list, whatever its name; "" for one without properties.
func effectOf(element any) string {
	object, _ := element.(map[string]any)
	properties, ok := object["properties"].(map[string]any)
	if !ok {
		return ""
	}
	effect := maps.Clone(properties)
	maps.DeleteFunc(effect, func(key string, _ any) bool { return slices.Contains(unrelated, key) })
	raw, _ := json.Marshal(effect) // Decoded JSON always marshals.
	return string(raw)
}

// typeOf returns the path of a list without the names of resources and elements: an effect may move to a resource with another name.
func typeOf(path string) string {
	id, list, _ := strings.Cut(path, ".properties")
	segments := strings.Split(id, "/")
	return segments[max(0, len(segments)-2)] + ".properties" + elements.ReplaceAllString(list, "[]")
}

var elements = regexp.MustCompile(`\[[^]]*\]`)

func elementName(i int, element any) string {
	object, isObject := element.(map[string]any)
	if !isObject {
		return ""
	}
	for _, key := range []string{"name", "id", "service", "key"} {
		if text, _ := object[key].(string); text != "" {
			return strings.ToLower(text)
		}
	}
	return fmt.Sprint(i)
}

// Moment is a state of Azure.
type Moment struct {
	commits    int
	properties map[string]bool
}

// CurrentMoment returns the state that Azure has now.
func (h *History) CurrentMoment() Moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := Moment{commits: h.commits, properties: map[string]bool{}}
	for _, properties := range h.now {
		for property := range properties {
			out.properties[property] = true
		}
	}
	return out
}

// CountStates returns how many states Azure had.
func (h *History) CountStates() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.commits
}

// FindGaps returns the properties that both moments have and that were missing at some time between them, sorted.
func (h *History) FindGaps(before, after Moment) (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for property := range before.properties {
		if after.properties[property] &&
			slices.ContainsFunc(h.removed[property], func(at int) bool { return at > before.commits && at <= after.commits }) {
			out = append(out, property)
		}
	}
	slices.Sort(out)
	return out
}
