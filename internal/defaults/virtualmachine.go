package defaults

import (
	"cmp"
	"fmt"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// contributorRole is the ID of Azure's built-in role Contributor.
const contributorRole = "b24988ac-6180-42a0-ab88-20f7382dd24c"

// fillLUNs gives disks without a logical unit number the lowest that is free.
func fillLUNs(disks []infrav1.DataDisk) {
	taken := map[int32]bool{}
	for _, disk := range disks {
		if disk.Lun != nil {
			taken[*disk.Lun] = true
		}
	}
	next := int32(0)
	for i := range disks {
		if disks[i].Lun != nil {
			continue
		}
		for taken[next] {
			next++
		}
		disks[i].Lun = new(next)
		next++
	}
}

// fillDataDiskCaching gives disks without a caching type the one that suits them.
func fillDataDiskCaching(disks []infrav1.DataDisk) {
	for i := range disks {
		disk := &disks[i]
		if disk.CachingType != "" {
			continue
		}
		disk.CachingType = infrav1.CachingReadWrite
		if !disk.ManagedDisk.AllowsHostCaching() {
			disk.CachingType = infrav1.CachingNone
		}
	}
}

// FillIdentityRole moves the deprecated name of a role assignment, and gives the role the rights that the machines of
// a cluster need. With both names set it does nothing: that is refused.
func FillIdentityRole(spec *infrav1.ManagedIdentities, subscriptionID string) {
	if spec.Identity != infrav1.VMIdentitySystemAssigned {
		return
	}
	if spec.SystemAssignedIdentityRole == nil {
		spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{}
	}
	role := spec.SystemAssignedIdentityRole
	if spec.RoleAssignmentName != "" && role.Name == "" {
		role.Name, spec.RoleAssignmentName = spec.RoleAssignmentName, ""
	}
	if subscriptionID != "" {
		scope := fmt.Sprintf("/subscriptions/%s/", subscriptionID)
		role.Scope = cmp.Or(role.Scope, scope)
		role.DefinitionID = cmp.Or(role.DefinitionID, scope+"providers/Microsoft.Authorization/roleDefinitions/"+contributorRole)
	}
}

// FillRoleScope has the role of a system-assigned identity count in the Cluster's resource group, where an identity of another
// namespace may assign roles. Without it the role counts in the whole subscription.
func FillRoleScope(spec *infrav1.ManagedIdentities, subscriptionID, group string) {
	if spec.Identity != infrav1.VMIdentitySystemAssigned || subscriptionID == "" || group == "" {
		return
	}
	if spec.SystemAssignedIdentityRole == nil {
		spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{}
	}
	role := spec.SystemAssignedIdentityRole
	role.Scope = cmp.Or(role.Scope, fmt.Sprintf("/subscriptions/%s/resourceGroups/%s", subscriptionID, group))
}

// fillSpotVMOptions sets the eviction policy of a VM: one with an ephemeral disk cannot be deallocated.
func fillSpotVMOptions(options *infrav1.SpotVMOptions, disk infrav1.OSDisk) {
	if options == nil || options.EvictionPolicy != nil {
		return
	}
	options.EvictionPolicy = new(infrav1.SpotEvictionPolicyDeallocate)
	if disk.DiffDiskSettings != nil && disk.DiffDiskSettings.Option == infrav1.DiffDiskOptionLocal {
		options.EvictionPolicy = new(infrav1.SpotEvictionPolicyDelete)
	}
}

// fillDiagnostics turns boot diagnostics on, in a storage account of Azure.
func fillDiagnostics(diagnostics *infrav1.Diagnostics) *infrav1.Diagnostics {
	if diagnostics == nil {
		diagnostics = &infrav1.Diagnostics{}
	}
	if diagnostics.Boot == nil {
		diagnostics.Boot = &infrav1.BootDiagnostics{StorageAccountType: infrav1.ManagedDiagnosticsStorage}
	}
	return diagnostics
}

// fillNetworkInterfaces moves the deprecated network fields into a network interface. Where both are set and say the
// same, as in a manifest that is applied again, the deprecated ones go; where they differ it does nothing: that is refused.
func fillNetworkInterfaces(spec *infrav1.VirtualMachineProfile) {
	if len(spec.NetworkInterfaces) == 0 {
		spec.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: spec.SubnetName, AcceleratedNetworking: spec.AcceleratedNetworking}}
		spec.SubnetName, spec.AcceleratedNetworking = "", nil
	}
	if len(spec.NetworkInterfaces) == 1 {
		only := spec.NetworkInterfaces[0]
		if spec.SubnetName == only.SubnetName {
			spec.SubnetName = ""
		}
		if a, b := spec.AcceleratedNetworking, only.AcceleratedNetworking; a != nil && b != nil && *a == *b {
			spec.AcceleratedNetworking = nil
		}
	}
	if spec.SubnetName != "" || spec.AcceleratedNetworking != nil {
		return
	}
	spec.NetworkInterfaces = slices.Clone(spec.NetworkInterfaces)
	for i := range spec.NetworkInterfaces {
		spec.NetworkInterfaces[i].PrivateIPConfigs = cmp.Or(spec.NetworkInterfaces[i].PrivateIPConfigs, 1)
	}
}
