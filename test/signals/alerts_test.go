package signals

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// firesIn has the story in which an alert fires and clears.
var firesIn = map[string]string{
	"CAPZManagerDown": "stopped", "CAPZNoLeader": "stopped", "CAPZObjectsStalled": "credential", "CAPZObjectNotReady": "hanging",
	"CAPZDeletionStuck": "deletion", "CAPZAzureNotRead": "credential", "CAPZRequestBudgetLow": "throttled", "CAPZAzureThrottles": "throttled",
	"CAPZOperationHangs": "hanging", "CAPZDriftNotRepaired": "drift", "CAPZDriftRepeated": "contest", "CAPZReconcileErrors": "refused",
	"CAPZStatusWritesFail": "refused", "CAPZUpdateSlow": "updating",
}

// alongside are alerts that fire in a story because of the same trouble.
var alongside = map[string][]string{
	"deletion": {"CAPZObjectsStalled"}, "throttled": {"CAPZObjectNotReady"}, "credential": {}, "refused": {"CAPZObjectNotReady"}, "updating": {"CAPZOperationHangs"},
	"forgotten": {"CAPZOperationHangs", "CAPZDeletionStuck", "CAPZObjectsStalled", "CAPZObjectNotReady"},
}

// TestAlerts evaluates the rules with the series of each story: each alert fires in its story and is clear in the end, and no other alert fires.
func TestAlerts(t *testing.T) {
	groups, file := readRules(t)
	var names []string
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
			if firesIn[rule.Alert] == "" {
				t.Errorf("no story has the alert %s", rule.Alert)
			}
		}
	}
	stories := readStories(t)
	for _, story := range slices.Sorted(maps.Keys(stories)) {
		fired := evaluateRules(t, file, stories[story])
		for _, name := range names {
			of, expected := fired[name], firesIn[name] == story
			switch {
			case of == nil && expected:
				t.Errorf("%s does not fire in the story %s", name, story)
			case of == nil:
			case !expected && !slices.Contains(alongside[story], name):
				t.Errorf("%s fires in the story %s from %s to %s: %q", name, story, of.first, of.last, of.texts[0])
			case of.atEnd:
				t.Errorf("%s still fires in the end of the story %s", name, story)
			default:
				t.Logf("%-12s %-22s fires after %8s, clears after %8s: %s", story, name, of.first, of.last, of.texts[0])
			}
		}
	}
}

// TestRunbooks makes sure that each alert has a section of the runbook, to which it links, and each section an alert.
func TestRunbooks(t *testing.T) {
	raw, err := os.ReadFile("../../docs/book/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "### "); ok {
			sections = append(sections, name)
		}
	}
	groups, _ := readRules(t)
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if i := slices.Index(sections, rule.Alert); i < 0 {
				t.Errorf("docs/book/alerts.md has no section %s", rule.Alert)
			} else {
				sections = slices.Delete(sections, i, i+1)
			}
			if want := "docs/book/alerts.md#" + strings.ToLower(rule.Alert); rule.Annotations["runbook_url"] != want {
				t.Errorf("%s: runbook_url is %s, want %s", rule.Alert, rule.Annotations["runbook_url"], want)
			}
			for _, key := range []string{"summary", "description"} {
				if rule.Annotations[key] == "" {
					t.Errorf("%s has no %s", rule.Alert, key)
				}
			}
		}
	}
	if len(sections) > 0 {
		t.Errorf("docs/book/alerts.md has sections without an alert: %q", sections)
	}
}
