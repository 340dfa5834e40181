package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Status is the result of a check.
type Status string

// The results.
const (
	Passed Status = "passed"
	Failed Status = "failed"
	// Unknown is the result of a check that could not be made.
	Unknown Status = "unknown"
)

// The checks.
const (
	CheckEgress      = "egress"
	CheckCredentials = "credentials"
	CheckRights      = "rights"
	CheckProviders   = "providers"
	CheckSizes       = "sizes"
	CheckVersions    = "versions"
	CheckQuota       = "quota"
)

// Check is one line of the report.
type Check struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	// Fix is the command that fixes it, "" for a check that passed.
	Fix string `json:"fix,omitempty"`
}

// Report has all checks in the order in which they were made.
type Report struct {
	Checks []Check  `json:"checks"`
	Notes  []string `json:"notes,omitempty"`
}

func (r *Report) add(checks ...Check) { r.Checks = append(r.Checks, checks...) }

// HasPassed reports whether all checks passed.
func (r *Report) HasPassed() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status != Passed })
}

// WriteText writes a line for each check, and a second one with the command if it did not pass.
func (r *Report) WriteText(out io.Writer) {
	marks := map[Status]string{Passed: "ok", Failed: "FAILED", Unknown: "UNKNOWN"}
	failed := 0
	for _, c := range r.Checks {
		fmt.Fprintf(out, "%-8s %-12s %s: %s\n", marks[c.Status], c.Check, c.Subject, oneLine(c.Message))
		if c.Status != Passed {
			failed++
			fmt.Fprintf(out, "%-8s %-12s fix: %s\n", "", "", c.Fix)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintln(out, "note:", oneLine(note))
	}
	fmt.Fprintf(out, "%d of %d checks passed.\n", len(r.Checks)-failed, len(r.Checks))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
