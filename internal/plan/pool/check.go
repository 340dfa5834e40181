package pool

import (
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// CheckSpec returns the errors of the spec that can be found with facts of Azure. Each message contains the field, its value, the fault
// and the remedy. If there are errors, no VM may be created. The errors of CheckNewVMs, the template and the tags are included if there is no scale
// set yet. An existing scale set keeps its size, template and tags, and VMs of the pool can still be deleted: see CheckNewVMs and CheckKept.
func CheckSpec(in Input) field.ErrorList {
	path := field.NewPath("spec")
	errs := checkLocation(in, path.Child("location"))
	if !in.PoolFacts.ScaleSetExists {
		errs = append(errs, CheckNewVMs(in)...)
		errs = append(errs, checkTemplate(in)...)
		errs = append(errs, checkTags(in)...)
	}
	return append(errs, vm.CheckIdentity(in.AzureMachinePool.Spec.ManagedIdentities, path)...)
}

// checkTemplate returns the errors of fields that make up the template, without those of CheckNewVMs.
func checkTemplate(in Input) field.ErrorList {
	path, p := field.NewPath("spec"), buildProfile(in)
	template := path.Child("template")
	errs := checkOrchestration(in, path.Child("orchestrationMode"))
	errs = append(errs, vm.CheckSSHKey(p.VirtualMachineProfile, template)...)
	errs = append(errs, vm.CheckImage(p, template)...)
	return append(errs, vm.CheckSubnets(p, template)...)
}

// checkTags returns an error if the scale set would have more tags than Azure takes.
func checkTags(in Input) field.ErrorList {
	return plan.CheckTagCount(wantedTags(in), "the scale set", field.NewPath("spec", "additionalTags"))
}

// CheckKept returns the errors because of which an existing scale set keeps its template and its tags: those of the template, and those of
// the tags.
func CheckKept(in Input) (template, tags field.ErrorList) {
	if !in.PoolFacts.ScaleSetExists {
		return nil, nil
	}
	return explainKept(checkTemplate(in), "its whole template until then, also for VMs that are added"),
		explainKept(checkTags(in), "the tags that it has, and gets no new ones until then")
}

func explainKept(errs field.ErrorList, kept string) field.ErrorList {
	for _, err := range errs {
		err.Detail = text.JoinSentences(err.Detail, "The scale set keeps "+kept)
	}
	return errs
}

// CheckNewVMs returns the errors because of which Azure would create no VM of the pool: those of the size, of the zones, of settings that the
// size does not support, and of the bootstrap data. Azure may restrict a size, or drop it from the catalog, while VMs have it, and the
// bootstrap data may grow.
func CheckNewVMs(in Input) field.ErrorList {
	template, p := field.NewPath("spec", "template"), buildProfile(in)
	errs := vm.CheckSize(p, template)
	errs = append(errs, vm.CheckZones(p.Place, field.NewPath("MachinePool", "spec", "failureDomains"))...)
	errs = append(errs, vm.CheckCapabilities(p, template)...)
	if in.MachinePool == nil {
		return errs
	}
	return append(errs, vm.CheckBootstrapData(in.BootstrapData,
		field.NewPath("MachinePool", "spec", "template", "spec", "bootstrap", "dataSecretName"),
		in.MachinePool.Spec.Template.Spec.Bootstrap.DataSecretName)...)
}

// checkLocation checks that the pool is in the region of the cluster's network: Azure creates no interface in a network of
// another region.
func checkLocation(in Input, path *field.Path) field.ErrorList {
	location, cluster := in.AzureMachinePool.Spec.Location, plan.Location(in.ClusterInput)
	if plan.NormalizeRegion(location) == cluster {
		return nil
	}
	return field.ErrorList{field.Invalid(path, location, fmt.Sprintf("the cluster's network is in region %s: set it to that", cluster))}
}

// firstFlexible is the first Kubernetes version whose cloud-provider-azure finds VMs of flexible scale sets:
// https://cloud-provider-azure.sigs.k8s.io/topics/vmss-flex/
var firstFlexible = semver.MustParse("1.26.0")

// checkOrchestration checks that cloud-provider-azure finds nodes of the mode. A text that is no version is reported where
// the image is selected.
func checkOrchestration(in Input, path *field.Path) field.ErrorList {
	mode := in.AzureMachinePool.Spec.OrchestrationMode
	if mode != infrav1.FlexibleOrchestration || in.MachinePool == nil {
		return nil
	}
	version, err := semver.ParseTolerant(in.MachinePool.Spec.Template.Spec.Version)
	if err != nil || version.GTE(firstFlexible) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, mode,
		fmt.Sprintf("needs Kubernetes %s or later, and the MachinePool has %s: set a later version, or Uniform", firstFlexible, version))}
}

// UnsupportedFields returns an error for each field of the spec that the plan would ignore. It needs no facts.
func UnsupportedFields(in Input) field.ErrorList {
	spec, path := in.AzureMachinePool.Spec, field.NewPath("spec")
	errs := vm.UnsupportedNetwork(spec.Template.VirtualMachineProfile, path.Child("template"))
	errs = append(errs, vm.UnsupportedIdentity(spec.ManagedIdentities, path)...)
	return append(errs, vm.UnsupportedOS(spec.Template.VirtualMachineProfile, path.Child("template"))...)
}
