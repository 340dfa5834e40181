package pool

import (
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// CheckSpec lists what is wrong with the spec in the light of the SKU catalog. Every message names the field, its value, what
// is wrong and what to do. When it finds something, no VM is to be made.
func CheckSpec(in Input) field.ErrorList {
	path, p := field.NewPath("spec"), buildProfile(in)
	template := path.Child("template")
	errs := checkLocation(in, path.Child("location"))
	errs = append(errs, checkOrchestration(in, path.Child("orchestrationMode"))...)
	errs = append(errs, vm.CheckSize(p, template)...)
	errs = append(errs, vm.CheckZones(p.Place, field.NewPath("MachinePool", "spec", "failureDomains"))...)
	errs = append(errs, vm.CheckSSHKey(p.VirtualMachineProfile, template)...)
	errs = append(errs, vm.CheckImage(p, template)...)
	errs = append(errs, vm.CheckSubnets(p, template)...)
	errs = append(errs, vm.CheckIdentity(in.AzureMachinePool.Spec.ManagedIdentities, path)...)
	return append(errs, vm.CheckCapabilities(p, template)...)
}

// checkLocation checks that the pool is where the network of the cluster is: Azure makes no interface in a network of another
// region.
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

// checkOrchestration checks that nodes of the mode are found. What is no version is told where the image is chosen by it.
func checkOrchestration(in Input, path *field.Path) field.ErrorList {
	mode := in.AzureMachinePool.Spec.OrchestrationMode
	if mode != infrav1.FlexibleOrchestration || in.MachinePool == nil {
		return nil
	}
	version, err := semver.ParseTolerant(in.MachinePool.Spec.Template.Spec.Version)
	if err != nil || version.GTE(firstFlexible) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, mode, fmt.Sprintf("needs Kubernetes %s or later, and the MachinePool has %s: set a later version, or Uniform", firstFlexible, version))}
}

// UnsupportedFields lists what the spec asks for that nothing would be made of. It needs no facts.
func UnsupportedFields(in Input) field.ErrorList {
	spec, path := in.AzureMachinePool.Spec, field.NewPath("spec")
	errs := vm.UnsupportedNetwork(spec.Template.VirtualMachineProfile, path.Child("template"))
	errs = append(errs, vm.UnsupportedIdentity(spec.ManagedIdentities, path)...)
	return append(errs, vm.UnsupportedOS(spec.Template.VirtualMachineProfile, path.Child("template"))...)
}
