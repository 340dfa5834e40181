package conformance

import (
	"cmp"
	"crypto/sha256"
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

var values = flag.String("values", "", "list what differs in value for this resource type, in recordings that are in sight")

const document = "../../docs/conformance.md"

// disagreement is a kind of difference of one resource type.
type disagreement struct {
	typ, problem string
}

// hidden chooses a third of the recordings by the hash of their name. Only their figures are told: what disagrees in them is for nobody to
// see, so that they show what the simulator is worth where its authors have not looked.
func hidden(recording string) bool { return sha256.Sum256([]byte(recording))[0]%3 == 0 }

// result is what all recordings gave.
type result struct {
	mu       sync.Mutex
	served   map[string]*figures
	hidden   map[string]*figures
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
		side := r.served
		if hidden(recording) {
			side = r.hidden
		}
		if side[o.Type] == nil {
			side[o.Type] = &figures{}
		}
		side[o.Type].add(o.Verdict)
		if hidden(recording) {
			continue
		}
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
	r := &result{served: map[string]*figures{}, hidden: map[string]*figures{}, unserved: map[string]int{}, problems: map[disagreement]int{}, samples: map[disagreement]string{}}
	t.Run("replay", func(t *testing.T) {
		for _, file := range cassettes(t) {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				outcomes := replay(t, load(t, file))
				r.add(name, outcomes)
				for _, o := range outcomes {
					if *values != "" && strings.EqualFold(o.Type, *values) && !hidden(name) && o.Verdict.agrees() {
						for _, difference := range o.Verdict.values {
							t.Log(o.Request + ": " + difference)
						}
					}
				}
			})
		}
	})
	measured := maps.Clone(r.served)
	maps.Copy(measured, r.sums())
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		t.Log(strings.TrimSpace(measured[name].row(name)))
	}
	for _, problem := range worse(readFigures(t, document), measured) {
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

// sums are the rows over all types, on both sides.
func (r *result) sums() map[string]*figures {
	out := sums(r.served, inSight, inSightOther)
	maps.Copy(out, sums(r.hidden, outOfSight, outSightOther))
	return out
}

// markdown is docs/conformance.md.
func (r *result) markdown(reasons map[int][]disagreement) string {
	var b strings.Builder
	b.WriteString("# Conformance of the simulated Azure\n\n")
	b.WriteString("Written by `go test ./... -update` in `sim/conformance`. The recorded traffic of " + operator + " is replayed against the simulator; `sim/conformance/doc.go` says how the answers are compared. ")
	b.WriteString("An exchange counts in the column All when status, operation headers and body keys all agree, and in the next ones when it has the same values as well and no key too much. Polls of an operation count with the type of the resource they are about.\n\n")
	b.WriteString("A third of the recordings, chosen by the hash of their name, is out of sight: of these only the sums are told, here and to whoever works on the simulator.\n\n")
	b.WriteString(heading)
	for _, name := range slices.Sorted(maps.Keys(r.served)) {
		b.WriteString(r.served[name].row(name))
	}
	rows := r.sums()
	for _, name := range []string{inSight, inSightOther, outOfSight, outSightOther} {
		b.WriteString(rows[name].row(name))
	}
	b.WriteString("\n## Known disagreements\n\n")
	b.WriteString("Every disagreement in sight has one of these reasons, values apart; the test fails when one has none. The number counts differences; one exchange can have several.\n\n")
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
