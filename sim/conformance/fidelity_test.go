package conformance

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

const fidelityPage = "../../docs/book/simulator-fidelity.md"

// fidelityRows tell what of each type is faithful.
//
//go:embed fidelity.json
var fidelityRows []byte

// fidelity is a section of the page: types that behave alike.
type fidelity struct {
	Title string
	// Types may end with "/*", which stands for the types below that no row names itself.
	Types                 []string
	Faithful, Approximate []sourced
	Absent                []string
}

type sourced struct{ What, Source string }

// TestFidelityPage compares the page with the types that the simulator serves: each has a row, and each row has a type.
func TestFidelityPage(t *testing.T) {
	var rows []fidelity
	if err := json.Unmarshal(fidelityRows, &rows); err != nil {
		t.Fatal(err)
	}
	sections := map[int][]string{}
	for _, name := range newPlayer(t, []exchange{{URL: &url.URL{}}}).types {
		at := findRow(rows, name)
		if at < 0 {
			t.Errorf("fidelity.json has no row for %s: tell what is faithful, approximate and absent", name)
			continue
		}
		sections[at] = append(sections[at], name)
	}
	for i, row := range rows {
		if len(sections[i]) == 0 {
			t.Errorf("the simulator serves no type of %q", row.Title)
		}
		for _, s := range append(slices.Clone(row.Faithful), row.Approximate...) {
			if s.Source == "" {
				t.Errorf("%s: %q has no source", row.Title, s.What)
			}
		}
	}
	page := renderFidelity(rows, sections, readFigures(t, document))
	if *update {
		if err := os.WriteFile(fidelityPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if raw, err := os.ReadFile(fidelityPage); err != nil || string(raw) != page {
		t.Errorf("docs/book/simulator-fidelity.md is out of date (%v): run go test ./... -update in sim/conformance and check the changes", err)
	}
}

// findRow returns the row of a type: one that names it, or else the longest pattern that covers it.
func findRow(rows []fidelity, name string) int {
	best, length := -1, -1
	for i, row := range rows {
		for _, pattern := range row.Types {
			prefix, isPattern := strings.CutSuffix(pattern, "*")
			switch {
			case strings.EqualFold(pattern, name):
				return i
			case isPattern && len(prefix) > length && strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)):
				best, length = i, len(prefix)
			}
		}
	}
	return best
}

func renderFidelity(rows []fidelity, sections map[int][]string, shares map[string]*figures) string {
	var b strings.Builder
	b.WriteString("# How faithful the simulator is\n\n")
	b.WriteString("Check how far you can rely on [the simulated Azure](simulator.md) for a resource type.\n\n")
	b.WriteString("- **Faithful** behaviour agrees with Azure according to the named source.\n")
	b.WriteString("- **Approximate** behaviour is similar to Azure, or an assumption.\n")
	b.WriteString("- **Absent** behaviour does not exist in the simulator.\n")
	b.WriteString("- **Shown unasked** lists properties that Azure returns although the client did not set them.\n\n")
	b.WriteString("A percentage is the share of recorded exchanges with Azure whose answers agree in status, headers and properties: see [conformance](../conformance.md). Types without a percentage have no recording. ")
	b.WriteString("For all types, bodies are checked against Azure's published definitions. Durations are medians of measured ones, multiplied by `--time-scale`.\n\n")
	b.WriteString("For developers: `go test ./... -update` in `sim/conformance` writes this page from `fidelity.json` and the simulator's tables.\n")
	for i, row := range rows {
		fmt.Fprintf(&b, "\n## %s\n\n", row.Title)
		slices.Sort(sections[i])
		for n, name := range sections[i] {
			sections[i][n] = "`" + name + "`"
			if f := shares[name]; f != nil && f.exchanges > 0 {
				sections[i][n] += fmt.Sprintf(" (%.0f %% of %d)", f.percentOf(f.all), f.exchanges)
			}
		}
		b.WriteString(strings.Join(sections[i], ", ") + "\n\n")
		renderSourced(&b, "Faithful", row.Faithful)
		renderSourced(&b, "Approximate", row.Approximate)
		if len(row.Absent) > 0 {
			b.WriteString("- **Absent**: " + strings.Join(row.Absent, "; ") + "\n")
		}
		renderUnasked(&b, rows, i)
	}
	return b.String()
}

func renderSourced(b *strings.Builder, title string, list []sourced) {
	for _, s := range list {
		source := s.Source
		if strings.HasPrefix(source, "https://") && !strings.ContainsAny(source, ", ") {
			source = "[" + describeSource(source) + "](" + source + ")"
		}
		fmt.Fprintf(b, "- **%s**: %s. Source: %s\n", title, s.What, source)
	}
}

func describeSource(address string) string {
	switch {
	case strings.Contains(address, "/issues/"):
		return "issue"
	case strings.Contains(address, "/pull/"):
		return "pull request"
	}
	return "documentation"
}

// renderUnasked lists the properties that Azure shows unasked.
func renderUnasked(b *strings.Builder, rows []fidelity, section int) {
	var lines []string
	for _, u := range provider.ListUnasked() {
		if findRow(rows, u.Type) != section || u.Hide {
			continue
		}
		_, kind, _ := strings.Cut(u.Type, "/")
		line := "`" + kind + "` `" + u.Path + "`"
		if u.Since != "" {
			line += " since " + u.Since
		}
		if u.Until != "" {
			line += " before " + u.Until
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "- **Shown unasked**: %s. Sources are in `sim/provider/unasked.json`\n", strings.Join(lines, ", "))
	}
}
