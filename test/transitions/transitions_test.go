package transitions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTransitions draws manifests and applies them one after the other.
//
//	go test ./test/transitions -run Transitions -rapid.checks 200 -rapid.seed 0
func TestTransitions(t *testing.T) {
	for name, life := range lives() {
		t.Run(name, func(t *testing.T) {
			count := &tally{}
			rapid.Check(t, func(rt *rapid.T) {
				made, then := life.sequence(t, rt)
				if wrong := life.check(t, count, made, then); len(wrong) > 0 {
					rt.Fatalf("%s\n%s", life.written(made, then), strings.Join(wrong, "\n"))
				}
			})
			count.log(t)
		})
	}
}

func lives() map[string]*life { return map[string]*life{"AKS": &managed, "network": &network} }

// sequence draws what a cluster is made of, and what is applied then.
func (l *life) sequence(t *testing.T, rt *rapid.T) (made map[string]map[string]any, then []apply) {
	made = map[string]map[string]any{}
	// A manifest is one of those before with changes: some are refused, and some go back.
	before := map[string][]map[string]any{}
	for _, each := range l.objects {
		made[each.name], before[each.name] = each.base, []map[string]any{each.base}
	}
	for range rapid.IntRange(2, 8).Draw(rt, "manifests") {
		object := rapid.SampledFrom(l.objects).Draw(rt, "object")
		has := before[object.name]
		spec := cloned(has[max(0, len(has)-1-rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "back"))])
		for range rapid.IntRange(1, 2).Draw(rt, "changes") {
			l.kinds[object.kind].hints.edit(rt, "", l.schema(t, object.kind).Spec, spec)
		}
		before[object.name] = append(has, spec)
		then = append(then, apply{object.name, spec, rapid.SampledFrom([]int{0, 0, 1, 20, 90}).Draw(rt, "seconds")})
	}
	return made, then
}

// check applies manifests and tells what is wrong then.
func (l *life) check(t *testing.T, count *tally, made map[string]map[string]any, then []apply) (wrong []string) {
	t.Helper()
	changed := l.live(t, made, then)
	if len(changed.wrong) > 0 {
		return changed.wrong
	}
	fresh := l.live(t, changed.manifests, nil)
	if len(fresh.wrong) > 0 {
		return fresh.wrong
	}
	count.count(changed, fresh, len(then))
	if len(changed.said) > 0 {
		return told(changed.said)
	}
	for name, said := range fresh.said {
		wrong = append(wrong, name+" is as its spec after a change, and not when it is new: "+said)
	}
	if len(wrong) > 0 {
		return wrong
	}
	return l.differ(fresh, changed)
}

// written is a sequence as a row of testdata.
func (l *life) written(made map[string]map[string]any, then []apply) string {
	raw, _ := json.MarshalIndent(struct {
		Made map[string]map[string]any `json:"made"`
		Then []apply                   `json:"then"`
	}{made, then}, "", " ")
	return string(raw)
}
