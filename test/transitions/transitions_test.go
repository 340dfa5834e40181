package transitions_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// TestTransitions draws manifests and applies them one after the other.
//
//	go test ./test/transitions -run Transitions -rapid.checks 200 -rapid.seed 0
func TestTransitions(t *testing.T) {
	for name, life := range allLives() {
		t.Run(name, func(t *testing.T) {
			count := &tally{}
			rapid.Check(t, func(rt *rapid.T) {
				made, then := life.drawSequence(t, rt)
				if wrong := life.checkSequence(t, count, made, then); len(wrong) > 0 {
					rt.Fatalf("%s\n%s", formatRow(sequence{Life: name, Made: made, Then: then}), strings.Join(wrong, "\n"))
				}
			})
			count.logCounts(t)
		})
	}
}

// TestKept applies the sequences of testdata, which once led elsewhere.
func TestKept(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sequences: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var row sequence
			if err := yaml.UnmarshalStrict(raw, &row); err != nil {
				t.Fatal(err)
			}
			life := allLives()[row.Life]
			if life == nil {
				t.Fatalf("there is no life %q", row.Life)
			}
			if wrong := life.checkSequence(t, &tally{}, row.Made, row.Then); len(wrong) > 0 {
				t.Errorf("%s:\n%s", row.Reason, strings.Join(wrong, "\n"))
			}
		})
	}
}

// sequence is a row of testdata.
type sequence struct {
	Life   string                    `json:"life"`
	Reason string                    `json:"reason,omitempty"`
	Made   map[string]map[string]any `json:"made"`
	Then   []apply                   `json:"then"`
}

func allLives() map[string]*life {
	return map[string]*life{"AKS": &managed, "network": &network, "machine": &machine, "pool": &pool, "documents": &documents}
}

// drawSequence draws the first manifests of a cluster, and the changes that are applied then.
func (l *life) drawSequence(t *testing.T, rt *rapid.T) (made map[string]map[string]any, then []apply) {
	made = map[string]map[string]any{}
	// A manifest is one of those before with changes: some are refused, and some go back.
	before := map[string][]map[string]any{}
	for _, each := range l.objects {
		if before[each.name] = []map[string]any{each.base}; !each.late {
			made[each.name] = each.base
		}
	}
	for range rapid.IntRange(2, 8).Draw(rt, "manifests") {
		object := rapid.SampledFrom(l.objects).Draw(rt, "object")
		has := before[object.name]
		if object.comes && rapid.IntRange(0, 2).Draw(rt, "goes") == 0 {
			then = append(then, apply{Object: object.name})
			continue
		}
		spec := cloneSpec(has[max(0, len(has)-1-rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "back"))])
		for range rapid.IntRange(1, 2).Draw(rt, "changes") {
			l.kinds[object.kind].hints.editProperty(rt, "", l.loadSchema(t, object.kind).Spec, spec)
		}
		before[object.name] = append(has, spec)
		then = append(then, apply{object.name, spec, rapid.SampledFrom([]int{0, 0, 1, 20, 90}).Draw(rt, "seconds")})
	}
	return made, then
}

// checkSequence applies manifests and returns the violations.
func (l *life) checkSequence(t *testing.T, count *tally, made map[string]map[string]any, then []apply) (wrong []string) {
	t.Helper()
	changed := l.applyManifests(t, made, then)
	if len(changed.wrong) > 0 || len(changed.gaps) > 0 {
		return slices.Concat(changed.wrong, changed.gaps)
	}
	fresh := l.applyManifests(t, changed.manifests, nil)
	if len(fresh.wrong) > 0 {
		return fresh.wrong
	}
	count.countSequence(changed, fresh, len(then))
	if len(changed.messages) > 0 {
		return lackingCause(changed.messages)
	}
	for name, message := range fresh.messages {
		wrong = append(wrong, name+" is as its spec after a change, and not when it is new: "+message)
	}
	if len(wrong) > 0 {
		return wrong
	}
	return l.listDifferences(fresh, changed)
}

// formatRow returns a sequence as a row of testdata.
func formatRow(row sequence) string {
	raw, _ := json.MarshalIndent(row, "", " ")
	return string(raw)
}
