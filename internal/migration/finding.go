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
	// DoneByRun is true if the migration does it.
	DoneByRun bool `json:"doneByRun"`
}

// ClusterPlan has the writes to Azure that the first reconciliation of a Cluster would make.
type ClusterPlan struct {
	Cluster string   `json:"cluster"`
	Writes  []string `json:"writes"`
	// Problem is the reason why no plan could be computed.
	Problem string `json:"problem,omitzero"`
}

// Report is the result of all checks.
type Report struct {
	// From and To are the versions of the provider before and after the migration.
	From     string        `json:"from"`
	To       string        `json:"to"`
	Findings []Finding     `json:"findings"`
	Clusters []ClusterPlan `json:"clusters"`
	// NotPlanned is the reason why clusters have no plan.
	NotPlanned string `json:"notPlanned,omitzero"`
}

// Add adds a finding.
func (r *Report) Add(check string, severity Severity, object, found, remedy string) {
	r.Findings = append(r.Findings, Finding{Check: check, Severity: severity, Object: object, Found: found, Remedy: remedy,
		DoneByRun: severity == DoneByRun})
}

// Sort orders findings by severity, check, text and object, and clusters by name. Equal findings are in the report once.
func (r *Report) Sort() {
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Found, b.Found), cmp.Compare(a.Remedy, b.Remedy), cmp.Compare(a.Object, b.Object))
	})
	r.Findings = slices.Compact(r.Findings)
	slices.SortFunc(r.Clusters, func(a, b ClusterPlan) int { return cmp.Compare(a.Cluster, b.Cluster) })
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

// NeedsAttention returns true if a finding blocks the migration, or if a cluster has a plan with writes or no plan.
func (r *Report) NeedsAttention() bool {
	return r.Count(Blocks) > 0 || slices.ContainsFunc(r.Clusters, func(c ClusterPlan) bool { return len(c.Writes) > 0 || c.Problem != "" })
}
