package migration

import (
	"fmt"
	"io"
	"strings"
)

// maxObjects is the largest number of objects that the text names for one finding. The format json has all of them.
const maxObjects = 5

var headings = map[Severity]string{
	Blocks:    "Blocks the migration",
	DoneByRun: "Done by the migration",
	ToKnow:    "Notes",
}

// WriteText writes a sorted report for people. Findings that differ only in the object are written once.
func (r *Report) WriteText(out io.Writer) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "Migration from %s to %s\n", orUnknown(r.From), orUnknown(r.To))
	for _, severity := range severities {
		fmt.Fprintf(text, "\n%s: %d\n", headings[severity], r.Count(severity))
		writeFindings(text, r.Findings, severity)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func orUnknown(version string) string {
	if version == "" {
		return "an unknown version"
	}
	return version
}

// writeFindings writes the findings of one severity. Those of one text follow one another, because the report is sorted.
func writeFindings(text *strings.Builder, findings []Finding, severity Severity) {
	var last Finding
	var objects []string
	flush := func() {
		if len(objects) == 0 {
			return
		}
		fmt.Fprintf(text, "  [%s] %s\n", last.Check, last.Found)
		for _, object := range objects[:min(len(objects), maxObjects)] {
			fmt.Fprintf(text, "    %s\n", object)
		}
		if more := len(objects) - maxObjects; more > 0 {
			fmt.Fprintf(text, "    and %d more\n", more)
		}
		if last.Remedy != "" {
			fmt.Fprintf(text, "    -> %s\n", last.Remedy)
		}
		objects = nil
	}
	for _, finding := range findings {
		if finding.Severity != severity {
			continue
		}
		if finding.Check != last.Check || finding.Found != last.Found || finding.Remedy != last.Remedy {
			flush()
		}
		last = finding
		objects = append(objects, finding.Object)
	}
	flush()
}
