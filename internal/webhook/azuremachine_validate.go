package webhook

import (
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

const scaleSetType = "Microsoft.Compute/virtualMachineScaleSets"

// ValidateAzureMachine checks what the CRD cannot check of a defaulted AzureMachine.
func ValidateAzureMachine(m *infrav1.AzureMachine) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateMachineSpec(&m.Spec, path)
	if role := m.Spec.SystemAssignedIdentityRole; role != nil && role.Name != "" && m.Spec.Identity == infrav1.VMIdentitySystemAssigned {
		if _, err := uuid.Parse(role.Name); err != nil {
			errs = append(errs, field.Invalid(path.Child("systemAssignedIdentityRole", "name"), role.Name, "must be a UUID"))
		}
	}
	return errs
}

// validateMachineSpec checks what machines and templates have in common.
func validateMachineSpec(spec *infrav1.AzureMachineSpec, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, ValidateSSHPublicKey(spec.SSHPublicKey, path.Child("sshPublicKey"))...)
	errs = append(errs, ValidateUserAssignedIdentities(spec.UserAssignedIdentities, path.Child("userAssignedIdentities"))...)
	return append(errs, validateIDs(spec, path)...)
}

// ValidateSSHPublicKey checks that a key is a line of an authorized_keys file in base64. An empty key is the default.
func ValidateSSHPublicKey(key string, path *field.Path) field.ErrorList {
	if key == "" {
		return nil
	}
	line, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return field.ErrorList{field.Invalid(path, key, "must be base64: encode the line of the .pub file with base64 -w0")}
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(line); err != nil {
		return field.ErrorList{field.Invalid(path, key, "must be an SSH public key such as \"ssh-ed25519 AAAA… name\", in base64")}
	}
	return nil
}

// ValidateUserAssignedIdentities checks that identities are named by ID.
func ValidateUserAssignedIdentities(identities []infrav1.UserAssignedIdentity, path *field.Path) (errs field.ErrorList) {
	for i, identity := range identities {
		if _, err := arm.ParseID(identity.ProviderID); err != nil {
			errs = append(errs, field.Invalid(path.Index(i).Child("providerID"), identity.ProviderID, "must be an Azure resource ID: "+err.Error()))
		}
	}
	return errs
}

// validateIDs checks references to resources that are there already.
func validateIDs(spec *infrav1.AzureMachineSpec, path *field.Path) (errs field.ErrorList) {
	if id := spec.CapacityReservationGroupID; id != nil {
		if _, err := arm.ParseID(*id); err != nil {
			errs = append(errs, field.Invalid(path.Child("capacityReservationGroupID"), *id, "must be an Azure resource ID: "+err.Error()))
		}
	}
	if id := spec.VirtualMachineScaleSetID; id != nil {
		parsed, err := arm.ParseID(*id)
		if err != nil || !strings.EqualFold(parsed.Type(), scaleSetType) {
			errs = append(errs, field.Invalid(path.Child("virtualMachineScaleSetID"), *id, "must be the Azure resource ID of a scale set: /subscriptions/…/resourceGroups/…/providers/"+scaleSetType+"/…"))
		}
	}
	return errs
}
