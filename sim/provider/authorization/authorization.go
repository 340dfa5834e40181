// Package authorization simulates Microsoft.Authorization: role assignments, role definitions and management locks.
//
// Its promise: assignments follow Azure's uniqueness rules, locks are honoured by every other provider, and Allowed
// computes a principal's permissions from assignments and definitions. The server chooses whether it enforces them:
// without EnforceRBAC any known principal may do anything, and a fault rule gives 403 where a test needs one.
package authorization

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/msi"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types.
const (
	Assignments = "Microsoft.Authorization/roleAssignments"
	Definitions = "Microsoft.Authorization/roleDefinitions"
	Locks       = "Microsoft.Authorization/locks"
)

// Provider returns the resource provider. known reports whether an object ID is a principal outside of stored
// identities.
func Provider(known func(tx *store.Tx, objectID string) bool) *provider.Provider {
	assignment := &provider.Type{
		Name: Assignments, Style: provider.Sync, Extension: true, Untracked: true, NoState: true,
		Create: provider.Timing{HTTP: 2 * time.Second}, Delete: provider.Timing{HTTP: 2100 * time.Millisecond},
		Prepare:    func(c *provider.Call, d *provider.Draft) error { return prepareAssignment(c, d, known) },
		ListFilter: filterAssignment, CheckFilter: checkAssignmentFilter, Inherited: true,
		View: func(c *provider.Call, it *provider.Item) {
			showNulls(it.Body, "condition", "conditionVersion", "delegatedManagedIdentityResourceId", "description")
			hideCreator(c, it)
		},
	}
	definition := &provider.Type{
		Name: Definitions, Style: provider.Sync, Extension: true, Untracked: true, NoState: true,
		Create: provider.Timing{HTTP: time.Second}, Delete: provider.Timing{HTTP: time.Second},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			if body.String(d.New, "properties.roleName") == "" {
				return provider.Errorf(400, "InvalidRoleDefinition", "The role definition '%s' needs a roleName.", d.Name)
			}
			body.Set(d.New, "properties.type", "CustomRole")
			for _, e := range body.Objects(d.New, "properties.permissions") {
				for _, k := range []string{"actions", "notActions", "dataActions", "notDataActions"} {
					body.Default(e, k, []any{})
				}
			}
			stampWriter(c, d)
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			showNulls(it.Body, "description", "createdBy")
			hideCreator(c, it)
			// Wherever it is written, a definition is one of its subscription: recording Test_Authorization_RoleDefinitionResourceGroupScope_CRUD.
			if id, err := store.ParseID(it.ID); err == nil && id.ResourceGroup != "" {
				it.Body["id"] = "/subscriptions/" + id.Subscription + "/providers/" + Definitions + "/" + it.Name
			}
		},
	}
	lock := &provider.Type{
		Name: Locks, Style: provider.Sync, Extension: true, Untracked: true, NoState: true,
		Create: provider.Timing{HTTP: 500 * time.Millisecond}, Delete: provider.Timing{HTTP: 500 * time.Millisecond},
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			for _, level := range []string{"CanNotDelete", "ReadOnly"} {
				if strings.EqualFold(body.String(d.New, "properties.level"), level) {
					body.Set(d.New, "properties.level", level)
					return nil
				}
			}
			return provider.Errorf(400, "LockLevelInvalid", "The lock level '%s' is not valid. Use CanNotDelete or ReadOnly.",
				body.String(d.New, "properties.level"))
		},
		ListFilter: func(c *provider.Call, r *store.Resource) bool { return !atScope(c) || sameScope(c, r) },
	}
	return &provider.Provider{Namespace: "Microsoft.Authorization", Types: append([]*provider.Type{assignment, definition, lock}, policyTypes()...)}
}

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func prepareAssignment(c *provider.Call, d *provider.Draft, known func(*store.Tx, string) bool) error {
	if !guid.MatchString(d.Name) {
		return provider.Errorf(400, "InvalidRoleAssignmentId", "The role assignment ID '%s' is not valid. The role assignment ID must be a GUID.",
			d.Name)
	}
	p := "properties."
	role, principal := body.String(d.New, p+"roleDefinitionId"), body.String(d.New, p+"principalId")
	roleGUID := strings.ToLower(role[strings.LastIndexByte(role, '/')+1:])
	if _, builtIn := BuiltIn[roleGUID]; !builtIn && !isCustomRole(c, roleGUID) {
		return provider.Errorf(400, "RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.",
			strings.ReplaceAll(roleGUID, "-", ""))
	}
	if !guid.MatchString(principal) {
		return provider.Errorf(400, "InvalidPrincipalId", "The Principal ID '%s' is not valid. Principal ID must be a GUID.", principal)
	}
	id, _ := store.ParseID(d.ID)
	if d.Old != nil {
		if !strings.EqualFold(body.String(d.Old, p+"principalId"), principal) ||
			!strings.EqualFold(lastOf(body.String(d.Old, p+"roleDefinitionId")), roleGUID) {
			return provider.Errorf(400, "RoleAssignmentUpdateNotPermitted",
				"Tenant ID, application ID, principal ID, and scope are not allowed to be updated.")
		}
	}
	for _, r := range c.List(Assignments, "") {
		other, _ := store.ParseID(r.ID)
		if !store.SameID(r.ID, d.ID) && store.SameID(other.Scope, id.Scope) &&
			strings.EqualFold(body.String(r.Body, p+"principalId"), principal) &&
			strings.EqualFold(lastOf(body.String(r.Body, p+"roleDefinitionId")), roleGUID) {
			return provider.Errorf(409, "RoleAssignmentExists", "The role assignment already exists. The ID of the existing role assignment is %s.",
				strings.ReplaceAll(r.Name(), "-", ""))
		}
	}
	if body.String(d.New, p+"principalType") == "" {
		// Without a type Azure looks the principal up, and a new one may not be replicated yet.
		if !known(c.Tx, principal) && !isReplicated(c, principal) {
			return provider.Errorf(400, "PrincipalNotFound",
				"Principal %s does not exist in the directory %s. Check that you have the correct principal ID. If you are creating this principal and then immediately assigning a role, this error might be related to a replication delay. In this case, set the role assignment principalType property to a value, such as ServicePrincipal, User, or Group.  See https://aka.ms/docs-principaltype",
				strings.ReplaceAll(principal, "-", ""), c.Tenant)
		}
		body.Set(d.New, p+"principalType", "ServicePrincipal")
	}
	body.Set(d.New, p+"scope", scopeOf(id.Scope))
	stampWriter(c, d)
	return nil
}

// stampWriter notes who wrote the resource and when.
func stampWriter(c *provider.Call, d *provider.Draft) {
	p := "properties."
	now := c.Now().Format("2006-01-02T15:04:05.0000000Z")
	for _, k := range []string{"createdOn", "createdBy"} {
		body.Delete(d.New, p+k)
	}
	if d.Old != nil {
		body.Set(d.New, p+"createdOn", body.String(d.Old, p+"createdOn"))
		body.Set(d.New, p+"createdBy", body.String(d.Old, p+"createdBy"))
		body.Set(d.New, p+"updatedOn", body.String(d.Old, p+"updatedOn"))
	}
	body.Default(d.New, p+"createdOn", now)
	body.Default(d.New, p+"createdBy", c.Principal.ObjectID)
	body.Default(d.New, p+"updatedOn", now)
	body.Set(d.New, p+"updatedBy", c.Principal.ObjectID)
}

// hideCreator removes the creator from the answer that creates a resource, as recorded.
func hideCreator(c *provider.Call, it *provider.Item) {
	if c.Method == http.MethodPut && it.Resource != nil && it.Resource.Version == 1 && body.Child(it.Body, "properties") != nil {
		body.Set(it.Body, "properties.createdBy", nil)
	}
}

// showNulls shows properties without a value as null, as this provider does.
func showNulls(o body.Object, names ...string) {
	properties := body.Child(o, "properties")
	for _, name := range names {
		if _, set := properties[name]; properties != nil && !set {
			properties[name] = nil
		}
	}
}

func lastOf(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

func scopeOf(scope string) string {
	if scope == "" {
		return "/"
	}
	return scope
}

func isCustomRole(c *provider.Call, name string) bool {
	for _, r := range c.List(Definitions, "") {
		if strings.EqualFold(r.Name(), name) {
			return true
		}
	}
	return false
}

// isReplicated looks for a stored identity, user-assigned or of a resource, whose principal has been there long enough.
func isReplicated(c *provider.Call, principal string) bool {
	for _, r := range c.List("", "") {
		own := strings.EqualFold(r.Type, msi.Identities) && strings.EqualFold(body.String(r.Body, "properties.principalId"), principal)
		ofExtension := strings.EqualFold(body.String(r.Body, "properties.aksAssignedIdentity.principalId"), principal)
		if own || ofExtension || strings.EqualFold(body.String(r.Body, "identity.principalId"), principal) {
			return c.Now().Sub(r.Created) >= c.ScaleDuration(c.Replication)
		}
	}
	return false
}

func atScope(c *provider.Call) bool {
	return strings.Contains(strings.ToLower(c.Query.Get("$filter")), "atscope()")
}

func sameScope(c *provider.Call, r *store.Resource) bool {
	id, _ := store.ParseID(r.ID)
	return store.SameID(id.Scope, c.ID.Scope)
}
