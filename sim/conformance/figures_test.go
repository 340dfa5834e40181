package conformance

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// figures counts the exchanges of one resource type.
type figures struct {
	exchanges, status, headers, body, all, exact int
}

func (f *figures) addComparison(v comparison) {
	f.exchanges++
	if v.status == "" {
		f.status++
	}
	if len(v.headers) == 0 {
		f.headers++
	}
	if len(v.body) == 0 {
		f.body++
	}
	if v.isAgreement() {
		f.all++
	}
	if v.agreesExactly() {
		f.exact++
	}
}

func (f *figures) addFigures(other *figures) {
	f.exchanges += other.exchanges
	f.status += other.status
	f.headers += other.headers
	f.body += other.body
	f.all += other.all
	f.exact += other.exact
}

func (f *figures) percentOf(n int) float64 { return 100 * float64(n) / float64(max(f.exchanges, 1)) }

const heading = "| Type | Exchanges | Status | Headers | Body keys | All | Share | With values | Share |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"

func (f *figures) tableRow(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %.1f %% | %d | %.1f %% |\n", name, f.exchanges, f.status, f.headers, f.body, f.all,
		f.percentOf(f.all), f.exact, f.percentOf(f.exact))
}

// Rows that sum up. Resource groups are nearly half of all exchanges and agree nearly always, so that they hide the rest.
const (
	inSight       = "All visible"
	inSightOther  = "Visible, without resource groups"
	outOfSight    = "All held out"
	outSightOther = "Held out, without resource groups"

	ofClients      = "All of azclient"
	ofClientsOther = "All of azclient, without resource groups"
	groups         = "Microsoft.Resources/resourceGroups"
)

// sumByType returns the rows over all types.
func sumByType(byType map[string]*figures, all, other string) map[string]*figures {
	out := map[string]*figures{all: {}, other: {}}
	for name, f := range byType {
		out[all].addFigures(f)
		if name != groups {
			out[other].addFigures(f)
		}
	}
	return out
}

// readFigures reads the table of the document. A missing document has none.
func readFigures(t *testing.T, path string) map[string]*figures {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out := map[string]*figures{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(line, "|")
		if len(cells) != 11 || strings.TrimSpace(cells[2]) == "Exchanges" || strings.HasPrefix(cells[2], "--") {
			continue
		}
		f := &figures{}
		if _, err := fmt.Sscan(strings.Join(append(cells[2:7:7], cells[8]), " "), &f.exchanges, &f.status, &f.headers, &f.body, &f.all,
			&f.exact); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out[strings.TrimSpace(cells[1])] = f
	}
	return out
}

// findRegressions returns what fell behind the figures that were written down.
func findRegressions(written, measured map[string]*figures) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(written)) {
		was, is := written[name], measured[name]
		if is == nil {
			is = &figures{}
		}
		if is.exchanges < was.exchanges {
			out = append(out, fmt.Sprintf("%s: %d exchanges were replayed, %d before", name, is.exchanges, was.exchanges))
		}
		// Cross-multiplied, so that no rounding hides one exchange.
		if is.all*was.exchanges < was.all*is.exchanges {
			out = append(out, fmt.Sprintf("%s: %d of %d exchanges agree, %d of %d before", name, is.all, is.exchanges, was.all, was.exchanges))
		}
		if is.exact*was.exchanges < was.exact*is.exchanges {
			out = append(out, fmt.Sprintf("%s: %d of %d exchanges agree with their values, %d of %d before", name, is.exact, is.exchanges, was.exact,
				was.exchanges))
		}
	}
	return out
}
