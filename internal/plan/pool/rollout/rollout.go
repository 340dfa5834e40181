package rollout

import (
	"cmp"
	"slices"
	"time"
)

// Policy is the order in which VMs go that are equal otherwise.
type Policy string

// Policies. Random is an order by ID: IDs of scale sets are unrelated to the use of a VM.
const (
	Oldest Policy = "Oldest"
	Newest Policy = "Newest"
	Random Policy = "Random"
)

// Spec is the desired state of a pool.
type Spec struct {
	Limits
	// Replicas is the number of VMs.
	Replicas int
	Policy   Policy
	// ScaledByAutoscaler reports that an autoscaler owns the number of VMs: the number is not written, and only VMs
	// that others delete go.
	ScaledByAutoscaler bool
	// MaxModels is how many models the VMs may be of, 0 for any number.
	MaxModels int
}

// Observed is the scale set and its VMs as Azure and the workload cluster have them.
type Observed struct {
	// Stale reports that the list of VMs may be older than the last write.
	Stale bool
	// Outdated reports that the scale set itself has an older model than the desired one, so that new VMs would be of
	// no use.
	Outdated bool
	// NewTemplate reports that the scale set is to get another template, to which no VM can be brought in place.
	NewTemplate bool
	// TemplateKept reports that Azure cannot give the scale set the desired template, so that it keeps the one it has: VMs are replaced by
	// VMs of that one, and none is replaced for being of an older model.
	TemplateKept bool
	// Capacity is the size of the scale set: how many VMs Azure wants there to be.
	Capacity int
	// Updating reports that Azure still creates the VMs that are missing to the capacity.
	Updating  bool
	Instances []Instance
}

// Instance is one VM.
type Instance struct {
	ID      string
	Created time.Time
	// Outdated reports that it is of an older model than the scale set.
	Outdated bool
	// Model identifies the model of the scale set that the VM is of. "" is the latest one. Upgradable reports that
	// Azure can bring the VM to the latest model in place: it differs in bootstrap data and tags only.
	Model      string
	Upgradable bool
	// Ready reports that its node is Ready. Broken reports that the node will not become Ready by itself: Azure failed
	// to create the VM, stopped it or evicted it. A VM with a Ready node is not broken, whatever its state in Azure.
	Ready, Broken bool
	// Marked means that its Machine has the annotation cluster.x-k8s.io/delete-machine. Cluster API defines it as a priority: when the
	// pool gets smaller the VM goes before others. Until then nothing happens to it. The cluster-autoscaler annotates a Machine and
	// lowers the replicas in two requests.
	// https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations
	Marked bool
	// Paused reports that a user paused the VM with the annotation cluster.x-k8s.io/paused. In every state it counts as
	// a VM in its desired state, and stays.
	Paused bool
	// MachineDeleting reports that its Machine is being deleted, Drained that nothing holds the VM any more,
	// Deleting that Azure deletes it.
	MachineDeleting, Drained, Deleting bool
}

// Actions are the next actions. They are independent of each other, and each may be lost.
type Actions struct {
	// Retire are the VMs whose Machines are to be deleted.
	Retire []string
	// Delete are the VMs that Azure is to delete.
	Delete []string
	// Upgrade are the VMs that Azure is to bring to the latest model in place.
	Upgrade []string
	// Capacity is the size that the scale set is to have, nil for the one it has.
	Capacity *int
	// HoldTemplate reports that the scale set keeps its template until VMs are of fewer models.
	HoldTemplate bool
}

// DecideActions returns the next actions. The zero value means that nothing is to do.
func DecideActions(spec Spec, seen Observed) Actions {
	if seen.TemplateKept {
		seen = acceptModels(seen)
		seen.NewTemplate = false
	}
	out := Actions{HoldTemplate: MustHoldTemplate(spec, seen)}
	if seen.Stale {
		return out
	}
	for _, vm := range seen.Instances {
		if vm.MachineDeleting && vm.Drained && !vm.Deleting && !vm.Paused {
			out.Delete = append(out.Delete, vm.ID)
		}
	}
	var inPlace []string
	if HasManyModels(spec, seen.Instances) {
		inPlace = ListUpgradable(seen.Instances)
	}
	switch {
	case out.HoldTemplate:
		seen = replaceWhileHolding(spec, seen)
	case HasTooManyOldModels(spec, seen.Instances) && !seen.Outdated:
		seen.Instances = replaceOldestModel(seen.Instances)
	}
	if !spec.ScaledByAutoscaler {
		out.Retire, out.Capacity = decideSize(spec, seen)
	}
	// A uniform scale set runs one operation at a time, and controllers wait for added VMs.
	if out.Capacity == nil && len(out.Delete) == 0 && !seen.Updating {
		out.Upgrade = inPlace
	}
	return out
}

// decideSize returns the Machines to delete, and the new size of the scale set.
func decideSize(spec Spec, seen Observed) (retired []string, size *int) {
	staying := filterInstances(seen.Instances, func(vm Instance) bool { return !vm.MachineDeleting && !vm.Deleting })
	sortForRemoval(staying, spec.Policy, countByModel(spec, seen.Instances))
	retired = chooseRetired(spec, seen, staying)
	left := filterInstances(staying, func(vm Instance) bool { return !slices.Contains(retired, vm.ID) })
	return retired, decideCapacity(spec, seen, left)
}

// countPending returns how many VMs Azure is about to make.
func (s Observed) countPending() int {
	if !s.Updating {
		return 0
	}
	return max(0, s.Capacity-len(filterInstances(s.Instances, func(vm Instance) bool { return !vm.Deleting })))
}

// chooseRetired chooses the VMs that go.
func chooseRetired(spec Spec, seen Observed, staying []Instance) []string {
	floor := max(0, spec.Replicas-spec.MaxUnavailable)
	r := retirement{
		spare:   len(staying) - floor,
		ready:   len(filterInstances(staying, func(vm Instance) bool { return vm.Ready })) - floor,
		surplus: len(staying) + seen.countPending() - spec.Replicas,
	}
	r.retireMarked(spec, seen, staying)
	worse := false
	for _, vm := range staying {
		switch {
		case vm.Paused:
		case slices.Contains(r.out, vm.ID):
			worse = worse || vm.isBroken() || vm.isOld()
		case seen.Outdated:
			// A replacement would be no better: the only question is whether there are too many VMs.
			if r.surplus > 0 {
				r.retireIfAllowed(vm)
			}
		case vm.isBroken(), vm.isOld():
			r.retireIfAllowed(vm)
			worse = true
		case !worse && r.surplus > 0:
			// Nothing but this is left to make the pool smaller by.
			r.retireIfAllowed(vm)
		}
	}
	return r.out
}

// retirement counts how many VMs can still be given up: of all, of the Ready ones, and of those beyond the desired
// number.
type retirement struct {
	spare, ready, surplus int
	out                   []string
}

// retireIfAllowed gives a VM up if enough VMs are left. Nodes that are not Ready may all become Ready again in a
// minute; so they count as well, and only VMs that are broken by their state in Azure go at once.
func (r *retirement) retireIfAllowed(vm Instance) {
	if !vm.isBroken() && r.spare <= 0 || vm.Ready && r.ready <= 0 {
		return
	}
	r.retireVM(vm)
}

// retireVM gives a VM up.
func (r *retirement) retireVM(vm Instance) {
	r.out = append(r.out, vm.ID)
	r.spare--
	r.surplus--
	if vm.Ready {
		r.ready--
	}
}

// retireMarked gives up VMs that are marked, as many as the pool is to be smaller by. VMs that a rollout has added are not counted, because
// an old VM goes in exchange for each of them. The user has chosen the VMs by name, so they go even if nodes of others are not Ready:
// the cluster-autoscaler has drained the node already.
func (r *retirement) retireMarked(spec Spec, seen Observed, staying []Instance) {
	smaller := r.surplus - surgeSize(spec, seen, staying)
	for _, vm := range staying {
		if smaller > 0 && vm.Marked && !vm.Paused {
			r.retireVM(vm)
			smaller--
		}
	}
}

// surgeSize returns how many VMs there may be beyond the replicas while old ones are replaced.
func surgeSize(spec Spec, seen Observed, vms []Instance) int {
	if seen.Outdated {
		return 0
	}
	return min(spec.MaxSurge, len(filterInstances(vms, Instance.isOld)))
}

// decideCapacity returns the size that the scale set is to have, nil for the one it has. left are the VMs that stay in the end.
func decideCapacity(spec Spec, seen Observed, left []Instance) *int {
	there := len(filterInstances(seen.Instances, func(vm Instance) bool { return !vm.Deleting }))
	coming := seen.countPending()
	wanted := spec.Replicas + surgeSize(spec, seen, left)
	missing := wanted - len(left) - coming
	room := spec.Replicas + spec.MaxSurge - len(seen.Instances) - coming
	switch more := min(missing, room); {
	case more > 0 && !seen.Updating:
		if !CanAddModel(spec, seen.Instances) {
			return nil
		}
		return new(there + more)
	case !seen.Updating && seen.Capacity > there && missing <= 0:
		// Azure gave up creating the missing VMs, and the spec no longer needs them.
		return new(there)
	}
	return nil
}

func (vm Instance) isBroken() bool { return vm.Broken && !vm.Ready && !vm.Paused }

// isOld VMs are to be replaced.
func (vm Instance) isOld() bool { return vm.Outdated && !vm.Paused }

// sortForRemoval puts VMs into the order in which they go: broken ones, old ones, those that are not Ready, those of the smallest model if sizes has
// any, and then by policy.
func sortForRemoval(vms []Instance, policy Policy, sizes map[string]int) {
	slices.SortStableFunc(vms, func(a, b Instance) int {
		age := a.Created.Compare(b.Created)
		switch policy {
		case Newest:
			age = -age
		case Random:
			age = 0
		}
		return cmp.Or(trueFirst(a.isBroken(), b.isBroken()), trueFirst(a.isOld(), b.isOld()), trueFirst(!a.Ready, !b.Ready),
			cmp.Compare(sizes[a.Model], sizes[b.Model]), age, cmp.Compare(a.ID, b.ID))
	})
}

// trueFirst orders true before false.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func filterInstances(vms []Instance, keep func(Instance) bool) []Instance {
	out := make([]Instance, 0, len(vms))
	for _, vm := range vms {
		if keep(vm) {
			out = append(out, vm)
		}
	}
	return out
}
