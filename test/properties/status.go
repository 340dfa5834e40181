package properties

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxMessage is the longest message that the schema of conditions allows.
const maxMessage = 32768

var statusProperties = []Property{
	{"RequestIsNamedOnce", "A message that repeats itself hides what else it has.", inConditions(findRepeatedRequest)},
	{"ConditionTypesAreUnique", "Clients read one condition of a type.", byKinds(findDuplicateConditions)},
	{"ConditionIsValid", "The API server refuses other conditions.", inConditions(findInvalidCondition)},
	{"TransitionIsHonest", "Alerts measure the time since the status changed.", findWrongTransitions},
	{"ProgressIsOne", "kstatus and Flux take an object as in progress, failed or current.", byKinds(findContradictoryProgress)},
	{"ReadyIsProvisioned", "Clusters whose infrastructure is not provisioned are not ready.", byKinds(findReadyUnprovisioned)},
}

// byKinds returns a property of each state of an object of the provider that a manager wrote.
func byKinds(check func(*Object) string) func(t *timeline) []string {
	return byManager(func(o *Object) string {
		if o.After == nil || !strings.HasPrefix(o.Kind, "Azure") {
			return ""
		}
		return check(o)
	})
}

// condition is a condition as JSON has it.
type condition map[string]any

func (c condition) text(key string) string {
	out, _ := c[key].(string)
	return out
}

func conditionsOf(object map[string]any) (out []condition) {
	list, _ := find(object, "status.conditions").([]any)
	for _, each := range list {
		if c, ok := each.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

func findCondition(object map[string]any, conditionType string) condition {
	for _, each := range conditionsOf(object) {
		if each.text("type") == conditionType {
			return each
		}
	}
	return nil
}

// inConditions is byKinds for each condition.
func inConditions(check func(condition) string) func(t *timeline) []string {
	return byKinds(func(o *Object) string {
		for _, each := range conditionsOf(o.After) {
			if found := check(each); found != "" {
				return each.text("type") + " " + found
			}
		}
		return ""
	})
}

// namedRequest matches a request as errors of Azure name it.
var namedRequest = regexp.MustCompile(`\b(?:GET|PUT|PATCH|POST|DELETE) [\w.-]+/[^\s:;,]+: `)

func findRepeatedRequest(c condition) string {
	seen := map[string]bool{}
	for _, request := range namedRequest.FindAllString(c.text("message"), -1) {
		if seen[request] {
			return fmt.Sprintf("names %q twice: %s", request, c.text("message"))
		}
		seen[request] = true
	}
	return ""
}

func findDuplicateConditions(o *Object) string {
	seen := map[string]bool{}
	for _, each := range conditionsOf(o.After) {
		if seen[each.text("type")] {
			return "the condition " + each.text("type") + " exists twice"
		}
		seen[each.text("type")] = true
	}
	return ""
}

var reasonFormat = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func findInvalidCondition(c condition) string {
	switch status := c.text("status"); {
	case status != "True" && status != "False" && status != "Unknown":
		return "has the status " + status
	case !reasonFormat.MatchString(c.text("reason")):
		return "has the reason " + c.text("reason")
	case len([]rune(c.text("message"))) > maxMessage:
		return "has a message that is too long"
	}
	return ""
}

// handover is how long after a lost lease statuses may be written from an earlier state of the object: the former manager still writes, and the
// new one gets its events late.
const handover = time.Minute

// handovers is called for all steps of a history in their order, and knows whether a handover is going on.
type handovers struct{ until time.Time }

// isDuring reports whether the next step is during a handover.
func (h *handovers) isDuring(step Step) bool {
	if step.Met == LeaseLost {
		h.until = step.At.Add(handover)
	}
	return step.At.Before(h.until)
}

// exceptHandovers returns a property of the changes of objects that are not written during a handover.
func exceptHandovers(find func(t *timeline) []string) func(t *timeline) []string {
	return func(t *timeline) []string {
		history := *t.History
		var lost handovers
		history.Steps = slices.DeleteFunc(slices.Clone(t.Steps), func(step Step) bool { return lost.isDuring(step) && step.Object != nil })
		return find(newTimeline(&history))
	}
}

// findWrongTransitions finds unchanged conditions with a new time, and changed statuses with a time before the former status was written. Writes
// during a handover do not count.
func findWrongTransitions(t *timeline) (out []string) {
	since := map[string]time.Time{}
	var lost handovers
	for _, step := range t.Steps {
		excused, o := lost.isDuring(step), step.Object
		if o == nil || !strings.HasPrefix(o.Kind, "Azure") {
			continue
		}
		for _, now := range conditionsOf(o.After) {
			key := strings.Join([]string{o.Kind, o.Namespace, o.Name, now.text("type")}, "/")
			was := findCondition(o.Before, now.text("type"))
			if found := findWrongTransition(was, now, since[key]); found != "" && o.ByManager && !excused {
				out = append(out, fmt.Sprintf("%s: %s %s, written at %s", o, now.text("type"), found, step.At.UTC().Format(time.RFC3339Nano)))
			}
			if was.text("status") != now.text("status") {
				since[key] = step.At
			}
		}
	}
	return out
}

// findWrongTransition compares a condition with its former state, whose status was written at a time.
func findWrongTransition(was, now condition, since time.Time) string {
	switch {
	case was == nil:
		return ""
	case was.text("status") != now.text("status"):
		at, err := time.Parse(time.RFC3339, now.text("lastTransitionTime"))
		// Times of conditions have whole seconds.
		if err != nil || at.Before(since.Truncate(time.Second)) {
			return fmt.Sprintf("was %s since %s, and is %s since %s", was.text("status"), since.UTC().Format(time.RFC3339), now.text("status"),
				now.text("lastTransitionTime"))
		}
	case was.text("reason") == now.text("reason") && was.text("message") == now.text("message") &&
		now.text("lastTransitionTime") != was.text("lastTransitionTime"):
		return fmt.Sprintf("has the lastTransitionTime %s after %s without a change", now.text("lastTransitionTime"), was.text("lastTransitionTime"))
	}
	return ""
}

func findContradictoryProgress(o *Object) string {
	isTrue := func(conditionType string) bool { return findCondition(o.After, conditionType).text("status") == "True" }
	switch {
	case isTrue("Reconciling") && isTrue("Stalled"):
		return "Reconciling and Stalled are both True"
	case isTrue("Stalled") && isTrue("Ready") && findCondition(o.After, "Ready").text("reason") != "LastSeen":
		return "Ready and Stalled are both True"
	}
	return ""
}

func findReadyUnprovisioned(o *Object) string {
	initialization, known := find(o.After, "status.initialization").(map[string]any)
	// Control planes have other fields.
	if strings.HasSuffix(o.Kind, "ControlPlane") || findCondition(o.After, "Ready").text("status") != "True" || !known || initialization["provisioned"] == true {
		return ""
	}
	return "Ready is True, and status.initialization.provisioned is not"
}
