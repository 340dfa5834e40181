package webhook

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// fillIdentityRole sets the name of the role assignment of a system-assigned identity on creation, and its scope and role
// definition as soon as the subscription is known. An update that leaves them out, for example kubectl replace, keeps the stored
// values.
func fillIdentityRole[T client.Object](ctx context.Context, obj T, placement PlacementLookup, random generator,
	identities func(T) *infrav1.ManagedIdentities) {
	spec := identities(obj)
	if isCreate(ctx) {
		fillRoleAssignmentName(spec, random)
	}
	if stored := empty[T](); isUpdateOf(ctx, stored) {
		keepIdentityRole(spec, identities(stored))
	}
	if !needsSubscription(*spec) {
		return
	}
	found, err := placement(ctx, obj)
	if err != nil {
		logf.FromContext(ctx).Info("The subscription is not known yet. The role of the identity gets its defaults later", "reason", err.Error())
	}
	if found.Lent {
		defaults.FillRoleScope(spec, found.SubscriptionID, found.Group)
	}
	defaults.FillIdentityRole(spec, found.SubscriptionID)
}

// keepIdentityRole fills the empty fields of a system-assigned identity's role from the stored object.
func keepIdentityRole(spec, stored *infrav1.ManagedIdentities) {
	was := stored.SystemAssignedIdentityRole
	if spec.Identity != infrav1.VMIdentitySystemAssigned || stored.Identity != spec.Identity || was == nil {
		return
	}
	role := &infrav1.SystemAssignedIdentityRole{}
	if spec.SystemAssignedIdentityRole != nil {
		role = spec.SystemAssignedIdentityRole
	}
	if spec.RoleAssignmentName == "" {
		role.Name = cmp.Or(role.Name, was.Name)
	}
	role.Scope, role.DefinitionID = cmp.Or(role.Scope, was.Scope), cmp.Or(role.DefinitionID, was.DefinitionID)
	spec.SystemAssignedIdentityRole = role
}

// fillRoleAssignmentName names the role assignment of a system-assigned identity on creation: later it cannot change.
func fillRoleAssignmentName(spec *infrav1.ManagedIdentities, random generator) {
	role := spec.SystemAssignedIdentityRole
	if spec.Identity != infrav1.VMIdentitySystemAssigned || spec.RoleAssignmentName != "" || role != nil && role.Name != "" {
		return
	}
	if role == nil {
		role = &infrav1.SystemAssignedIdentityRole{}
		spec.SystemAssignedIdentityRole = role
	}
	role.Name = random.roleAssignmentName()
}
