package vm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// roleDefinitions precedes the GUID of a role in its ID. A scope in which the role can be assigned may precede it.
const roleDefinitions = "/providers/Microsoft.Authorization/roleDefinitions/"

var roleDefinition = regexp.MustCompile("(?i)^(/[^/]+)*" + regexp.QuoteMeta(roleDefinitions) + "[^/]+$")

// BuildIdentity returns the managed identities of a VM, nil for none.
func BuildIdentity(spec infrav1.ManagedIdentities) *armcompute.VirtualMachineIdentity {
	switch spec.Identity {
	case infrav1.VMIdentitySystemAssigned:
		return &armcompute.VirtualMachineIdentity{Type: new(armcompute.ResourceIdentityTypeSystemAssigned)}
	case infrav1.VMIdentityUserAssigned:
		return &armcompute.VirtualMachineIdentity{Type: new(armcompute.ResourceIdentityTypeUserAssigned),
			UserAssignedIdentities: ToAssignedIdentities(IdentityIDs(spec))}
	default:
		return nil
	}
}

// BuildScaleSetIdentity returns the managed identities of a scale set, which all of its VMs have, nil for none.
func BuildScaleSetIdentity(spec infrav1.ManagedIdentities) *armcompute.VirtualMachineScaleSetIdentity {
	of := BuildIdentity(spec)
	if of == nil {
		return nil
	}
	return &armcompute.VirtualMachineScaleSetIdentity{Type: of.Type, UserAssignedIdentities: of.UserAssignedIdentities}
}

// IdentityIDs returns the IDs of the user-assigned identities.
func IdentityIDs(spec infrav1.ManagedIdentities) []string {
	var ids []string
	for _, identity := range spec.UserAssignedIdentities {
		ids = append(ids, arm.TrimScheme(identity.ProviderID))
	}
	return ids
}

// ToAssignedIdentities returns user-assigned identities in the form of SDK models.
func ToAssignedIdentities(ids []string) map[string]*armcompute.UserAssignedIdentitiesValue {
	identities := map[string]*armcompute.UserAssignedIdentitiesValue{}
	for _, id := range ids {
		identities[id] = &armcompute.UserAssignedIdentitiesValue{}
	}
	return identities
}

// RoleAssignmentID returns the ID of the role assignment of a VM or scale set with a system-assigned identity. ok is false
// if the spec asks for none.
func RoleAssignmentID(spec infrav1.ManagedIdentities) (id arm.ID, ok bool) {
	role := spec.SystemAssignedIdentityRole
	if spec.Identity != infrav1.VMIdentitySystemAssigned || role == nil || role.Name == "" || role.Scope == "" {
		return "", false
	}
	return arm.ID(role.Scope).Extension(types.RoleAssignment, role.Name), true
}

// BuildRoleAssignment returns the role assignment of the identity of holder, a VM or scale set. principalID is "" until
// holder exists; then the node is blocked. holderText names holder in messages. ok is false if the spec asks for no role.
func BuildRoleAssignment(spec infrav1.ManagedIdentities, holder arm.ID, holderText, principalID string) (node arm.Node, ok bool) {
	id, ok := RoleAssignmentID(spec)
	if !ok {
		return arm.Node{}, false
	}
	node = arm.Node{
		ID: id, After: []arm.ID{holder}, Policy: arm.CreateOnly, Foreign: arm.UseForeign, Group: infrav1.RoleAssignmentReadyCondition,
	}
	if principalID == "" {
		node.Blocked = holderText + " has no identity yet"
		return node, true
	}
	node.Body = armauthorization.RoleAssignmentCreateParameters{
		Properties: &armauthorization.RoleAssignmentProperties{
			PrincipalID:      new(principalID),
			PrincipalType:    new(armauthorization.PrincipalTypeServicePrincipal),
			RoleDefinitionID: new(spec.SystemAssignedIdentityRole.DefinitionID),
		},
	}
	return node, true
}

// CheckIdentity checks that the spec has the fields that its kind of identity needs. path is the parent of the fields.
func CheckIdentity(spec infrav1.ManagedIdentities, path *field.Path) field.ErrorList {
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
			errs = append(errs, field.Invalid(here.Child("definitionID"), role.DefinitionID,
				"is not the ID of a role definition such as /subscriptions/<subscription>"+roleDefinitions+"<GUID>: see az role definition list --name <role> --query [].id"))
		}
	case infrav1.VMIdentityUserAssigned:
		if len(spec.UserAssignedIdentities) == 0 {
			errs = append(errs, field.Required(path.Child("userAssignedIdentities"),
				path.Child("identity").String()+" UserAssigned needs at least one"))
		}
	}
	return errs
}

// UnsupportedIdentity returns an error for each identity field of the spec that the plan would ignore.
func UnsupportedIdentity(spec infrav1.ManagedIdentities, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	kind := path.Child("identity").String()
	if spec.RoleAssignmentName != "" {
		errs = append(errs, field.Forbidden(path.Child("roleAssignmentName"),
			"has no effect: use "+path.Child("systemAssignedIdentityRole", "name").String()))
	}
	if spec.SystemAssignedIdentityRole != nil && spec.Identity != infrav1.VMIdentitySystemAssigned {
		errs = append(errs, field.Forbidden(path.Child("systemAssignedIdentityRole"), "needs "+kind+" SystemAssigned"))
	}
	if len(spec.UserAssignedIdentities) > 0 && spec.Identity != infrav1.VMIdentityUserAssigned {
		errs = append(errs, field.Forbidden(path.Child("userAssignedIdentities"), "needs "+kind+" UserAssigned"))
	}
	return errs
}
