package rollout

import (
	"cmp"
	"slices"
	"time"
)

// Policy is the order in which VMs go that are equal otherwise.
type Policy string

// Policies. Random is an order by ID: IDs of scale sets say nothing about what a VM is used for.
const (
	Oldest Policy = "Oldest"
	Newest Policy = "Newest"
	Random Policy = "Random"
)

// Spec is what is wanted.
type Spec struct {
	Limits
	// Replicas is the number of VMs.
	Replicas int
	Policy   Policy
	// ScaledElsewhere says that an autoscaler owns the number of VMs: neither is it written, nor does a VM go but one that
	// somebody else deletes.
	ScaledElsewhere bool
	// MaxModels is how many models the VMs may be of, 0 for any number.
	MaxModels int
}

// Seen is the scale set and its VMs as Azure and the workload cluster have them.
type Seen struct {
	// Stale says that the list of VMs may be older than the last write.
	Stale bool
	// Outdated says that the scale set itself has an older model than the one wanted, so that what is made is of no use.
	Outdated bool
	// NewTemplate says that the scale set is to get another template, to which no VM can be brought in place.
	NewTemplate bool
	// Capacity is the size of the scale set: how many VMs Azure wants there to be.
	Capacity int
	// Updating says that Azure still makes the VMs that are missing to the capacity.
	Updating  bool
	Instances []Instance
}

// Instance is one VM.
type Instance struct {
	ID      string
	Created time.Time
	// Outdated says that it is of an older model than the scale set.
	Outdated bool
	// Model tells apart the models of the scale set that VMs are of. "" is the latest one. Upgradable says that Azure can bring the VM to
	// the latest model in place: it differs in bootstrap data and tags only.
	Model      string
	Upgradable bool
	// Ready says that its node is Ready, Broken that it will not become so by itself: Azure failed to make it, stopped it or
	// took it away. One that is Ready is not broken, whatever Azure says of it.
	Ready, Broken bool
	// Marked means that its Machine has the annotation cluster.x-k8s.io/delete-machine. Cluster API defines it as a priority: when the
	// pool gets smaller the VM goes before others. Until then nothing happens to it. The cluster-autoscaler annotates a Machine and
	// lowers the replicas in two requests.
	// https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations
	Marked bool
	// Held says that somebody has it left alone, by the annotation cluster.x-k8s.io/paused: whatever it is, it counts as one that is as
	// wanted, and stays.
	Held bool
	// Leaving says that its Machine is being deleted, Free that nothing holds the VM any more, Deleting that Azure deletes it.
	Leaving, Free, Deleting bool
}

// Actions are what to do next. They are independent of each other, and each may be lost.
type Actions struct {
	// Retire are the VMs whose Machines are to be deleted.
	Retire []string
	// Delete are the VMs that Azure is to delete.
	Delete []string
	// Upgrade are the VMs that Azure is to bring to the latest model in place.
	Upgrade []string
	// Capacity is the size that the scale set is to have, nil for the one it has.
	Capacity *int
	// Hold says that the scale set keeps its template until VMs are of fewer models.
	Hold bool
}

// Decide says what to do next. Nothing to do is the zero value.
func Decide(spec Spec, seen Seen) Actions {
	out := Actions{Hold: Hold(spec, seen)}
	if seen.Stale {
		return out
	}
	for _, vm := range seen.Instances {
		if vm.Leaving && vm.Free && !vm.Deleting && !vm.Held {
			out.Delete = append(out.Delete, vm.ID)
		}
	}
	var inPlace []string
	if Crowded(spec, seen.Instances) {
		inPlace = Upgradable(seen.Instances)
	}
	switch {
	case out.Hold:
		seen = holding(spec, seen)
	case TooManyApart(spec, seen.Instances) && !seen.Outdated:
		seen.Instances = replaceOldestModel(seen.Instances)
	}
	if !spec.ScaledElsewhere {
		out.Retire, out.Capacity = resize(spec, seen)
	}
	// A uniform scale set does one thing at a time, and VMs that are added have somebody wait for them.
	if out.Capacity == nil && len(out.Delete) == 0 && !seen.Updating {
		out.Upgrade = inPlace
	}
	return out
}

// resize says which Machines are to be deleted, and the size that the scale set is to have.
func resize(spec Spec, seen Seen) (retired []string, size *int) {
	staying := pick(seen.Instances, func(vm Instance) bool { return !vm.Leaving && !vm.Deleting })
	order(staying, spec.Policy, sizeOfModels(spec, seen.Instances))
	retired = retire(spec, seen, staying)
	left := pick(staying, func(vm Instance) bool { return !slices.Contains(retired, vm.ID) })
	return retired, capacity(spec, seen, left)
}

// coming is how many VMs Azure is about to make.
func (s Seen) coming() int {
	if !s.Updating {
		return 0
	}
	return max(0, s.Capacity-len(pick(s.Instances, func(vm Instance) bool { return !vm.Deleting })))
}

// retire chooses the VMs that go.
func retire(spec Spec, seen Seen, staying []Instance) []string {
	floor := max(0, spec.Replicas-spec.MaxUnavailable)
	r := retirement{
		spare:   len(staying) - floor,
		ready:   len(pick(staying, func(vm Instance) bool { return vm.Ready })) - floor,
		surplus: len(staying) + seen.coming() - spec.Replicas,
	}
	r.takeMarked(spec, seen, staying)
	worse := false
	for _, vm := range staying {
		switch {
		case vm.Held:
		case slices.Contains(r.out, vm.ID):
			worse = worse || vm.broken() || vm.old()
		case seen.Outdated:
			// What would come in its place is no better: there are only too many, or not.
			if r.surplus > 0 {
				r.take(vm)
			}
		case vm.broken(), vm.old():
			r.take(vm)
			worse = true
		case !worse && r.surplus > 0:
			// Nothing but this is left to make the pool smaller by.
			r.take(vm)
		}
	}
	return r.out
}

// retirement counts how many VMs can still be given up: of all, of the Ready ones, and of those beyond what is wanted.
type retirement struct {
	spare, ready, surplus int
	out                   []string
}

// take gives a VM up where that leaves enough. Nodes that are not Ready may be so again in a minute, all at once; so they
// count as well, and only what Azure says is broken goes at once.
func (r *retirement) take(vm Instance) {
	if !vm.broken() && r.spare <= 0 || vm.Ready && r.ready <= 0 {
		return
	}
	r.giveUp(vm)
}

// giveUp gives a VM up.
func (r *retirement) giveUp(vm Instance) {
	r.out = append(r.out, vm.ID)
	r.spare--
	r.surplus--
	if vm.Ready {
		r.ready--
	}
}

// takeMarked gives up VMs that are marked, as many as the pool is to be smaller by. VMs that a rollout has added are not counted, because
// an old VM goes in exchange for each of them. The user has chosen the VMs by name, so they go even if nodes of others are not Ready:
// the cluster-autoscaler has drained the node already.
func (r *retirement) takeMarked(spec Spec, seen Seen, staying []Instance) {
	smaller := r.surplus - surge(spec, seen, staying)
	for _, vm := range staying {
		if smaller > 0 && vm.Marked && !vm.Held {
			r.giveUp(vm)
			smaller--
		}
	}
}

// surge is how many VMs there may be beyond the replicas while old ones are replaced.
func surge(spec Spec, seen Seen, vms []Instance) int {
	if seen.Outdated {
		return 0
	}
	return min(spec.MaxSurge, len(pick(vms, Instance.old)))
}

// capacity is the size that the scale set is to have, nil for the one it has. left are the VMs that stay in the end.
func capacity(spec Spec, seen Seen, left []Instance) *int {
	there := len(pick(seen.Instances, func(vm Instance) bool { return !vm.Deleting }))
	coming := seen.coming()
	wanted := spec.Replicas + surge(spec, seen, left)
	missing := wanted - len(left) - coming
	room := spec.Replicas + spec.MaxSurge - len(seen.Instances) - coming
	switch more := min(missing, room); {
	case more > 0 && !seen.Updating:
		if !MayAdd(spec, seen.Instances) {
			return nil
		}
		return new(there + more)
	case !seen.Updating && seen.Capacity > there && missing <= 0:
		// Azure gave up on the rest, and nobody wants it any more.
		return new(there)
	}
	return nil
}

func (vm Instance) broken() bool { return vm.Broken && !vm.Ready && !vm.Held }

// old VMs are to be replaced.
func (vm Instance) old() bool { return vm.Outdated && !vm.Held }

// order puts VMs into the order in which they go: broken ones, old ones, those that are not Ready, those of the smallest model if sizes has
// any, and then by policy.
func order(vms []Instance, policy Policy, sizes map[string]int) {
	slices.SortStableFunc(vms, func(a, b Instance) int {
		age := a.Created.Compare(b.Created)
		switch policy {
		case Newest:
			age = -age
		case Random:
			age = 0
		}
		return cmp.Or(first(a.broken(), b.broken()), first(a.old(), b.old()), first(!a.Ready, !b.Ready), cmp.Compare(sizes[a.Model], sizes[b.Model]), age, cmp.Compare(a.ID, b.ID))
	})
}

// first orders what is so before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func pick(vms []Instance, keep func(Instance) bool) []Instance {
	var out []Instance
	for _, vm := range vms {
		if keep(vm) {
			out = append(out, vm)
		}
	}
	return out
}
