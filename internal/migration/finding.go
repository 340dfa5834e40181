// Package migration has the terms that the parts of `kubectl capz migrate` share: findings, their severity, and the report that
// people and programs read. It is pure.
package migration

import (
	"cmp"
	"slices"
)

// Severity orders findings by the action that they require of the user.
type Severity string

// The severities.
const (
	// Blocks is a finding that a user has to settle before the migration.
	Blocks Severity = "blocks"
	// DoneByRun is a finding that the migration takes care of.
	DoneByRun Severity = "done-by-run"
	// ToKnow is a finding that changes nothing for the migration.
	ToKnow Severity = "to-know"
)

// severities is the order of a report.
var severities = []Severity{Blocks, DoneByRun, ToKnow}

// Finding is one result of a check.
type Finding struct {
	// Check is the name of the check, such as "versions".
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	// Object has kind, namespace and name, as in "AzureCluster default/one".
	Object string `json:"object"`
	// Found describes the state of the object.
	Found string `json:"found"`
	// Remedy describes the action that the user has to take. It is empty if no action is needed.
	Remedy string `json:"remedy,omitzero"`
}

// Report is the result of all checks.
type Report struct {
	// From and To are the versions of the provider before and after the migration.
	From     string    `json:"from"`
	To       string    `json:"to"`
	Findings []Finding `json:"findings"`
}

// Add adds a finding.
func (r *Report) Add(check string, severity Severity, object, found, remedy string) {
	r.Findings = append(r.Findings, Finding{Check: check, Severity: severity, Object: object, Found: found, Remedy: remedy})
}

// Sort orders findings by severity, check, text and object. Equal findings are in the report once.
func (r *Report) Sort() {
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Found, b.Found), cmp.Compare(a.Remedy, b.Remedy), cmp.Compare(a.Object, b.Object))
	})
	r.Findings = slices.Compact(r.Findings)
}

// Count returns the number of findings of a severity.
func (r *Report) Count(severity Severity) int {
	count := 0
	for _, finding := range r.Findings {
		if finding.Severity == severity {
			count++
		}
	}
	return count
}
