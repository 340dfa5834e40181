package doctor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// maxAssignments bounds the role assignments of one identity that are read. Azure allows 4,000 in a subscription.
// https://learn.microsoft.com/azure/role-based-access-control/troubleshoot-limits
const maxAssignments = 4000

// checkRights compares the permissions of the identity with the roles of the release that the plan needs.
func (a *asker) checkRights(ctx context.Context) (out []Check) {
	permissions, err := a.readPermissions(ctx, a.scope())
	if err != nil {
		return []Check{{Check: CheckRights, Status: Unknown, Subject: a.scope(), Fix: assignRole("Reader", a.account), Message: fmt.Sprintf(
			"The permissions of client %s cannot be read: %v. Let it read them, or sign in with az as a user who may read role assignments.",
			a.account.Identity.Spec.ClientID, err)}}
	}
	for _, name := range a.needs.roles {
		out = append(out, a.checkRole(ctx, name, permissions))
	}
	return out
}

func (a *asker) checkRole(ctx context.Context, name string, permissions []permission) Check {
	out := Check{Check: CheckRights, Status: Passed, Subject: "role " + name}
	wanted, err := readRole(name)
	if err != nil {
		out.Status, out.Message, out.Fix = Unknown, err.Error(), assignRole("Contributor", a.account)
		return out
	}
	missing := missingActions(wanted.Actions, permissions)
	for _, group := range a.needs.groups {
		if len(missing) == 0 {
			break
		}
		missing = a.missingInGroup(ctx, group, missing)
	}
	if len(missing) == 0 {
		out.Message = fmt.Sprintf("The identity has all %d actions.", len(wanted.Actions))
		return out
	}
	out.Status = Failed
	out.Message = fmt.Sprintf("The identity lacks %d of %d actions in %s: %s.", len(missing), len(wanted.Actions), a.scope(),
		text.Truncate(strings.Join(missing, ", "), text.MaxNote))
	file := "azure-role-" + name + ".json"
	out.Fix = fmt.Sprintf("sed -i 's#/subscriptions/00000000-0000-0000-0000-000000000000#%s#' %s && az role definition create --role-definition @%s && %s",
		a.scope(), file, file, assignRole(wanted.Name, a.account))
	return out
}

// missingInGroup returns the actions that the identity lacks in a resource group, too: those of subscriptions are not granted by an
// assignment in a group. A group that does not exist, or whose permissions cannot be read, grants none.
func (a *asker) missingInGroup(ctx context.Context, group arm.ID, missing []string) (out []string) {
	permissions, err := a.readPermissions(ctx, string(group))
	if err != nil {
		return missing
	}
	for _, action := range missing {
		isOfSubscription := strings.HasPrefix(action, "Microsoft.Resources/subscriptions/") &&
			!strings.HasPrefix(action, "Microsoft.Resources/subscriptions/resourceGroups/") || strings.Contains(action, "/locations/") ||
			strings.HasSuffix(action, "/skus/read")
		if isOfSubscription || len(missingActions([]string{action}, permissions)) > 0 {
			out = append(out, action)
		}
	}
	return out
}

// readPermissions returns the permissions of the identity at a scope. If it may not read them, the user reads its role assignments.
func (a *asker) readPermissions(ctx context.Context, scope string) ([]permission, error) {
	items, err := a.client.List(ctx, scope+"/providers/Microsoft.Authorization/permissions", authorizationAPIVersion, nil)
	if isForbidden(err) {
		if permissions, userErr := a.readAssignedPermissions(ctx, scope); !errors.Is(userErr, errNoUser) {
			return permissions, userErr
		}
	}
	if err != nil {
		return nil, err
	}
	return decodePermissions(items)
}

func decodePermissions(items []json.RawMessage) (out []permission, err error) {
	for _, item := range items {
		var found permission
		if err := json.Unmarshal(item, &found); err != nil {
			return nil, fmt.Errorf("permissions: %w", err)
		}
		out = append(out, found)
	}
	return out, nil
}

// readAssignedPermissions reads the roles that are assigned to the identity at a scope or above it, also to its groups.
// https://learn.microsoft.com/azure/role-based-access-control/role-assignments-list-rest
func (a *asker) readAssignedPermissions(ctx context.Context, scope string) (out []permission, err error) {
	user, err := a.userClient()
	if err != nil {
		return nil, err
	}
	object, err := a.objectID(ctx)
	if err != nil {
		return nil, err
	}
	items, err := user.List(ctx, scope+"/providers/Microsoft.Authorization/roleAssignments", authorizationAPIVersion,
		url.Values{"$filter": {"assignedTo('" + object + "')"}})
	if err != nil {
		return nil, err
	}
	if len(items) > maxAssignments {
		return nil, fmt.Errorf("client %s has %d role assignments, more than the %d that are read", a.account.Identity.Spec.ClientID, len(items),
			maxAssignments)
	}
	read := map[string]bool{}
	for _, item := range items {
		var assignment struct {
			ID         string `json:"id"`
			Properties struct {
				RoleDefinitionID string `json:"roleDefinitionId"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(item, &assignment); err != nil {
			return nil, fmt.Errorf("role assignment: %w", err)
		}
		definition := assignment.Properties.RoleDefinitionID
		if !isAtOrAbove(assignment.ID, scope) || read[definition] {
			continue
		}
		read[definition] = true
		response, err := user.Get(ctx, arm.ID(definition), authorizationAPIVersion, nil)
		if err != nil {
			return nil, err
		}
		var role struct {
			Properties struct {
				Permissions []permission `json:"permissions"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(response.Body, &role); err != nil {
			return nil, fmt.Errorf("role %s: %w", definition, err)
		}
		out = append(out, role.Properties.Permissions...)
	}
	return out, nil
}

// isAtOrAbove reports whether an assignment counts at a scope: it is there, in a scope above it, or in a management group.
func isAtOrAbove(assignment, scope string) bool {
	at, _, found := strings.Cut(strings.ToLower(assignment), "/providers/microsoft.authorization/")
	return found && (strings.HasPrefix(strings.ToLower(scope)+"/", at+"/") || strings.HasPrefix(at, "/providers/microsoft.management/"))
}

// objectID returns the ID of the identity's principal, which its token has. The token comes from Entra ID over TLS, so its signature is
// not checked; a wrong ID leads to another principal's assignments, and to nothing else.
func (a *asker) objectID(ctx context.Context) (string, error) {
	token, err := a.account.Credential.GetToken(ctx, policy.TokenRequestOptions{
		Scopes: []string{strings.TrimRight(a.account.Cloud.Services[cloud.ResourceManager].Audience, "/") + "/.default"}})
	if err != nil {
		return "", err
	}
	claims := ReadClaims(token.Token)
	if !isGUID(claims.ObjectID) {
		return "", errors.New("the token of the identity names no principal")
	}
	return claims.ObjectID, nil
}

// Claims are those claims of a JSON Web Token that doctor uses. Entra ID sets ObjectID, the ID of the principal.
type Claims struct {
	ObjectID string `json:"oid"`
	Subject  string `json:"sub"`
	// Expires is in seconds since 1970.
	Expires int64 `json:"exp"`
}

// ReadClaims returns the claims of a token, without a check of its signature. They are empty if it is no JSON Web Token.
func ReadClaims(token string) (out Claims) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return out
	}
	if raw, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
		_ = json.Unmarshal(raw, &out) // Callers refuse empty claims.
	}
	return out
}

func isGUID(text string) bool {
	return len(text) == 36 && strings.Trim(strings.ToLower(text), "0123456789abcdef-") == ""
}
