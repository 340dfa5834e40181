package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
)

// TestDecideModels decides about VMs of several models of a scale set that allows four, so that the rollout reduces them from two on. A
// digit is the model of a VM, none the latest one; u(pgradable) VMs can be brought to the latest model in place.
func TestDecideModels(t *testing.T) {
	type seen = rollout.Observed
	surge, unavailable := rollout.Limits{MaxSurge: 1}, rollout.Limits{MaxUnavailable: 1}
	tests := map[string]struct {
		reason   string
		limits   rollout.Limits
		replicas int
		vms      string
		seen     seen
		change   func(*rollout.Spec)
		want     string
	}{
		"all of the latest": {"there is nothing to bring together", surge, 2, "r r", seen{Capacity: 2}, nil, ""},
		"few models": {"Azure allows more", surge, 2, "r ru1", seen{Capacity: 2}, func(s *rollout.Spec) { s.MaxModels = 10 },
			""},
		"near the limit": {"all that can are brought to the latest model", surge, 3, "r ru1 ru2", seen{Capacity: 3}, nil,
			"upgrade b c"},
		"no limit": {"VMs of a flexible scale set are resources of their own", surge, 3, "r ru1 ru2", seen{Capacity: 3},
			func(s *rollout.Spec) { s.MaxModels = 0 }, ""},
		"while VMs come": {"a scale set does one thing at a time", surge, 3, "r ru1 ru2", seen{Capacity: 3, Updating: true}, nil,
			""},
		"while a VM goes": {"a scale set does one thing at a time", surge, 2, "rlf1 ru2 r", seen{Capacity: 3}, nil, "delete a"},
		"bigger": {"VMs are added first while the limit allows it", surge, 4, "r ru1 ru2", seen{Capacity: 3},
			func(s *rollout.Spec) { s.MaxModels = 6 }, "capacity 4"},
		"bigger, at the limit": {"VMs of other models are brought together first", surge, 4, "r ru1 ru2", seen{Capacity: 3}, nil,
			"upgrade b c"},
		"paused":        {"it stays as it is", surge, 3, "r ruh1 ru2", seen{Capacity: 3}, nil, "upgrade c"},
		"being deleted": {"it counts until it is gone", surge, 2, "rud1 ru2 r", seen{Capacity: 2}, nil, "upgrade b"},
		"being drained": {"that may take hours", surge, 2, "rul1 ru2 r", seen{Capacity: 3}, nil, "upgrade a b"},
		"not in place": {"one comes in exchange for one of the oldest model", surge, 3, "r1 r2 r", seen{Capacity: 3}, nil,
			"capacity 4"},
		"not in place, one more":     {"the oldest goes", surge, 3, "r2 r1 r r", seen{Capacity: 4}, nil, "retire a"},
		"not in place, of one model": {"all of the oldest model go", unavailable, 3, "r1 r1 r2", seen{Capacity: 3}, nil, "retire a"},
		"not in place, VMs wanted": {"the last model before the limit is used, because nothing else helps", surge, 4, "r1 r2 r",
			seen{Capacity: 3}, nil, "capacity 5"},
		"not in place, limit reached": {"Azure would refuse another model", surge, 4, "r1 r2 r3 r", seen{Capacity: 4}, nil, ""},
		"not in place, may be fewer": {"the oldest goes, and then there is room for another model", unavailable, 4, "r1 r2 r3 r",
			seen{Capacity: 4}, nil, "retire a"},
		"not in place, smallest model": {"the number of models falls soonest that way", surge, 3, "ro1 ro1 ro2 r", seen{Capacity: 4}, nil,
			"retire c"},
		"some in place": {"the others wait, since that may suffice", surge, 3, "r1 ru2 r", seen{Capacity: 3}, nil, "upgrade b"},
		"some outdated": {"the rollout brings the number down as it is", unavailable, 3, "r1 ro2 r", seen{Capacity: 3}, nil,
			"retire b"},
		"model not stored": {"new VMs would be of the old template", surge, 3, "r1 r2 r", seen{Capacity: 3, Outdated: true}, nil,
			""},
		"scaled elsewhere": {"no VM goes, and none is restarted", surge, 3, "r1 ru2 r", seen{Capacity: 3},
			func(s *rollout.Spec) { s.ScaledByAutoscaler = true }, "upgrade b"},
		"scaled elsewhere, in vain": {"no VM goes", surge, 3, "r1 r2 r", seen{Capacity: 3},
			func(s *rollout.Spec) { s.ScaledByAutoscaler = true }, ""},
		"new template": {"Azure allows one more model", surge, 3, "r r r", seen{Capacity: 3, NewTemplate: true}, nil, ""},
		"new template, no limit": {"VMs of a flexible scale set are resources of their own", surge, 3, "r r1 r2",
			seen{Capacity: 3, NewTemplate: true}, func(s *rollout.Spec) { s.MaxModels = 0 }, ""},
		"new template, VMs come": {"they are of the latest model, which counts as soon as they are asked for", surge, 3, "r1 r1",
			seen{Capacity: 3, Updating: true, NewTemplate: true}, nil, "hold"},
		"held": {"one of the template that the scale set has comes in exchange for one of the oldest model", surge, 3,
			"ro1 ro1 ro", seen{Capacity: 3, Outdated: true, NewTemplate: true}, nil, "capacity 4, hold"},
		"held, one more": {"the oldest goes, and none of the template that the scale set has", surge, 3, "ro ro1 ro1 ro",
			seen{Capacity: 4, Outdated: true, NewTemplate: true}, nil, "retire b, hold"},
		"held, oldest": {"VMs of other models stay", unavailable, 3, "ro2 ro1 ro1",
			seen{Capacity: 3, Outdated: true, NewTemplate: true}, nil, "retire a, hold"},
		"held, going": {"the new template is applied once it is gone", surge, 2, "rol1 ro ro",
			seen{Capacity: 3, Outdated: true, NewTemplate: true}, nil, "hold"},
		"held, in place": {"that brings the number down without replacing any", surge, 2, "ro rou1",
			seen{Capacity: 2, Outdated: true, NewTemplate: true}, nil, "upgrade b, hold"},
		"held, paused": {"VMs of other models are replaced as far as there are any", surge, 2, "ro rouh1",
			seen{Capacity: 2, Outdated: true, NewTemplate: true}, nil, "hold"},
		"held, broken": {"it is replaced, as ever", surge, 2, "ro bou1", seen{Capacity: 2, Outdated: true, NewTemplate: true},
			nil, "retire b, capacity 3, hold"},
		"held, bigger": {"VMs are added of the template that the scale set has", surge, 4, "ro ro1 ro1",
			seen{Capacity: 3, Outdated: true, NewTemplate: true}, nil, "capacity 5, hold"},
		"held, scaled elsewhere": {"no VM goes", surge, 3, "ro ro1 ro1", seen{Capacity: 3, Outdated: true, NewTemplate: true},
			func(s *rollout.Spec) { s.ScaledByAutoscaler = true }, "hold"},
		"held, stale": {"the template waits in any case", surge, 3, "ro ro1 ro1",
			seen{Capacity: 3, Stale: true, NewTemplate: true}, nil, "hold"},
		"last model": {"it is kept while a VM is being deleted, which may free another", surge, 4, "rd1 r2 r",
			seen{Capacity: 2}, nil, ""},
		"stale": {"a state from before the last write leads to no action", surge, 3, "r ru1 ru2",
			seen{Capacity: 3, Stale: true}, nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.seen.Instances = parseVMs(test.vms)
			for i, word := range strings.Fields(test.vms) {
				test.seen.Instances[i].Model = word[strings.LastIndexAny(word, "abcdefghijklmnopqrstuvwxyz")+1:]
				test.seen.Instances[i].Upgradable = strings.Contains(word, "u")
			}
			before := cmp.Diff(nil, test.seen)
			spec := rollout.Spec{Limits: test.limits, Replicas: test.replicas, Policy: rollout.Oldest, MaxModels: 4}
			if test.change != nil {
				test.change(&spec)
			}
			if diff := cmp.Diff(test.want, describeActions(rollout.DecideActions(spec, test.seen))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if after := cmp.Diff(nil, test.seen); before != after {
				t.Errorf("the input was changed:\n%s", after)
			}
		})
	}
}

// member is a VM of one of several models.
type member struct {
	// model is 0 for the latest one. apart tells that the VM cannot be brought to the latest model in place.
	model uint8
	apart bool
	state vm
}

// models is a scale set whose VMs are of several models, and how often the user may still change its template and its size.
type models struct {
	spec               rollout.Spec
	capacity           int
	updating           bool
	all                [8]member
	count              int
	templates, resizes int
	// outdated tells that VMs of other templates are to be replaced anyway. changed tells that the scale set does not have the latest template yet.
	outdated, changed bool
}

func (m models) listMembers() []member { return m.all[:m.count] }

// withMembers returns the scale set with these VMs. Models are numbered in the order of the VMs that are of them.
func (m models) withMembers(list []member) models {
	slices.SortFunc(list, func(a, b member) int {
		return slices.Compare([]int{toInt(a.apart), int(a.state), int(a.model)}, []int{toInt(b.apart), int(b.state), int(b.model)})
	})
	numbers := map[uint8]uint8{0: 0}
	m.all, m.count = [8]member{}, len(list)
	for i, each := range list {
		if _, known := numbers[each.model]; !known {
			numbers[each.model] = uint8(len(numbers))
		}
		each.model = numbers[each.model]
		m.all[i] = each
	}
	if m.countExisting() >= m.capacity {
		m.updating = false
	}
	return m
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m models) countExisting() (n int) {
	for _, each := range m.listMembers() {
		if !each.state.has(deleting) {
			n++
		}
	}
	return n
}

func (m models) buildObserved() rollout.Observed {
	seen := rollout.Observed{Capacity: m.capacity, Updating: m.updating, NewTemplate: m.changed, Outdated: m.outdated && m.changed}
	for i, each := range m.listMembers() {
		v := rollout.Instance{
			ID: ids[i], Ready: each.state.has(ready), MachineDeleting: each.state.has(leaving), Drained: each.state.has(free),
			Deleting:   each.state.has(deleting),
			Upgradable: each.model != 0 && !each.apart, Outdated: m.outdated && (each.apart || m.changed),
		}
		if each.model != 0 {
			v.Model = fmt.Sprint(each.model)
		}
		seen.Instances = append(seen.Instances, v)
	}
	return seen
}

// withNewModel is the VMs once the scale set has another model: with apart one of another template, else one of other bootstrap data only.
func (m models) withNewModel(apart bool) []member {
	list := slices.Clone(m.listMembers())
	for i := range list {
		if list[i].model == 0 {
			list[i].model = 9
		}
		list[i].apart = list[i].apart || apart
	}
	return list
}

// countUsed returns how many models VMs are of.
func (m models) countUsed() int { return rollout.CountModels(m.buildObserved().Instances) }

// nextStates returns the scale sets that come of this one, by what happens.
func (m models) nextStates() map[string][]models {
	out := map[string][]models{}
	for i, each := range m.listMembers() {
		list := slices.Clone(m.listMembers())
		switch {
		case each.state.has(deleting):
			out["progress"] = append(out["progress"], m.withMembers(slices.Delete(list, i, i+1)))
		case each.state.has(leaving) && !each.state.has(free):
			list[i].state |= free
			out["progress"] = append(out["progress"], m.withMembers(list))
		case !each.state.has(leaving | ready):
			list[i].state |= ready
			out["progress"] = append(out["progress"], m.withMembers(list))
		}
	}
	if m.updating && m.countExisting() < m.capacity {
		out["progress"] = append(out["progress"], m.withMembers(append(slices.Clone(m.listMembers()), member{})))
	}
	if m.templates > 0 {
		after := m
		after.templates, after.changed = m.templates-1, true
		out["user"] = append(out["user"], after)
	}
	if m.resizes > 0 {
		for _, replicas := range []int{m.spec.Replicas - 1, m.spec.Replicas + 1} {
			changed := m
			changed.resizes--
			changed.spec.Replicas = replicas
			if replicas >= 0 && replicas <= 4 {
				out["user"] = append(out["user"], changed)
			}
		}
	}
	return out
}

// takeActions carries out actions. refused reports that Azure refuses a write because the VMs are of the maximum number
// of models.
func (m models) takeActions(actions rollout.Actions) (after models, refused bool) {
	list := slices.Clone(m.listMembers())
	more := actions.Capacity != nil && *actions.Capacity > m.capacity
	// VMs are added with other bootstrap data each time.
	if apart := m.changed && !actions.HoldTemplate; apart || more {
		refused = m.countUsed() >= m.spec.MaxModels
		list = m.withNewModel(apart)
		m.changed = m.changed && !apart
	}
	if actions.Capacity != nil {
		m.capacity, m.updating = *actions.Capacity, m.updating || more
	}
	for _, id := range actions.Retire {
		list[slices.Index(ids, id)].state |= leaving
	}
	for _, id := range actions.Delete {
		list[slices.Index(ids, id)].state |= deleting
		m.capacity--
	}
	for _, id := range actions.Upgrade {
		list[slices.Index(ids, id)].model = 0
	}
	return m.withMembers(list), refused
}

// TestModelOfModels walks through every state that a scale set which allows four models can come to, with bootstrap data that differ
// whenever VMs are added and a user who changes the template and the size at any time. Azure refuses no write, one model stays in reserve, and
// the rollout converges to the latest template.
func TestModelOfModels(t *testing.T) {
	for _, limits := range []rollout.Limits{{MaxSurge: 1}, {MaxUnavailable: 1}, {MaxSurge: 1, MaxUnavailable: 1}, {MaxSurge: 2}} {
		for _, outdated := range []bool{true, false} {
			t.Run(fmt.Sprintf("%+v, templates roll out %t", limits, outdated), func(t *testing.T) {
				t.Parallel()
				start := models{
					spec:     rollout.Spec{Limits: limits, Replicas: 3, Policy: rollout.Random, MaxModels: 4},
					capacity: 3, templates: 3, resizes: 1, outdated: outdated,
				}
				start = start.withMembers([]member{{state: ready}, {state: ready}, {state: ready}})
				t.Logf("%d states", exploreModels(t, start))
			})
		}
	}
}

func exploreModels(t *testing.T, start models) int {
	t.Helper()
	known := map[models]bool{start: true}
	for queue := []models{start}; len(queue) > 0; {
		m := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		after, refused := m.takeActions(rollout.DecideActions(m.spec, m.buildObserved()))
		if refused {
			t.Fatalf("Azure refuses the model that is sent: %+v", m.buildObserved())
		}
		if m.countUsed() >= m.spec.MaxModels {
			t.Fatalf("no model is left in reserve: %+v", m.buildObserved())
		}
		if !m.reachesGoal() {
			t.Fatalf("never converges: %+v\n%+v", m.spec, m.buildObserved())
		}
		next := m.nextStates()
		for _, each := range slices.Concat(next["progress"], next["user"], []models{after}) {
			if !known[each] {
				known[each] = true
				queue = append(queue, each)
			}
		}
	}
	return len(known)
}

// reachesGoal reports whether the pool is as wanted in the end when the user changes nothing any more.
func (m models) reachesGoal() bool {
	for range 200 {
		actions := rollout.DecideActions(m.spec, m.buildObserved())
		after, _ := m.takeActions(actions)
		progress := m.nextStates()["progress"]
		switch {
		case after != m:
			m = after
		case len(progress) > 0:
			m = progress[0]
		default:
			return m.count == m.spec.Replicas && m.capacity == m.spec.Replicas && m.countUsed() < m.spec.MaxModels && !m.changed &&
				!slices.ContainsFunc(m.listMembers(), func(each member) bool { return each.state != ready || m.outdated && each.apart })
		}
	}
	return false
}
