package result

import (
	"fmt"
	"io"
	"strings"
)

var signs = map[Action]string{ActionCreate: "+", ActionChange: "~", ActionDelete: "-", ActionRun: "!"}

var verbs = map[Action]string{ActionCreate: "create", ActionChange: "change", ActionDelete: "delete", ActionRun: "run"}

// WriteText writes the plan as text. details adds all properties of new resources.
func (p *Plan) WriteText(out io.Writer, details bool) {
	for _, o := range p.Objects {
		fmt.Fprintf(out, "%s %s/%s%s\n", o.Kind, o.Namespace, o.Name, verdictText(o))
		if len(o.Observed) > 0 {
			fmt.Fprintf(out, "  observed: the manager makes no change until you remove %s\n", strings.Join(o.Observed, " and "))
		}
		for _, c := range o.Changes {
			writeChange(out, c, details)
		}
		for _, report := range o.Reports {
			fmt.Fprintf(out, "  ! %s\n", report)
		}
		fmt.Fprintln(out)
	}
	for _, note := range p.Notes {
		fmt.Fprintf(out, "Note: %s\n", note)
	}
	s := p.Summary
	if !p.HasChanges() {
		fmt.Fprintln(out, "No changes: Azure is as the objects describe it.")
		return
	}
	fmt.Fprintf(out, "Plan: %d to create, %d to change, %d to delete", s.Create, s.Change, s.Delete)
	if s.Replace > 0 {
		fmt.Fprintf(out, ", %d to replace", s.Replace)
	}
	if s.Refused > 0 {
		fmt.Fprintf(out, "; %d refused by the simulated Azure", s.Refused)
	}
	fmt.Fprintln(out, ".")
}

func verdictText(o Object) string {
	out := ""
	if o.Verdict != "" {
		out = ": " + string(o.Verdict)
	}
	if o.Order > 0 {
		out += fmt.Sprintf(" (number %d)", o.Order)
	}
	if o.Why != "" {
		out += ": " + o.Why
	}
	return out
}

func writeChange(out io.Writer, c Change, details bool) {
	fmt.Fprintf(out, "  %s %s %s", signs[c.Action], verbs[c.Action], c.Resource.ShortName())
	if c.Reason != "" && c.Action != ActionCreate {
		fmt.Fprintf(out, " (%s)", c.Reason)
	}
	fmt.Fprintln(out)
	if c.Reimages {
		fmt.Fprintln(out, "      AKS reimages nodes for this change")
	}
	if c.Action != ActionCreate || details {
		for _, property := range c.Properties {
			switch {
			case c.Action == ActionCreate:
				fmt.Fprintf(out, "      %s: %s\n", property.Path, property.New)
			default:
				fmt.Fprintf(out, "      %s: %s -> %s\n", property.Path, property.Old, property.New)
			}
		}
	}
	if c.Refused != "" {
		fmt.Fprintf(out, "      refused: %s\n", c.Refused)
	}
}
