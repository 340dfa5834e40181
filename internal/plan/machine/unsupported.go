package machine

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Unsupported lists what the spec asks for that nothing would be made of. It needs no facts.
func Unsupported(in plan.MachineInput) field.ErrorList {
	var errs field.ErrorList
	spec := in.AzureMachine.Spec
	path := field.NewPath("spec")
	if len(spec.NetworkInterfaces) > 0 {
		const text = "is not looked at where spec.networkInterfaces is set: say it there"
		if spec.SubnetName != "" {
			errs = append(errs, field.Forbidden(path.Child("subnetName"), text))
		}
		if spec.AcceleratedNetworking != nil {
			errs = append(errs, field.Forbidden(path.Child("acceleratedNetworking"), text))
		}
	}
	if spec.RoleAssignmentName != "" {
		errs = append(errs, field.Forbidden(path.Child("roleAssignmentName"), "is not looked at: use spec.systemAssignedIdentityRole.name"))
	}
	if spec.SystemAssignedIdentityRole != nil && spec.Identity != infrav1.VMIdentitySystemAssigned {
		errs = append(errs, field.Forbidden(path.Child("systemAssignedIdentityRole"), "needs spec.identity SystemAssigned"))
	}
	if len(spec.UserAssignedIdentities) > 0 && spec.Identity != infrav1.VMIdentityUserAssigned {
		errs = append(errs, field.Forbidden(path.Child("userAssignedIdentities"), "needs spec.identity UserAssigned"))
	}
	if spec.OSDisk.OSType != infrav1.LinuxOS && spec.OSDisk.OSType != infrav1.WindowsOS {
		errs = append(errs, field.NotSupported(path.Child("osDisk", "osType"), spec.OSDisk.OSType, []string{infrav1.LinuxOS, infrav1.WindowsOS}))
	}
	if disabled := spec.DisableExtensionOperations; disabled != nil && *disabled {
		if len(spec.VMExtensions) > 0 {
			errs = append(errs, field.Forbidden(path.Child("vmExtensions"), "spec.disableExtensionOperations is true, so the VM takes none"))
		}
		if bootstrap := spec.DisableVMBootstrapExtension; bootstrap != nil && !*bootstrap {
			errs = append(errs, field.Forbidden(path.Child("disableVMBootstrapExtension"), "is false, and spec.disableExtensionOperations is true, so the VM takes no extension"))
		}
	}
	return errs
}
