package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

const document = "../../docs/conformance.md"

// disagreement is a kind of difference of one resource type.
type disagreement struct {
	typ, problem string
}

// result is what all recordings gave.
type result struct {
	mu       sync.Mutex
	served   map[string]*figures
	unserved map[string]int
	// problems counts each disagreement; samples names a recording that has it.
	problems map[disagreement]int
	samples  map[disagreement]string
}

func (r *result) add(recording string, outcomes []outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range outcomes {
		if !o.Served {
			r.unserved[o.Type]++
			continue
		}
		if r.served[o.Type] == nil {
			r.served[o.Type] = &figures{}
		}
		r.served[o.Type].add(o.Verdict)
		for _, problem := range o.Verdict.problems() {
			d := disagreement{o.Type, problem}
			r.problems[d]++
			if r.samples[d] == "" || recording < r.samples[d] {
				r.samples[d] = recording
			}
		}
	}
}

// TestRecordedTraffic replays every recording and holds the result against docs/conformance.md.
func TestRecordedTraffic(t *testing.T) {
	r := &result{served: map[string]*figures{}, unserved: map[string]int{}, problems: map[disagreement]int{}, samples: map[disagreement]string{}}
	t.Run("replay", func(t *testing.T) {
		for _, file := range cassettes(t) {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r.add(name, replay(t, load(t, file)))
			})
		}
	})
	for _, name := range slices.Sorted(maps.Keys(r.served)) {
		t.Log(strings.TrimSpace(r.served[name].row(name)))
	}
	for _, problem := range worse(readFigures(t, document), r.served) {
		t.Error(problem)
	}
	reasons := r.explain(t)
	if *update {
		if err := os.WriteFile(document, []byte(r.markdown(reasons)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if raw, err := os.ReadFile(document); err != nil || string(raw) != r.markdown(reasons) {
		t.Errorf("docs/conformance.md is out of date (%v): run go test ./... -update in sim/conformance and look at what changed", err)
	}
}

// explain sorts the disagreements by the row that explains them.
func (r *result) explain(t *testing.T) map[int][]disagreement {
	t.Helper()
	out := map[int][]disagreement{}
	for _, d := range slices.SortedFunc(maps.Keys(r.problems), compareDisagreements) {
		i := slices.IndexFunc(known, func(k reason) bool { return k.explains(d.typ, d.problem) })
		if i < 0 {
			t.Errorf("%d times, first in %s: %s: %s", r.problems[d], r.samples[d], d.typ, d.problem)
			continue
		}
		out[i] = append(out[i], d)
	}
	for i, k := range known {
		if len(out[i]) == 0 {
			t.Errorf("the known disagreement %q of %q no longer happens: delete its row", k.problem, k.types)
		}
	}
	return out
}

func compareDisagreements(a, b disagreement) int {
	return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.problem, b.problem))
}

// markdown is docs/conformance.md.
func (r *result) markdown(reasons map[int][]disagreement) string {
	var b strings.Builder
	b.WriteString("# Conformance of the simulated Azure\n\n")
	b.WriteString("Written by `go test ./... -update` in `sim/conformance`. The recorded traffic of " + operator + " is replayed against the simulator; `sim/conformance/doc.go` says how the answers are compared. ")
	b.WriteString("An exchange counts in the last columns when status, operation headers and body keys all agree. Polls of an operation count with the type of the resource they are about.\n\n")
	b.WriteString("| Type | Exchanges | Status | Headers | Body keys | All | Share |\n|---|---:|---:|---:|---:|---:|---:|\n")
	total := &figures{}
	for _, name := range slices.Sorted(maps.Keys(r.served)) {
		b.WriteString(r.served[name].row(name))
		total.plus(r.served[name])
	}
	b.WriteString(total.row("All served types"))
	b.WriteString("\n## Known disagreements\n\n")
	b.WriteString("Every disagreement has one of these reasons; the test fails when one has none. The number counts differences; one exchange can have several.\n\n")
	for i, k := range known {
		times := 0
		for _, d := range reasons[i] {
			times += r.problems[d]
		}
		fmt.Fprintf(&b, "- %s (%d)\n", k.why, times)
		for _, d := range reasons[i] {
			fmt.Fprintf(&b, "  - %s: %s (%d, such as %s)\n", d.typ, d.problem, r.problems[d], r.samples[d])
		}
	}
	b.WriteString("\n## Not served\n\nExchanges with types that the simulator does not have, and with other hosts; they were not replayed.\n\n| Namespace or host | Exchanges | Types |\n|---|---:|---:|\n")
	exchanges, types := map[string]int{}, map[string]int{}
	for name, n := range r.unserved {
		namespace := "operations, lists and others without a type"
		if !strings.HasPrefix(name, "/") {
			namespace, _, _ = strings.Cut(strings.ToLower(name), "/")
		}
		exchanges[namespace] += n
		types[namespace]++
	}
	for _, namespace := range slices.Sorted(maps.Keys(exchanges)) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", namespace, exchanges[namespace], types[namespace])
	}
	return b.String()
}
