package results

import (
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// head is the page before its table.
const head = `# Results of the end-to-end specs

This page shows the last run of each spec with each flavor and cloud. ` + "`make e2e E2E_FLAGS=--record`" + ` writes it. [End-to-end specs](e2e.md) describes the specs
and how to run them. *Lab* is the [lab](lab.md) with its simulated Azure; *Azure* is a subscription.

`

// Page returns the page for all cases, those that never ran included.
func Page(runs []Result) string {
	var out strings.Builder
	out.WriteString(head)
	passed, ran, azure := 0, 0, 0
	for _, c := range catalog.Cases {
		if r, ok := Find(runs, c, catalog.Lab); ok {
			ran++
			if r.Passed {
				passed++
			}
		}
		if _, ok := Find(runs, c, catalog.Azure); ok {
			azure++
		}
	}
	fmt.Fprintf(&out, "Of %d cases, %d ran in the lab and %d of these passed. %d ran on Azure.\n\n", len(catalog.Cases), ran, passed, azure)
	out.WriteString("| Spec | Flavor | Cloud | Result | Seconds | Date | Commit | Log |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range catalog.Cases {
		for _, cloud := range []string{catalog.Lab, catalog.Azure} {
			out.WriteString(row(runs, c, cloud))
		}
	}
	return out.String()
}

func row(runs []Result, c catalog.Case, cloud string) string {
	name := map[string]string{catalog.Lab: "lab", catalog.Azure: "Azure"}[cloud]
	r, ok := Find(runs, c, cloud)
	switch {
	case ok:
		result := "passed"
		if !r.Passed {
			result = "**failed**: " + strings.ReplaceAll(r.Failure, "|", `\|`)
		}
		log := "../../test/e2e/results/logs/" + r.LogName()
		return fmt.Sprintf("| %s | %s | %s | %s | %d | %s | %s | [log](%s) |\n", c.Spec, c.Flavor, name, result, r.Seconds, r.Date, r.Commit, log)
	case c.Excluded[cloud] != "":
		return fmt.Sprintf("| %s | %s | %s | excluded: %s | | | | |\n", c.Spec, c.Flavor, name, c.Excluded[cloud])
	default:
		return fmt.Sprintf("| %s | %s | %s | never run %s | | | | |\n", c.Spec, c.Flavor, name, map[string]string{catalog.Lab: "in the lab", catalog.Azure: "on Azure"}[cloud])
	}
}
