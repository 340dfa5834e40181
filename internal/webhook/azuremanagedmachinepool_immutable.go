package webhook

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const immutablePool = "cannot change after the agent pool was created; create a new pool, with another name"

// ValidateAzureManagedMachinePoolUpdate checks a change of an AzureManagedMachinePool; both objects are defaulted. Errors about
// immutable fields come first, and errors that the stored object has, too, are left out. ValidateLastSystemPool checks whether the
// pool is the last System pool.
func ValidateAzureManagedMachinePoolUpdate(old, p *infrav1.AzureManagedMachinePool, version string) field.ErrorList {
	before, after, path := &old.Spec.AzureManagedMachinePoolClassSpec, &p.Spec.AzureManagedMachinePoolClassSpec, field.NewPath("spec")
	if existsInAzure(old) {
		if errs := immutablePoolClass(before, after, path, immutablePool); len(errs) > 0 {
			return errs
		}
	}
	return introducedErrors(ValidateAzureManagedMachinePool(old, version), ValidateAzureManagedMachinePool(p, version))
}

// samePoolName refuses another name, also before the pool exists in Azure: a pool whose creation began under the old name would be left
// behind there.
func samePoolName(old, p *infrav1.AzureManagedMachinePool) field.ErrorList {
	return immutableName(&old.Spec.AzureManagedMachinePoolClassSpec, &p.Spec.AzureManagedMachinePoolClassSpec, field.NewPath("spec"), immutablePool)
}

// existsInAzure returns true if the pool exists in Azure: it has or had machines. Values of a pool that Azure has refused can be corrected.
// The CRD's rules have the same precondition.
func existsInAzure(p *infrav1.AzureManagedMachinePool) bool {
	provisioned := p.Status.Initialization.Provisioned
	return len(p.Spec.ProviderIDList) > 0 || p.Status.Ready || provisioned != nil && *provisioned
}

// ValidateAzureManagedMachinePoolTemplateUpdate checks a change of a template; both objects are defaulted. Fields that can change
// in pools can change in the template; Cluster API rolls the change out to the pools.
func ValidateAzureManagedMachinePoolTemplateUpdate(old, t *infrav1.AzureManagedMachinePoolTemplate) field.ErrorList {
	before, after := &old.Spec.Template.Spec.AzureManagedMachinePoolClassSpec, &t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec
	path := field.NewPath("spec", "template", "spec")
	errs := append(immutableName(before, after, path, immutableTemplate), immutablePoolClass(before, after, path, immutableTemplate)...)
	if before.EnableEncryptionAtHost != nil && !equality.Semantic.DeepEqual(before.EnableEncryptionAtHost, after.EnableEncryptionAtHost) {
		errs = append(errs, field.Forbidden(path.Child("enableEncryptionAtHost"), immutableTemplate))
	}
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
	return introducedErrors(ValidateAzureManagedMachinePoolTemplate(old), ValidateAzureManagedMachinePoolTemplate(t))
}

func immutableName(before, after *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path, reason string) field.ErrorList {
	if before.Name == nil {
		return nil
	}
	return refuseChange(before.Name, after.Name, path.Child("name"), reason)
}

// immutablePoolClass refuses the changes that neither pools nor templates can make, in addition to the rules of the pools' CRD.
func immutablePoolClass(before, after *infrav1.AzureManagedMachinePoolClassSpec, path *field.Path, reason string) (errs field.ErrorList) {
	if before.SubnetName != nil {
		errs = append(errs, refuseChange(before.SubnetName, after.SubnetName, path.Child("subnetName"), reason)...)
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

// ValidateLastSystemPool refuses to remove the last System pool of a cluster, as AKS does. others is the number of other System
// pools.
func ValidateLastSystemPool(others int, path *field.Path) field.ErrorList {
	if others > 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path,
		"this is the cluster's last pool with mode System, and AKS needs one. Add another System pool first, or delete the Cluster")}
}
