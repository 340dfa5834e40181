package webhook

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const immutablePool = "cannot change after the agent pool was made; make a new pool, with another name"

// ValidateAzureManagedMachinePoolUpdate checks a change of an AzureManagedMachinePool; both objects are defaulted. What
// cannot change is told before anything else, and what was wrong before is not told again. Whether the pool is the last
// System pool is for ValidateLastSystemPool.
func ValidateAzureManagedMachinePoolUpdate(old, p *infrav1.AzureManagedMachinePool, version string) field.ErrorList {
	before, after, path := &old.Spec.AzureManagedMachinePoolClassSpec, &p.Spec.AzureManagedMachinePoolClassSpec, field.NewPath("spec")
	// A name is never given up: what was begun under it would be left behind.
	errs := immutableName(before, after, path, immutablePool)
	if made(old) {
		errs = append(errs, immutablePoolClass(before, after, path, immutablePool)...)
	}
	if len(errs) > 0 {
		return errs
	}
	return introduced(ValidateAzureManagedMachinePool(old, version), ValidateAzureManagedMachinePool(p, version))
}

// made tells whether Azure has the pool: it has machines, or once had. What Azure has refused can be corrected. The CRD asks
// the same before its rules.
func made(p *infrav1.AzureManagedMachinePool) bool {
	provisioned := p.Status.Initialization.Provisioned
	return len(p.Spec.ProviderIDList) > 0 || p.Status.Ready || provisioned != nil && *provisioned
}

// ValidateAzureManagedMachinePoolTemplateUpdate checks a change of a template; both objects are defaulted. What can change
// in pools can change in the template, too, and Cluster API brings it to the pools.
func ValidateAzureManagedMachinePoolTemplateUpdate(old, t *infrav1.AzureManagedMachinePoolTemplate) field.ErrorList {
	before, after := &old.Spec.Template.Spec.AzureManagedMachinePoolClassSpec, &t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec
	path := field.NewPath("spec", "template", "spec")
	errs := append(immutableName(before, after, path, immutableTemplate), immutablePoolClass(before, after, path, immutableTemplate)...)
	for _, part := range []struct {
		name       string
		old, value any
	}{
		{"sku", before.SKU, after.SKU},
		{"osType", before.OSType, after.OSType},
		{"osDiskType", before.OsDiskType, after.OsDiskType},
		{"osDiskSizeGB", before.OSDiskSizeGB, after.OSDiskSizeGB},
		{"maxPods", before.MaxPods, after.MaxPods},
		{"scaleSetPriority", before.ScaleSetPriority, after.ScaleSetPriority},
		{"enableUltraSSD", before.EnableUltraSSD, after.EnableUltraSSD},
		{"enableNodePublicIP", before.EnableNodePublicIP, after.EnableNodePublicIP},
		{"nodePublicIPPrefixID", before.NodePublicIPPrefixID, after.NodePublicIPPrefixID},
		{"kubeletDiskType", before.KubeletDiskType, after.KubeletDiskType},
	} {
		if !equality.Semantic.DeepEqual(part.old, part.value) {
			errs = append(errs, field.Forbidden(path.Child(part.name), immutableTemplate))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return introduced(ValidateAzureManagedMachinePoolTemplate(old), ValidateAzureManagedMachinePoolTemplate(t))
}

func immutableName(before, after *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path, reason string) field.ErrorList {
	if before.Name == nil {
		return nil
	}
	return same(before.Name, after.Name, path.Child("name"), reason)
}

// immutablePoolClass is what neither pools nor templates can change, beside what the CRD of pools says.
func immutablePoolClass(before, after *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path, reason string) (errs field.ErrorList) {
	if before.SubnetName != nil {
		errs = append(errs, same(before.SubnetName, after.SubnetName, path.Child("subnetName"), reason)...)
	}
	if !slices.Equal(slices.Sorted(slices.Values(before.AvailabilityZones)), slices.Sorted(slices.Values(after.AvailabilityZones))) {
		errs = append(errs, field.Forbidden(path.Child("availabilityZones"), reason))
	}
	if !equality.Semantic.DeepEqual(before.KubeletConfig, after.KubeletConfig) {
		errs = append(errs, field.Forbidden(path.Child("kubeletConfig"), reason))
	}
	if !equality.Semantic.DeepEqual(before.LinuxOSConfig, after.LinuxOSConfig) {
		errs = append(errs, field.Forbidden(path.Child("linuxOSConfig"), reason))
	}
	return errs
}

// ValidateLastSystemPool refuses to take the last System pool away from a cluster, as AKS does. others is the number of
// other System pools.
func ValidateLastSystemPool(others int, path *field.Path) field.ErrorList {
	if others > 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "this is the cluster's last pool with mode System, and AKS needs one: add another one first, or delete the Cluster")}
}
