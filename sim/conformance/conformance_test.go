package conformance

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

var values = flag.String("values", "", "list the values that differ for this resource type, or all, in visible recordings")

const document = "../../docs/conformance.md"

// disagreement is a kind of difference of one resource type.
type disagreement struct {
	typ, problem string
}

// isHeldOut chooses a ninth of the recordings by the hash of their name. Only their figures are published. Their
// disagreements are shown to no author of the simulator, so that the figures measure the simulator where its authors
// have not looked.
func (s source) isHeldOut(recording string) bool {
	return s.holdsOut && sha256.Sum256([]byte(recording))[0]%9 == 0
}

// result is what all recordings gave.
type result struct {
	mu       sync.Mutex
	served   map[string]*figures
	hidden   map[string]*figures
	clients  map[string]*figures
	unserved map[string]int
	// problems counts each disagreement; samples names a recording that has it.
	problems map[disagreement]int
	samples  map[disagreement]string
}

func (r *result) addOutcomes(from source, recording string, outcomes []outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range outcomes {
		if !o.Served {
			r.unserved[o.Type]++
			continue
		}
		side, held := r.served, from.isHeldOut(recording)
		switch {
		case from == clients:
			side = r.clients
		case held:
			side = r.hidden
		}
		if side[o.Type] == nil {
			side[o.Type] = &figures{}
		}
		side[o.Type].addComparison(o.Comparison)
		if held {
			continue
		}
		for _, problem := range o.Comparison.listProblems() {
			d := disagreement{o.Type, problem}
			r.problems[d]++
			if r.samples[d] == "" || recording < r.samples[d] {
				r.samples[d] = recording
			}
		}
	}
}

// TestRecordedTraffic replays every recording and compares the result with docs/conformance.md.
func TestRecordedTraffic(t *testing.T) {
	r := &result{served: map[string]*figures{}, hidden: map[string]*figures{}, clients: map[string]*figures{}, unserved: map[string]int{}, problems: map[disagreement]int{},
		samples: map[disagreement]string{}}
	t.Run("replay", func(t *testing.T) {
		for _, from := range []source{operator, clients} {
			for name, exchanges := range from.loadRecordings(t) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					outcomes := replayRecording(t, exchanges)
					r.addOutcomes(from, name, outcomes)
					for _, o := range outcomes {
						if (*values == "all" || strings.EqualFold(o.Type, *values)) && !from.isHeldOut(name) && o.Comparison.isAgreement() {
							for _, difference := range o.Comparison.values {
								t.Log(o.Type + ": " + o.Request + ": " + difference)
							}
						}
					}
				})
			}
		}
	})
	measured := maps.Clone(r.served)
	maps.Copy(measured, r.sumFigures())
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		t.Log(strings.TrimSpace(measured[name].tableRow(name)))
	}
	for _, problem := range findRegressions(readFigures(t, document), measured) {
		t.Error(problem)
	}
	reasons := r.groupByReason(t)
	if *update {
		if err := os.WriteFile(document, []byte(r.renderPage(t, reasons)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if raw, err := os.ReadFile(document); err != nil || string(raw) != r.renderPage(t, reasons) {
		t.Errorf("docs/conformance.md is out of date (%v): run go test ./... -update in sim/conformance and check the changes", err)
	}
}

// groupByReason sorts the disagreements by the row that explains them.
func (r *result) groupByReason(t *testing.T) map[int][]disagreement {
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

// sumFigures returns the rows over all types, on both sides.
func (r *result) sumFigures() map[string]*figures {
	out := sumByType(r.served, inSight, inSightOther)
	maps.Copy(out, sumByType(r.hidden, outOfSight, outSightOther))
	for name, f := range r.hidden {
		out[name+hiddenSuffix] = f
	}
	maps.Copy(out, sumByType(r.clients, ofClients, ofClientsOther))
	for name, f := range r.clients {
		out[name+clients.suffix] = f
	}
	return out
}

// hiddenSuffix marks the rows of held-out recordings.
const hiddenSuffix = ", held out"

// renderPage is docs/conformance.md.
func (r *result) renderPage(t *testing.T, reasons map[int][]disagreement) string {
	var b strings.Builder
	b.WriteString("# Conformance of the simulated Azure\n\n")
	b.WriteString("Check for each resource type how many recorded answers of Azure the simulated Azure reproduces. The tests replay the recorded traffic of " + operator.readModule(t) + " against the simulator and compare each exchange, which is a request with its answer.\n\n")
	b.WriteString("| Column | Exchanges that agree in |\n|---|---|\n| Status, Headers, Body keys | the HTTP status, the headers of operations, the keys of the body |\n| All | all three of them |\n| With values | all three, and in all values, without an additional key |\n\nThe two columns Share are the shares of All and of With values. Polls of an operation count for the type of their resource.\n\n")
	b.WriteString("About a ninth of the recordings is *held out*. The authors of the simulator do not see their content, only these figures, so they show how well the simulator fits unknown traffic. The hash of the name selects these recordings. All others are *visible*.\n\nEach replay begins with the facts that its recording implies: the resources that existed before its first request, the policies of the subscription, and which server had learnt of the deletion of a group. This holds for the held-out recordings, too, so their figures measure less about these answers.\n\n`go test ./... -update` in `sim/conformance` writes this page. `sim/conformance/doc.go` describes the comparison.\n\n")
	b.WriteString(heading)
	for _, name := range slices.Sorted(maps.Keys(r.served)) {
		b.WriteString(r.served[name].tableRow(name))
	}
	rows := r.sumFigures()
	for _, name := range []string{inSight, inSightOther, outOfSight, outSightOther} {
		b.WriteString(rows[name].tableRow(name))
	}
	b.WriteString("\n## Held out, by type\n\n" + heading)
	for _, name := range slices.Sorted(maps.Keys(r.hidden)) {
		b.WriteString(rows[name+hiddenSuffix].tableRow(name + hiddenSuffix))
	}
	b.WriteString("\n## Newer api-versions\n\nThe recordings of " + clients.readModule(t) + " (Apache License 2.0) are of Azure's public cloud and of Azure China, with api-versions of Microsoft.Network up to 2026-03-01. All of them are visible. Their recorder has removed times, `Retry-After` and GUIDs.\n\n" + heading)
	for _, name := range slices.Sorted(maps.Keys(r.clients)) {
		b.WriteString(rows[name+clients.suffix].tableRow(name + clients.suffix))
	}
	for _, name := range []string{ofClients, ofClientsOther} {
		b.WriteString(rows[name].tableRow(name))
	}
	b.WriteString("\n## Known disagreements\n\n")
	b.WriteString("Every difference in visible recordings, except in values, has one of these reasons. Otherwise the test fails. The number in parentheses is the number of differences. One exchange can have several.\n\n")
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
	b.WriteString("\n## Types without a simulation\n\nThe simulator does not have these types, so the tests do not replay their exchanges. For namespaces that clusters do not use, the recordings contain only exchanges that show the principal of an identity.\n\n| Namespace | Exchanges | Types |\n|---|---:|---:|\n")
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
