package webhook

import (
	"cmp"
	"fmt"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// contributorRole is the ID of Azure's built-in role Contributor.
const contributorRole = "b24988ac-6180-42a0-ab88-20f7382dd24c"

// DefaultAzureMachine fills in what the user left out. With an empty subscriptionID, the scope and the definition of a
// system-assigned identity's role stay empty until somebody knows the subscription. What is random is not filled in: the
// SSH key and the name of the role assignment.
func DefaultAzureMachine(m *infrav1.AzureMachine, subscriptionID string) {
	spec := &m.Spec
	DefaultDataDisks(spec.DataDisks)
	defaultIdentityRole(spec, subscriptionID)
	DefaultSpotVMOptions(spec.SpotVMOptions, spec.OSDisk)
	spec.Diagnostics = DefaultDiagnostics(spec.Diagnostics)
	DefaultNetworkInterfaces(spec)
}

// DefaultAzureMachineTemplate fills in what does not depend on the machine that is made from the template.
func DefaultAzureMachineTemplate(t *infrav1.AzureMachineTemplate) {
	DefaultDataDisks(t.Spec.Template.Spec.DataDisks)
	DefaultNetworkInterfaces(&t.Spec.Template.Spec)
}

// DefaultDataDisks gives disks without a logical unit number the lowest that is free, and disks without a caching type
// the one that suits them.
func DefaultDataDisks(disks []infrav1.DataDisk) {
	taken := map[int32]bool{}
	for _, disk := range disks {
		if disk.Lun != nil {
			taken[*disk.Lun] = true
		}
	}
	next := int32(0)
	for i := range disks {
		disk := &disks[i]
		if disk.Lun == nil {
			for taken[next] {
				next++
			}
			disk.Lun = new(next)
			next++
		}
		if disk.CachingType == "" {
			disk.CachingType = infrav1.CachingReadWrite
			if disk.ManagedDisk != nil && disk.ManagedDisk.StorageAccountType == infrav1.StorageAccountTypeUltraSSD {
				disk.CachingType = infrav1.CachingNone
			}
		}
	}
}

// defaultIdentityRole moves the deprecated name of a role assignment, and gives the role the rights that the machines of
// a cluster need. With both names set it does nothing: that is refused.
func defaultIdentityRole(spec *infrav1.AzureMachineSpec, subscriptionID string) {
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

// DefaultSpotVMOptions sets what happens to an evicted VM: one with an ephemeral disk cannot be deallocated.
func DefaultSpotVMOptions(options *infrav1.SpotVMOptions, disk infrav1.OSDisk) {
	if options == nil || options.EvictionPolicy != nil {
		return
	}
	options.EvictionPolicy = new(infrav1.SpotEvictionPolicyDeallocate)
	if disk.DiffDiskSettings != nil && disk.DiffDiskSettings.Option == infrav1.DiffDiskOptionLocal {
		options.EvictionPolicy = new(infrav1.SpotEvictionPolicyDelete)
	}
}

// DefaultDiagnostics turns boot diagnostics on, in a storage account of Azure.
func DefaultDiagnostics(diagnostics *infrav1.Diagnostics) *infrav1.Diagnostics {
	if diagnostics == nil {
		diagnostics = &infrav1.Diagnostics{}
	}
	if diagnostics.Boot == nil {
		diagnostics.Boot = &infrav1.BootDiagnostics{StorageAccountType: infrav1.ManagedDiagnosticsStorage}
	}
	return diagnostics
}

// DefaultNetworkInterfaces moves the deprecated network fields into a network interface. Where both are set and say the
// same, as in a manifest that is applied again, the deprecated ones go; where they differ it does nothing: that is refused.
func DefaultNetworkInterfaces(spec *infrav1.AzureMachineSpec) {
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
