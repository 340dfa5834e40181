package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Figure is one figure of a phase as a person reads it.
type Figure struct {
	Name, Unit string
	// of returns false for a figure that is not known.
	of func(Phase) (float64, bool)
	// digits are those after the point.
	digits int
}

// formatValue returns the figure in text, a dash if it is not known.
func (f Figure) formatValue(p Phase) string {
	value, ok := f.of(p)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.*f", f.digits, value)
}

func ifPositive(value float64) (float64, bool) { return value, value > 0 }

func countValue(n int) (float64, bool) { return float64(n), true }

// Figures are those of tables and plots, in their order.
var Figures = []Figure{
	{Name: "wall", Unit: "s", digits: 1, of: func(p Phase) (float64, bool) { return ifPositive(p.WallSeconds) }},
	{Name: "critical", Unit: "s", digits: 1, of: func(p Phase) (float64, bool) { return ifPositive(p.CriticalSeconds) }},
	{Name: "overhead", digits: 2, of: func(p Phase) (float64, bool) { return ifPositive(p.Overhead) }},
	{Name: "reads", of: func(p Phase) (float64, bool) { return countValue(p.Azure.Reads) }},
	{Name: "polls", of: func(p Phase) (float64, bool) { return countValue(p.Azure.Polls) }},
	{Name: "writes", of: func(p Phase) (float64, bool) { return countValue(p.Azure.Writes) }},
	{Name: "deletes", of: func(p Phase) (float64, bool) { return countValue(p.Azure.Deletes) }},
	{Name: "429", of: func(p Phase) (float64, bool) { return countValue(p.Azure.Throttled) }},
	{Name: "k8s reads", of: func(p Phase) (float64, bool) {
		if p.Kubernetes == nil {
			return 0, false
		}
		return countValue(p.Kubernetes.CountReads())
	}},
	{Name: "k8s writes", of: func(p Phase) (float64, bool) {
		if p.Kubernetes == nil {
			return 0, false
		}
		return countValue(p.Kubernetes.CountWrites())
	}},
	ofProcess("CPU", "s", 1, func(p Process) float64 { return p.CPUSeconds }),
	ofProcess("peak", "MiB", 0, func(p Process) float64 { return p.PeakMiB }),
	ofProcess("rest", "MiB", 0, func(p Process) float64 { return p.RestMiB }),
	ofReconciliations("reconciliations", "", func(p Reconciliations) float64 { return float64(p.Count) }),
	ofReconciliations("p50", "ms", func(p Reconciliations) float64 { return p.P50 * 1000 }),
	ofReconciliations("p90", "ms", func(p Reconciliations) float64 { return p.P90 * 1000 }),
	ofReconciliations("p99", "ms", func(p Reconciliations) float64 { return p.P99 * 1000 }),
}

func ofProcess(name, unit string, digits int, of func(Process) float64) Figure {
	return Figure{Name: name, Unit: unit, digits: digits, of: func(p Phase) (float64, bool) {
		if p.Process == nil {
			return 0, false
		}
		return of(*p.Process), true
	}}
}

func ofReconciliations(name, unit string, of func(Reconciliations) float64) Figure {
	return Figure{Name: name, Unit: unit, of: func(p Phase) (float64, bool) {
		if p.Reconciliations == nil {
			return 0, false
		}
		return of(*p.Reconciliations), true
	}}
}

// columnHeading returns the name of a figure with its unit.
func (f Figure) columnHeading() string {
	if f.Unit == "" {
		return f.Name
	}
	return f.Name + " (" + f.Unit + ")"
}

// PrintTable writes a table of runs, with a line for each phase.
func PrintTable(out io.Writer, runs []Run) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	headings := []string{"SCENARIO", "SIZE", "PHASE", "PROVIDER"}
	for _, f := range Figures {
		headings = append(headings, strings.ToUpper(f.Name)+unitOf(f))
	}
	fmt.Fprintln(w, strings.Join(headings, "\t"))
	var notes []string
	for _, r := range runs {
		for _, p := range r.Phases {
			cells := []string{r.Scenario, r.Size(), p.Name, r.Provider}
			for _, f := range Figures {
				cells = append(cells, f.formatValue(p))
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
		notes = append(notes, r.describeSource())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", strings.Join(notes, "\n"))
	return err
}

func unitOf(f Figure) string {
	if f.Unit == "" {
		return ""
	}
	return "/" + f.Unit
}

// describeSource names the source of the figures of a run.
func (r Run) describeSource() string {
	if r.Source == FromVirtualTime {
		return fmt.Sprintf("%s, %s: our controllers in virtual time at Azure's pace, requests from the simulator's log", r.Scenario, r.Provider)
	}
	guests := "machines that do not boot"
	if r.Guests {
		guests = "machines that become nodes"
	}
	return fmt.Sprintf("%s, %s: a process in a lab at time scale %v, %s; %d processors, load %s before and %s after",
		r.Scenario, r.Provider, r.TimeScale, guests, r.Processors, r.LoadBefore, r.LoadAfter)
}
