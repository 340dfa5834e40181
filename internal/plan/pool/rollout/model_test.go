package rollout_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
)

// vm is the state of a VM as bits.
type vm uint8

const (
	outdated vm = 1 << iota
	ready
	broken
	leaving
	free
	deleting
	marked
)

// ids are those of the VMs of a world, in their order.
var ids = []string{"0", "1", "2", "3", "4", "5", "6", "7"}

func (v vm) has(bit vm) bool { return v&bit != 0 }

// world is a scale set, its spec, and the number of mishaps that may still happen. Worlds that differ only in the order
// of their VMs are equal: policies choose between equal VMs.
type world struct {
	replicas, capacity    int
	updating, setOld      bool
	vms                   [8]vm
	count                 int
	mishaps, newModels    int
	marks                 int
	surge, maxUnavailable int
}

func (w world) listVMs() []vm { return w.vms[:w.count] }

// withVMs returns the world with these VMs.
func (w world) withVMs(vms []vm) world {
	slices.Sort(vms)
	w.vms, w.count = [8]vm{}, len(vms)
	copy(w.vms[:], vms)
	there := w.countExisting()
	if there >= w.capacity {
		w.updating = false
	}
	return w
}

// withVM returns the world with VM i changed.
func (w world) withVM(i int, v vm) world {
	vms := slices.Clone(w.listVMs())
	vms[i] = v
	return w.withVMs(vms)
}

// countExisting returns how many VMs count towards the capacity.
func (w world) countExisting() int {
	n := 0
	for _, v := range w.listVMs() {
		if !v.has(deleting) {
			n++
		}
	}
	return n
}

func (w world) buildSpec() rollout.Spec {
	return rollout.Spec{
		Limits: rollout.Limits{MaxSurge: w.surge, MaxUnavailable: min(w.maxUnavailable, w.replicas)}, Replicas: w.replicas,
		Policy: rollout.Random,
	}
}

func (w world) buildObserved() rollout.Observed {
	seen := rollout.Observed{Capacity: w.capacity, Updating: w.updating, Outdated: w.setOld, Instances: make([]rollout.Instance, 0, w.count)}
	for i, v := range w.listVMs() {
		seen.Instances = append(seen.Instances, rollout.Instance{
			ID: ids[i], Outdated: v.has(outdated), Ready: v.has(ready), Broken: v.has(broken), MachineDeleting: v.has(leaving), Drained: v.has(free),
			Deleting: v.has(deleting), Marked: v.has(marked),
		})
	}
	return seen
}

func (w world) String() string {
	var vms []string
	for _, v := range w.listVMs() {
		var words []string
		for i, word := range []string{"outdated", "ready", "broken", "leaving", "free", "deleting", "marked"} {
			if v.has(1 << i) {
				words = append(words, word)
			}
		}
		vms = append(vms, "["+strings.Join(words, " ")+"]")
	}
	return fmt.Sprintf("wanted %d (surge %d, unavailable %d), capacity %d, updating %v, scale set outdated %v: %s",
		w.replicas, w.surge, w.maxUnavailable, w.capacity, w.updating, w.setOld, strings.Join(vms, " "))
}

// nextStates returns the worlds that Azure, Cluster API and the kubelets make of this one when nothing goes wrong.
func (w world) nextStates() []world {
	var out []world
	if w.updating && w.countExisting() < w.capacity {
		var made vm
		if w.setOld {
			made = outdated
		}
		out = append(out, w.withVMs(append(slices.Clone(w.listVMs()), made)))
	}
	if w.setOld {
		next := w
		next.setOld = false
		out = append(out, next)
	}
	for i, v := range w.listVMs() {
		switch {
		case v.has(deleting):
			out = append(out, w.withVMs(slices.Delete(slices.Clone(w.listVMs()), i, i+1)))
		case v.has(leaving) && !v.has(free):
			out = append(out, w.withVM(i, v|free))
		case !v.has(leaving | ready | broken):
			out = append(out, w.withVM(i, v|ready))
		}
	}
	return out
}

// nextMishaps returns the worlds after one mishap, or after one change of the spec by a user.
func (w world) nextMishaps(most int) []world {
	var out []world
	if w.newModels > 0 {
		next := w
		next.newModels--
		next.setOld = true
		vms := slices.Clone(w.listVMs())
		for i := range vms {
			vms[i] |= outdated
		}
		out = append(out, next.withVMs(vms))
		for replicas := range most + 1 {
			if next = w; replicas != w.replicas {
				next.newModels--
				next.replicas = replicas
				out = append(out, next)
			}
		}
	}
	if w.marks > 0 {
		next := w
		next.marks--
		for i, v := range w.listVMs() {
			if !v.has(leaving | deleting | marked) {
				out = append(out, next.withVM(i, v|marked))
			}
		}
	}
	if w.mishaps == 0 {
		return out
	}
	w.mishaps--
	if w.updating {
		next := w
		next.updating = false // Azure has no capacity for the rest
		out = append(out, next)
	}
	for i, v := range w.listVMs() {
		if v.has(deleting) {
			continue
		}
		if v.has(ready) {
			out = append(out, w.withVM(i, v&^ready))
		} else if !v.has(broken) {
			out = append(out, w.withVM(i, v|broken))
		}
		if !v.has(leaving) {
			out = append(out, w.withVM(i, v|leaving))
		}
		next := w.withVMs(slices.Delete(slices.Clone(w.listVMs()), i, i+1)) // deleted outside
		next.capacity = max(0, next.capacity-1)
		out = append(out, next)
	}
	return out
}

// step is one thing that the provider does.
type step struct {
	name  string
	apply func(*world, []vm)
}

func listSteps(actions rollout.Actions) []step {
	var out []step
	index := func(id string) int { return slices.Index(ids, id) }
	for _, id := range actions.Retire {
		out = append(out, step{"retire", func(_ *world, vms []vm) { vms[index(id)] |= leaving }})
	}
	for _, id := range actions.Delete {
		out = append(out, step{"delete", func(w *world, vms []vm) {
			vms[index(id)] |= deleting
			w.capacity--
		}})
	}
	if actions.Capacity != nil {
		out = append(out, step{"capacity", func(w *world, _ []vm) { w.capacity = *actions.Capacity }})
	}
	return out
}

// takeSteps applies the chosen steps; the others are lost.
func (w world) takeSteps(all []step, chosen int) world {
	vms := slices.Clone(w.listVMs())
	next, grown := w, false
	// The size was computed with the VMs that existed, so it is written before any of them is deleted.
	for _, name := range []string{"capacity", "retire", "delete"} {
		for i, s := range all {
			if chosen&(1<<i) != 0 && s.name == name {
				s.apply(&next, vms)
				grown = grown || name == "capacity"
			}
		}
	}
	if grown {
		next.updating = true
	}
	return next.withVMs(vms)
}

// brokenRule returns the promise that a step breaks, "" for none.
func (w world) brokenRule(next world) string {
	count := func(w world, keep func(vm) bool) (n int) {
		for _, v := range w.listVMs() {
			if keep(v) {
				n++
			}
		}
		return n
	}
	kept := func(v vm) bool { return v.has(ready) && !v.has(leaving|deleting) }
	chosen := w.countChosen(next)
	before, after := count(w, kept), count(next, kept)
	if floor := w.replicas - min(w.maxUnavailable, w.replicas); after < before-chosen && after < floor {
		return fmt.Sprintf("%d Ready VMs are left, and %d have to be", after, floor)
	}
	total := max(next.capacity, next.countExisting()) + next.count - next.countExisting()
	if next.capacity > w.capacity && total > w.replicas+w.surge {
		return fmt.Sprintf("there will be %d VMs, and %d may be", total, w.replicas+w.surge)
	}
	if next.capacity < next.countExisting() {
		return fmt.Sprintf("Azure chooses which VM goes: the size is %d, and there are %d", next.capacity, next.countExisting())
	}
	current := func(v vm) bool { return kept(v) && !v.has(outdated) }
	worse := func(v vm) bool {
		return !v.has(leaving|deleting) && (v.has(outdated) || v.has(broken) && !v.has(ready))
	}
	if !w.setOld && count(next, current) < count(w, current)-chosen && count(w, worse) > 0 && count(next, worse) > 0 {
		return "a Ready VM of the latest model goes before a worse one"
	}
	return ""
}

// countSurplus is by how many VMs the pool has to get smaller, without those that a rollout has added.
func (w world) countSurplus() int {
	staying, old := 0, 0
	for _, v := range w.listVMs() {
		if !v.has(leaving | deleting) {
			staying++
			if v.has(outdated) {
				old++
			}
		}
	}
	if w.updating {
		staying += max(0, w.capacity-w.countExisting())
	}
	if w.setOld {
		return staying - w.replicas
	}
	return staying - w.replicas - min(w.surge, old)
}

// countChosen returns how many Ready VMs a step gives up that the user has chosen: they are marked, and the pool has to get smaller.
func (w world) countChosen(next world) int {
	count := func(w world) (n int) {
		for _, v := range w.listVMs() {
			if v.has(ready) && v.has(marked) && !v.has(leaving|deleting) {
				n++
			}
		}
		return n
	}
	return max(0, min(w.countSurplus(), count(w)-count(next)))
}

// hasMarksOnly reports whether marks change the actions although the pool does not get smaller.
func (w world) hasMarksOnly() bool {
	if !slices.ContainsFunc(w.listVMs(), func(v vm) bool { return v.has(marked) }) {
		return false
	}
	seen := w.buildObserved()
	for i := range seen.Instances {
		seen.Instances[i].Marked = false
	}
	return w.countSurplus() <= 0 &&
		!reflect.DeepEqual(rollout.DecideActions(w.buildSpec(), w.buildObserved()), rollout.DecideActions(w.buildSpec(), seen))
}

// reachesGoal reports whether everything is as wanted in the end when nothing goes wrong any more. known are worlds that do.
func (w world) reachesGoal(known map[world]bool) bool {
	var path []world
	for range 200 {
		if known[w] {
			break
		}
		path = append(path, w)
		all := listSteps(rollout.DecideActions(w.buildSpec(), w.buildObserved()))
		progress := w.nextStates()
		if len(all) == 0 && len(progress) == 0 {
			if w.capacity != w.replicas || w.count != w.replicas || w.setOld ||
				slices.ContainsFunc(w.listVMs(), func(v vm) bool { return v&^marked != ready }) {
				return false
			}
			break
		}
		if len(all) > 0 {
			w = w.takeSteps(all, 1<<len(all)-1)
		} else {
			w = progress[0]
		}
	}
	if len(path) == 200 {
		return false
	}
	for _, w := range path {
		known[w] = true
	}
	return true
}

// TestEveryReachableStateKeepsThePromises walks through every world that a pool of up to four VMs can come to: whatever the order in which things happen,
// with each step of the provider lost or not, a mishap and a change of the spec in the middle. Each promise is checked at
// each step, and the rollout converges from each world.
func TestEveryReachableStateKeepsThePromises(t *testing.T) {
	most := 4
	if testing.Short() {
		most = 3
	}
	exploreAll(t, most, world{mishaps: 1, newModels: 1})
}

// TestMarkedVMsKeepThePromises is TestEveryReachableStateKeepsThePromises with a user who marks a VM by cluster.x-k8s.io/delete-machine, at any moment before or after a change of the
// spec.
func TestMarkedVMsKeepThePromises(t *testing.T) { exploreAll(t, 3, world{newModels: 1, marks: 1}) }

// exploreAll explores pools of up to so many VMs with all limits. may is how much may go wrong.
func exploreAll(t *testing.T, most int, may world) {
	var worlds, transitions atomic.Int64
	t.Cleanup(func() { t.Logf("%d worlds, %d steps", worlds.Load(), transitions.Load()) })
	for replicas := range most + 1 {
		for surge := range 3 {
			for unavailable := range replicas + 1 {
				if surge == 0 && unavailable == 0 {
					continue
				}
				start := may
				start.replicas, start.capacity, start.setOld, start.surge, start.maxUnavailable = replicas, replicas, true, surge, unavailable
				start = start.withVMs(slices.Repeat([]vm{outdated | ready}, replicas))
				t.Run(fmt.Sprintf("%d VMs, surge %d, unavailable %d", replicas, surge, unavailable), func(t *testing.T) {
					t.Parallel()
					w, n := exploreFrom(t, start, most)
					worlds.Add(int64(w))
					transitions.Add(int64(n))
				})
			}
		}
	}
}

func exploreFrom(t *testing.T, start world, most int) (worlds, transitions int) {
	t.Helper()
	seen, converging := map[world]bool{start: true}, map[world]bool{}
	for queue := []world{start}; len(queue) > 0; {
		w := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !w.reachesGoal(converging) {
			t.Fatalf("never converges: %s", w)
		}
		if w.hasMarksOnly() {
			t.Fatalf("a mark alone changes something: %s", w)
		}
		next := append(w.nextStates(), w.nextMishaps(most)...)
		all := listSteps(rollout.DecideActions(w.buildSpec(), w.buildObserved()))
		for chosen := 1; chosen < 1<<len(all); chosen++ {
			after := w.takeSteps(all, chosen)
			if wrong := w.brokenRule(after); wrong != "" {
				t.Fatalf("%s\nbefore: %s\nafter:  %s", wrong, w, after)
			}
			next = append(next, after)
		}
		transitions += len(next)
		for _, n := range next {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return len(seen), transitions
}
