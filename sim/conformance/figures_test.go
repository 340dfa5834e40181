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
	exchanges, status, headers, body, all int
}

func (f *figures) add(v verdict) {
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
	if v.agrees() {
		f.all++
	}
}

func (f *figures) plus(other *figures) {
	f.exchanges += other.exchanges
	f.status += other.status
	f.headers += other.headers
	f.body += other.body
	f.all += other.all
}

func (f *figures) share() float64 { return 100 * float64(f.all) / float64(max(f.exchanges, 1)) }

const row = "| %s | %d | %d | %d | %d | %d | %.1f %% |\n"

func (f *figures) row(name string) string {
	return fmt.Sprintf(row, name, f.exchanges, f.status, f.headers, f.body, f.all, f.share())
}

// readFigures reads the table of the document. A document that is not there has none.
func readFigures(t *testing.T, path string) map[string]*figures {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out := map[string]*figures{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "Microsoft.") {
			continue
		}
		f := &figures{}
		if _, err := fmt.Sscan(strings.Join(cells[2:7], " "), &f.exchanges, &f.status, &f.headers, &f.body, &f.all); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out[strings.TrimSpace(cells[1])] = f
	}
	return out
}

// worse tells what fell behind the figures that were written down.
func worse(written, measured map[string]*figures) []string {
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
	}
	return out
}
