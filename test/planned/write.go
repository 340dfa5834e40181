package planned

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Write is a request that changes Azure, as plans and managers send it.
type Write struct {
	Method, Path string
	Body         any
	// After is how long after the beginning of its plan a planned write is made.
	After time.Duration
	// text is the write as a text, to compare it with others.
	text string
}

// hidden are paths of values that a plan does not know: bootstrap data, which it does not read, the hash of such data, passwords, which the
// manager draws by lot, and the IDs of principals, which Azure draws.
var hidden = []string{"properties.osProfile.customData", "properties.virtualMachineProfile.osProfile.customData",
	"properties.osProfile.adminPassword", "properties.virtualMachineProfile.osProfile.adminPassword",
	"tags." + infrav1.CustomDataHashTag, "properties.tags." + infrav1.CustomDataHashTag, "properties.principalId"}

// NewWrite returns a write.
func NewWrite(method, path string, body []byte) Write {
	out := Write{Method: method, Path: strings.ToLower(path)}
	if len(body) > 0 {
		_ = json.Unmarshal(body, &out.Body)
		if object, is := out.Body.(map[string]any); is {
			for _, path := range hidden {
				jsonpath.Delete(object, path)
			}
		}
	}
	raw, _ := json.Marshal(out.Body) // It was decoded.
	out.text = out.Method + " " + out.Path + " " + string(raw)
	return out
}

// Step is a plan, and the writes that a manager makes after it. Equal writes count once: how often a write is repeated after it was refused or
// its operation has failed depends on how long that takes.
type Step struct {
	// Left are planned writes that were not made yet, and Made those that were.
	Left, Made []Write
	// Unplanned are writes that were made and not planned.
	Unplanned []Write
}

// NewStep returns the step of a plan.
func NewStep(plan []Write) Step {
	var out Step
	for _, each := range plan {
		if !Has(out.Left, each) {
			out.Left = append(out.Left, each)
		}
	}
	return out
}

// Equal reports whether two writes are the same.
func (w Write) Equal(other Write) bool { return w.text == other.text }

// Has reports whether a list has a write.
func Has(list []Write, w Write) bool {
	return slices.ContainsFunc(list, w.Equal)
}

// Add adds a write that was made.
func (s *Step) Add(w Write) {
	switch {
	case Has(s.Left, w):
		s.Left = without(s.Left, w)
		s.Made = append(s.Made, w)
	case !Has(s.Made, w) && !Has(s.Unplanned, w):
		s.Unplanned = append(s.Unplanned, w)
	}
}

func without(list []Write, w Write) []Write {
	return slices.DeleteFunc(list, w.Equal)
}

// Knows reports whether a write is planned.
func (s *Step) Knows(w Write) bool { return Has(s.Left, w) || Has(s.Made, w) }

// Drop removes a write from the planned ones that are left, if it is one of them.
func (s *Step) Drop(w Write) { s.Left = without(s.Left, w) }

// Compare returns how planned writes differ from those that were made, "" for not at all.
func Compare(planned, made []Write) string {
	step := NewStep(planned)
	for _, w := range made {
		step.Add(w)
	}
	return step.Describe()
}

// Describe returns the difference between the planned and the made writes, "" for none. Writes to the same resource are compared with each
// other.
func (s *Step) Describe() string {
	var out strings.Builder
	left := slices.Clone(s.Left)
	for _, made := range s.Unplanned {
		at := slices.IndexFunc(left, func(each Write) bool { return each.Method == made.Method && each.Path == made.Path })
		if at < 0 {
			out.WriteString("made and not planned: " + made.text + "\n")
			continue
		}
		out.WriteString(made.Method + " " + made.Path + " (-planned +made):\n" + cmp.Diff(left[at].Body, made.Body))
		left = slices.Delete(left, at, at+1)
	}
	for _, each := range left {
		out.WriteString("planned and not made: " + each.text + "\n")
	}
	return out.String()
}
