package rollout

import "slices"

// MaxModels is the maximum number of models of the VMs of a uniform scale set; Azure refuses every other model after
// that. https://github.com/kubernetes-sigs/cluster-api-provider-azure/issues/4958 and
// https://github.com/MicrosoftDocs/azure-docs/issues/103472, by which the limit is one of uniform orchestration.
// Assumption: a flexible scale set has none, because its VMs are resources of their own.
const MaxModels = 10

// modelsMargin is how many models before the limit VMs are replaced that cannot be brought to the latest model in place. VMs are added with
// the current bootstrap data, which may be another model each time: one that comes in exchange, and one more before the first one is
// brought to the latest model.
const modelsMargin = 2

// CountModels counts the models that VMs are of. VMs that are being deleted count until they are gone.
func CountModels(vms []Instance) int {
	var models []string
	for _, vm := range vms {
		if !slices.Contains(models, vm.Model) {
			models = append(models, vm.Model)
		}
	}
	return len(models)
}

// HasManyModels reports whether the VMs are of so many models that those which can are brought to the latest one in
// place: half of the maximum, because a change of the template leaves as many models behind that cannot.
func HasManyModels(spec Spec, vms []Instance) bool {
	return spec.MaxModels > 0 && CountModels(vms) >= spec.MaxModels/2
}

// CanAddModel reports whether VMs of one more model may be added. The last models before the limit are for VMs that
// replace others, when no VM can be brought to the latest model in place. The very last one waits as well until VMs
// that are being deleted are gone.
func CanAddModel(spec Spec, vms []Instance) bool {
	free := spec.MaxModels - CountModels(vms)
	switch {
	case spec.MaxModels == 0, free > modelsMargin:
		return true
	case free == 1 && slices.ContainsFunc(vms, func(vm Instance) bool { return vm.Deleting }):
		return false
	}
	return free > 0 && len(ListUpgradable(vms)) == 0
}

// MustHoldTemplate returns true while a new template waits, because VMs are of too many models already: all of them stay behind the new template, and
// none can be brought to it in place. Room is left for the margin, which VMs with other bootstrap data take, and for one model in reserve.
func MustHoldTemplate(spec Spec, seen Observed) bool {
	used := CountModels(seen.Instances)
	if seen.countPending() > 0 && !slices.ContainsFunc(seen.Instances, func(vm Instance) bool { return vm.Model == "" }) {
		used++
	}
	return spec.MaxModels > 0 && seen.NewTemplate && used >= spec.MaxModels-modelsMargin
}

// replaceWhileHolding is seen while the new template waits: the VMs of the template that the scale set has are as wanted. VMs of the oldest model are
// replaced by such ones as long as more models would stay than the new template may leave behind.
func replaceWhileHolding(spec Spec, seen Observed) Observed {
	seen = acceptModels(seen)
	staying := filterInstances(seen.Instances, func(vm Instance) bool {
		return vm.Model != "" && (!vm.Upgradable || vm.Paused) && !vm.MachineDeleting && !vm.Deleting
	})
	if CountModels(staying)+1 >= spec.MaxModels-modelsMargin {
		seen.Instances = replaceOldestModel(seen.Instances)
	}
	return seen
}

// ListUpgradable returns the VMs that Azure can bring to the latest model in place. Those that are broken are replaced instead.
func ListUpgradable(vms []Instance) []string {
	var out []string
	for _, vm := range vms {
		if vm.Upgradable && vm.Model != "" && !vm.Paused && !vm.Deleting && !vm.isBroken() {
			out = append(out, vm.ID)
		}
	}
	return out
}

// HasTooManyOldModels reports whether the VMs are of too many models even once all that can are brought to the latest
// one in place, so that those of the oldest model are to be replaced. VMs that go already do not count.
func HasTooManyOldModels(spec Spec, vms []Instance) bool {
	apart := filterInstances(vms, func(vm Instance) bool { return vm.Model != "" && !vm.Upgradable && !vm.MachineDeleting && !vm.Deleting })
	return spec.MaxModels > 0 && CountModels(apart)+1 >= spec.MaxModels-modelsMargin
}

// replaceOldestModel is vms with those of the oldest model outdated, so that they are replaced as old ones are. While other VMs are
// replaced it is vms: that brings the number of models down as well.
func replaceOldestModel(vms []Instance) []Instance {
	var oldest *Instance
	for i, vm := range vms {
		switch {
		case vm.MachineDeleting, vm.Deleting, vm.Paused:
		case vm.Outdated:
			return vms
		case vm.Model != "" && !vm.Upgradable && (oldest == nil || vm.Created.Before(oldest.Created)):
			oldest = &vms[i]
		}
	}
	if oldest == nil {
		return vms
	}
	out := slices.Clone(vms)
	for i := range out {
		out[i].Outdated = out[i].Model == oldest.Model
	}
	return out
}

// countByModel is how many VMs are of each model when there are nearly as many as may be, else nil. VMs of the smallest ones go first then,
// so that there are soon fewer.
func countByModel(spec Spec, vms []Instance) map[string]int {
	if spec.MaxModels == 0 || CountModels(vms) < spec.MaxModels-modelsMargin {
		return nil
	}
	sizes := map[string]int{}
	for _, vm := range vms {
		sizes[vm.Model]++
	}
	return sizes
}

// acceptModels is seen with VMs and a scale set that are as wanted.
func acceptModels(seen Observed) Observed {
	seen.Outdated, seen.Instances = false, slices.Clone(seen.Instances)
	for i := range seen.Instances {
		seen.Instances[i].Outdated = false
	}
	return seen
}
