package v1beta1

// ManagedIdentities are the managed identities of a VM, or of all VMs of a scale set.
// +kubebuilder:validation:XValidation:rule=`self.?identity.orValue('None') == 'UserAssigned' || !has(self.userAssignedIdentities) || size(self.userAssignedIdentities) == 0 || oldSelf.?identity.orValue("") == self.identity && oldSelf.?userAssignedIdentities.orValue([]) == self.userAssignedIdentities`,message="needs identity: UserAssigned",fieldPath=".userAssignedIdentities",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.?identity.orValue('None') != 'UserAssigned' || size(self.?userAssignedIdentities.orValue([])) > 0 || oldSelf.?identity.orValue("") == 'UserAssigned' && size(oldSelf.?userAssignedIdentities.orValue([])) == 0`,message="identity: UserAssigned needs at least one",fieldPath=".userAssignedIdentities",reason="FieldValueRequired",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="!has(self.systemAssignedIdentityRole) || self.?identity.orValue('None') == 'SystemAssigned' || oldSelf.optMap(old, !(!has(old.systemAssignedIdentityRole) || old.?identity.orValue('None') == 'SystemAssigned')).orValue(false)",message="needs identity: SystemAssigned",fieldPath=".systemAssignedIdentityRole",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.?roleAssignmentName.orValue("") == "" || self.?identity.orValue('None') == 'SystemAssigned' || oldSelf.optMap(old, !(old.?roleAssignmentName.orValue("") == "" || old.?identity.orValue('None') == 'SystemAssigned')).orValue(false)`,message="needs identity: SystemAssigned",fieldPath=".roleAssignmentName",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.?roleAssignmentName.orValue("") == "" || self.?systemAssignedIdentityRole.?name.orValue("") == "" || oldSelf.optMap(old, !(old.?roleAssignmentName.orValue("") == "" || old.?systemAssignedIdentityRole.?name.orValue("") == "")).orValue(false)`,message="roleAssignmentName is the deprecated name of systemAssignedIdentityRole.name: keep only systemAssignedIdentityRole.name",fieldPath=".roleAssignmentName",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.?identity.orValue('None') != 'SystemAssigned' || self.?systemAssignedIdentityRole.?name.orValue("") == "" || self.systemAssignedIdentityRole.name.matches('^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$') || oldSelf.?systemAssignedIdentityRole.?name.orValue("") == self.systemAssignedIdentityRole.name`,message="must be a UUID",fieldPath=".systemAssignedIdentityRole.name",optionalOldSelf=true
type ManagedIdentities struct {
	// identity is the kind of managed identity: None (the default), SystemAssigned or UserAssigned.
	// +optional
	// +kubebuilder:default=None
	Identity VMIdentity `json:"identity,omitempty"`

	// userAssignedIdentities are the managed identities of a VM with identity UserAssigned. At most 1000.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	UserAssignedIdentities []UserAssignedIdentity `json:"userAssignedIdentities,omitempty"`

	// systemAssignedIdentityRole is the role assignment of a VM with identity SystemAssigned.
	// +optional
	SystemAssignedIdentityRole *SystemAssignedIdentityRole `json:"systemAssignedIdentityRole,omitempty"`

	// roleAssignmentName is the name, a UUID, of the role assignment of a VM with identity SystemAssigned.
	// Deprecated: use systemAssignedIdentityRole.name.
	// +optional
	RoleAssignmentName string `json:"roleAssignmentName,omitempty"`
}
