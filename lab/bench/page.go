package bench

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed page.html
var pageTemplate string

// page is the input of the template of the page.
type page struct {
	Runs     []Run
	Headings []string
	Rows     [][]string
	Notes    []string
	Sections []section
}

// section is one phase of a scenario, with the runs that have it beside each other.
type section struct {
	Title  string
	About  string
	Legend []legendEntry
	Bars   []bars
	Curves []curve
	Types  requestsByTarget
}

// legendEntry is a run with its colour.
type legendEntry struct{ Colour, Name string }

// bars are one figure of several runs.
type bars struct {
	Title string
	Bars  []bar
	// Height is that of the picture.
	Height int
}

type bar struct {
	Colour, Label string
	Y, Width      int
	// TextX is where the label begins.
	TextX int
}

// curve is one figure over time.
type curve struct {
	Title, XMax, YMax string
	Lines             []line
}

type line struct{ Colour, Points string }

// requestsByTarget has the requests by their target, one column for each run.
type requestsByTarget struct {
	Names []string
	Rows  []typeRow
}

type typeRow struct {
	Type  string
	Cells []string
}

// colours tell runs apart, also for those who see few of them: https://jfly.uni-koeln.de/color/
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// RenderHTML returns a page with a table and plots of runs. It needs nothing but itself.
func RenderHTML(runs []Run) ([]byte, error) {
	p := page{Runs: runs, Headings: []string{"scenario", "size", "phase", "provider"}}
	for _, f := range Figures {
		p.Headings = append(p.Headings, f.columnHeading())
	}
	for _, r := range runs {
		for _, phase := range r.Phases {
			row := []string{r.Scenario, r.Size(), phase.Name, r.Provider}
			for _, f := range Figures {
				row = append(row, f.formatValue(phase))
			}
			p.Rows = append(p.Rows, row)
		}
		p.Notes = append(p.Notes, r.describeSource())
	}
	p.Sections = groupRuns(runs)
	parsed, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, p)
	return out.Bytes(), err
}

// WriteHTML writes the page.
func WriteHTML(path string, runs []Run) error {
	raw, err := RenderHTML(runs)
	if err != nil {
		return err
	}
	return writeFile(path, raw)
}

// phaseOfRun is a phase with its run.
type phaseOfRun struct {
	run   Run
	phase Phase
}

// groupRuns put runs of the same scenario and size beside each other.
func groupRuns(runs []Run) []section {
	var titles []string
	entries := map[string][]phaseOfRun{}
	for _, r := range runs {
		for _, phase := range r.Phases {
			title := fmt.Sprintf("%s, %s: %s", r.Scenario, r.Size(), phase.Name)
			if entries[title] == nil {
				titles = append(titles, title)
			}
			entries[title] = append(entries[title], phaseOfRun{r, phase})
		}
	}
	var out []section
	for _, title := range titles {
		out = append(out, newSection(title, entries[title]))
	}
	return out
}

func newSection(title string, entries []phaseOfRun) section {
	s := section{Title: title}
	if scenario, err := FindScenario(entries[0].run.Scenario); err == nil {
		s.About = scenario.About
	}
	for i, e := range entries {
		s.Legend = append(s.Legend, legendEntry{plotColour(i), e.run.Provider})
	}
	for _, f := range Figures {
		if b, ok := newBars(f, entries); ok {
			s.Bars = append(s.Bars, b)
		}
	}
	requests := newCurve("requests to Azure so far", entries, func(p Phase) (out []xy) {
		for _, point := range p.Requests {
			out = append(out, xy{point.Seconds, float64(point.Count)})
		}
		return out
	})
	memory := newCurve("resident memory, MiB", entries, func(p Phase) (out []xy) {
		for _, sample := range p.Memory {
			out = append(out, xy{sample.Seconds, sample.MiB})
		}
		return out
	})
	for _, c := range []curve{requests, memory} {
		if len(c.Lines) > 0 {
			s.Curves = append(s.Curves, c)
		}
	}
	s.Types = newTypes(entries)
	return s
}

func plotColour(i int) string { return colours[i%len(colours)] }

// Sizes of pictures, as the template has them.
const (
	barHeight, barStep, barWidth = 16, 20, 190
	curveWidth, curveHeight      = 440, 150
)

func newBars(f Figure, entries []phaseOfRun) (bars, bool) {
	most := 0.0
	for _, e := range entries {
		value, _ := f.of(e.phase)
		most = max(most, value)
	}
	if most == 0 {
		return bars{}, false
	}
	out := bars{Title: f.columnHeading(), Height: barStep * len(entries)}
	for i, e := range entries {
		value, ok := f.of(e.phase)
		b := bar{Colour: plotColour(i), Label: f.formatValue(e.phase), Y: barStep * i, Width: int(value / most * barWidth)}
		if ok && value > 0 {
			b.Width = max(b.Width, 1)
		}
		b.TextX = b.Width + 6
		out.Bars = append(out.Bars, b)
	}
	return out, true
}

type xy struct{ x, y float64 }

func newCurve(title string, entries []phaseOfRun, of func(Phase) []xy) curve {
	var right, top float64
	for _, e := range entries {
		for _, p := range of(e.phase) {
			right, top = max(right, p.x), max(top, p.y)
		}
	}
	out := curve{Title: title, XMax: fmt.Sprintf("%.0f s", right), YMax: fmt.Sprintf("%.0f", top)}
	if right == 0 || top == 0 {
		return out
	}
	for i, e := range entries {
		var points []string
		for _, p := range of(e.phase) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", p.x/right*curveWidth, curveHeight-p.y/top*curveHeight))
		}
		if len(points) > 1 {
			out.Lines = append(out.Lines, line{plotColour(i), strings.Join(points, " ")})
		}
	}
	return out
}

// newTypes lists the types of all requests of the runs, those with the most requests first.
func newTypes(entries []phaseOfRun) requestsByTarget {
	all := map[string]int{}
	out := requestsByTarget{}
	for _, e := range entries {
		out.Names = append(out.Names, e.run.Provider)
		for name, c := range e.phase.Azure.Types {
			all[name] += c.CountAll()
		}
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if all[a] != all[b] {
			return all[b] - all[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		row := typeRow{Type: name}
		for _, e := range entries {
			c := e.phase.Azure.Types[name]
			row.Cells = append(row.Cells, fmt.Sprintf("%d / %d / %d", c.Reads, c.Writes, c.Deletes))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
