package machine

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// The smallest VM that kubeadm runs on:
// https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm
const (
	minVCPUs    = 2
	minMemoryGB = 2
)

// roleDefinitions is what is before the GUID of a role in its ID, after the scope that the role can be assigned in, if any.
const roleDefinitions = "/providers/Microsoft.Authorization/roleDefinitions/"

var roleDefinition = regexp.MustCompile("(?i)^(/[^/]+)*" + regexp.QuoteMeta(roleDefinitions) + "[^/]+$")

// Check lists what is wrong with the spec in the light of the SKU catalog. Every message names the field, its value, what
// is wrong and what to do. When it finds something, no VM is to be made.
func Check(in plan.MachineInput) field.ErrorList {
	path := field.NewPath("spec")
	errs := checkSize(in, path)
	errs = append(errs, checkZone(in, path.Child("failureDomain"))...)
	errs = append(errs, checkKey(in, path.Child("sshPublicKey"))...)
	if _, err := Image(in); err != nil {
		errs = append(errs, field.Invalid(path.Child("image"), "", err.Error()))
	}
	for i, nic := range nics(in) {
		if _, err := subnetOf(in, nic); err != nil {
			errs = append(errs, field.Invalid(path.Child("networkInterfaces").Index(i).Child("subnetName"), nic.SubnetName, err.Error()))
		}
	}
	errs = append(errs, checkIdentity(in, path)...)
	errs = append(errs, checkAvailabilitySet(in, path)...)
	if in.MachineFacts.VMSize != nil {
		errs = append(errs, checkDisks(in, path)...)
		errs = append(errs, checkSecurity(in, path)...)
		errs = append(errs, checkInterfaces(in, path)...)
		errs = append(errs, checkSpot(in, path)...)
	}
	return errs
}

func checkSize(in plan.MachineInput, path *field.Path) field.ErrorList {
	name, size := in.AzureMachine.Spec.VMSize, in.MachineFacts.VMSize
	here := path.Child("vmSize")
	if size == nil {
		text := fmt.Sprintf("region %s has no such VM size", plan.Location(in.ClusterInput))
		if near := in.MachineFacts.NearestVMSizes; len(near) > 0 {
			text += "; near to it are " + strings.Join(near, ", ")
		}
		return field.ErrorList{field.Invalid(here, name, text+": see az vm list-skus --location "+plan.Location(in.ClusterInput))}
	}
	if size.Restricted != "" {
		return field.ErrorList{field.Invalid(here, name, fmt.Sprintf("the subscription cannot use this size in region %s (%s): choose another size or ask Azure for access", plan.Location(in.ClusterInput), size.Restricted))}
	}
	if size.VCPUs < minVCPUs || math.Round(size.MemoryGB) < minMemoryGB {
		return field.ErrorList{field.Invalid(here, name, fmt.Sprintf("has %d vCPUs and %g GiB of memory, and a Kubernetes node needs at least %d and %d: choose a larger size", size.VCPUs, size.MemoryGB, minVCPUs, minMemoryGB))}
	}
	zone := FailureDomain(in)
	if zone == "" || !slices.Contains(in.Facts.Zones, zone) || slices.Contains(size.Zones, zone) {
		return nil
	}
	text := fmt.Sprintf("is not available in zone %s of region %s", zone, plan.Location(in.ClusterInput))
	if len(size.Zones) == 0 {
		text += ", nor in any other zone: choose another size"
	} else {
		text += fmt.Sprintf(" but in %s: choose one of these zones or another size", strings.Join(size.Zones, ", "))
	}
	return field.ErrorList{field.Invalid(here, name, text)}
}

func checkZone(in plan.MachineInput, path *field.Path) field.ErrorList {
	zone := FailureDomain(in)
	switch {
	case zone == "":
		return nil
	case in.AzureCluster.Spec.ExtendedLocation != nil:
		return field.ErrorList{field.Invalid(path, zone, "an edge zone has no availability zones: remove the failure domain of the Machine or AzureMachine")}
	case len(in.Facts.Zones) == 0:
		return field.ErrorList{field.Invalid(path, zone, fmt.Sprintf("region %s has no availability zones: remove the failure domain of the Machine or AzureMachine", plan.Location(in.ClusterInput)))}
	case !slices.Contains(in.Facts.Zones, zone):
		return field.ErrorList{field.Invalid(path, zone, fmt.Sprintf("is not an availability zone of region %s: choose from %s", plan.Location(in.ClusterInput), strings.Join(in.Facts.Zones, ", ")))}
	default:
		return nil
	}
}

func checkIdentity(in plan.MachineInput, path *field.Path) field.ErrorList {
	spec := in.AzureMachine.Spec
	var errs field.ErrorList
	switch spec.Identity {
	case infrav1.VMIdentitySystemAssigned:
		role := spec.SystemAssignedIdentityRole
		if role == nil {
			return nil
		}
		here := path.Child("systemAssignedIdentityRole")
		for name, value := range map[string]string{"definitionID": role.DefinitionID, "name": role.Name, "scope": role.Scope} {
			if value == "" {
				errs = append(errs, field.Required(here.Child(name), "a role assignment needs it"))
			}
		}
		slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
		if role.DefinitionID != "" && !roleDefinition.MatchString(role.DefinitionID) {
			errs = append(errs, field.Invalid(here.Child("definitionID"), role.DefinitionID, "is not the ID of a role definition as in /subscriptions/<subscription>"+roleDefinitions+"<GUID>: see az role definition list --name <role> --query [].id"))
		}
	case infrav1.VMIdentityUserAssigned:
		if len(spec.UserAssignedIdentities) == 0 {
			errs = append(errs, field.Required(path.Child("userAssignedIdentities"), "spec.identity UserAssigned needs at least one"))
		}
	}
	return errs
}

func checkAvailabilitySet(in plan.MachineInput, path *field.Path) field.ErrorList {
	if _, ok := availabilitySetID(in); ok && in.MachineFacts.MaximumPlatformFaultDomainCount == 0 {
		return field.ErrorList{field.Invalid(path.Child("failureDomain"), "", fmt.Sprintf(
			"without a zone the machine goes into an availability set, and the catalog of region %s has none of SKU %s: name a zone", plan.Location(in.ClusterInput), alignedSKU))}
	}
	return nil
}

func checkSecurity(in plan.MachineInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec, size := in.AzureMachine.Spec, in.MachineFacts.VMSize
	security := spec.SecurityProfile
	if security == nil {
		security = &infrav1.SecurityProfile{}
	}
	here := path.Child("securityProfile")
	uefi := security.UefiSettings
	if uefi == nil {
		uefi = &infrav1.UefiSettings{}
	}
	if isTrue(security.EncryptionAtHost) && !size.Has(capabilityEncryption) {
		errs = append(errs, unable(here.Child("encryptionAtHost"), spec.VMSize, "encrypt at the host", capabilityEncryption))
	}
	confidential := spec.OSDisk.ManagedDisk != nil && spec.OSDisk.ManagedDisk.SecurityProfile != nil && spec.OSDisk.ManagedDisk.SecurityProfile.SecurityEncryptionType != ""
	if confidential || security.SecurityType == infrav1.SecurityTypesConfidentialVM {
		if size.Capabilities[capabilityConfidential] == "" {
			errs = append(errs, unable(here.Child("securityType"), spec.VMSize, "be a confidential VM", capabilityConfidential))
		}
	}
	if confidential {
		return append(errs, checkConfidential(spec, security, uefi, here)...)
	}
	if security.SecurityType == infrav1.SecurityTypesConfidentialVM || !isTrue(uefi.SecureBootEnabled) && !isTrue(uefi.VTpmEnabled) {
		return errs
	}
	if security.SecurityType != infrav1.SecurityTypesTrustedLaunch {
		errs = append(errs, field.Invalid(here.Child("securityType"), security.SecurityType, "secure boot and vTPM need TrustedLaunch"))
	}
	if size.Has(capabilityNoTrusted) {
		errs = append(errs, unable(here.Child("uefiSettings"), spec.VMSize, "be launched trusted", capabilityNoTrusted))
	}
	return errs
}

// checkConfidential checks what Azure demands of a VM whose disk is encrypted with its guest state:
// https://learn.microsoft.com/en-us/azure/confidential-computing/confidential-vm-overview
func checkConfidential(spec infrav1.AzureMachineSpec, security *infrav1.SecurityProfile, uefi *infrav1.UefiSettings, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if security.SecurityType != infrav1.SecurityTypesConfidentialVM {
		errs = append(errs, field.Invalid(path.Child("securityType"), security.SecurityType, "a disk with securityEncryptionType needs ConfidentialVM"))
	}
	if !isTrue(uefi.VTpmEnabled) {
		errs = append(errs, field.Required(path.Child("uefiSettings", "vTpmEnabled"), "a confidential VM needs a vTPM: set it to true"))
	}
	if spec.OSDisk.ManagedDisk.SecurityProfile.SecurityEncryptionType != infrav1.SecurityEncryptionTypeDiskWithVMGuestState {
		return errs
	}
	if !isTrue(uefi.SecureBootEnabled) {
		errs = append(errs, field.Required(path.Child("uefiSettings", "secureBootEnabled"), "DiskWithVMGuestState needs secure boot: set it to true"))
	}
	if isTrue(security.EncryptionAtHost) {
		errs = append(errs, field.Forbidden(path.Child("encryptionAtHost"), "DiskWithVMGuestState excludes encryption at the host: set it to false"))
	}
	return errs
}

func isTrue(value *bool) bool { return value != nil && *value }
