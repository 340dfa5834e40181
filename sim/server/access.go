package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/authorization"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// checkAuthorization notes the actions that the request takes and, when roles are enforced, refuses it when the caller lacks one.
func (x *exchange) checkAuthorization() error {
	need, any := x.s.neededAction(x.r.Method, x.r.URL.Path)
	if !any {
		return nil
	}
	var linked []authorization.Need
	if x.r.Method == "PUT" || x.r.Method == "PATCH" {
		linked = authorization.LinkedNeeds(x.call.ID, x.call.Body)
	}
	x.noteActions(append([]authorization.Need{need}, linked...)...)
	if !x.s.opts.EnforceRBAC || x.s.isOwner(x.call.Principal.ClientID) {
		return nil
	}
	who := x.call.Principal
	allowed, lacking := false, []authorization.Need{}
	x.s.store.View(func(tx *store.Tx) {
		allowed = authorization.IsAllowed(tx, who.ObjectID, need)
		for _, n := range linked {
			if !authorization.IsAllowed(tx, who.ObjectID, n) {
				lacking = append(lacking, n)
			}
		}
	})
	switch {
	case !allowed:
		return newForbidden("AuthorizationFailed",
			"The client '%s' with object id '%s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. If access was recently granted, please refresh your credentials.",
			who.ClientID, who.ObjectID, need.Action, need.Scope)
	case len(lacking) > 0:
		var actions, scopes []string
		for _, n := range lacking {
			actions, scopes = append(actions, n.Action), append(scopes, n.Scope)
		}
		return newForbidden("LinkedAuthorizationFailed",
			"The client '%s' with object id '%s' has permission to perform action '%s' on scope '%s'; however, it does not have permission to perform action(s) '%s' on the linked scope(s) '%s' (respectively) or the linked scope(s) are invalid.",
			who.ClientID, who.ObjectID, need.Action, need.Scope, strings.Join(actions, ","), strings.Join(scopes, ","))
	}
	return nil
}

// noteActions notes actions of the request, each once.
func (x *exchange) noteActions(needs ...authorization.Need) {
	for _, n := range needs {
		if !slices.Contains(x.record.Actions, n.Action) {
			x.record.Actions = append(x.record.Actions, n.Action)
		}
	}
}

// notePollAction records the action that the caller needs to poll the operation named by the answer. It is recorded whether
// or not the caller polls, because that depends on the operation's duration.
func (x *exchange) notePollAction() {
	h := x.w.Header()
	target := h.Get("Azure-AsyncOperation")
	if target == "" && x.r.Method != http.MethodGet {
		target = h.Get("Location")
	}
	if u, err := url.Parse(target); err == nil && target != "" {
		if need, any := x.s.neededAction(http.MethodGet, u.Path); any {
			x.noteActions(need)
		}
	}
}

// newForbidden is written as Resource Manager does it.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-authorization-failed
func newForbidden(code, format string, args ...any) error {
	e := provider.Errorf(403, code, format, args...)
	e.Gateway = true
	return e
}

// listPermissions returns the permissions of the caller at a scope.
func (x *exchange) listPermissions(scope string) []any {
	if !x.s.opts.EnforceRBAC || x.s.isOwner(x.call.Principal.ClientID) {
		return authorization.AllPermissions()
	}
	return authorization.ListPermissions(x.call.Tx, x.call.Principal.ObjectID, scope)
}

func (s *Server) isOwner(clientID string) bool {
	return slices.ContainsFunc(s.opts.Owners, func(owner string) bool { return strings.EqualFold(owner, clientID) })
}

// Grant creates or updates a role with these actions and assigns it to a principal at a scope. A user who may write
// roles does the same with two PUTs. name is the GUID of the definition and of the assignment.
func (s *Server) Grant(name, clientID, scope string, actions []string) error {
	list := []any{}
	for _, action := range actions {
		list = append(list, action)
	}
	object, definition := s.entra.objectID(clientID), scope+"/providers/"+authorization.Definitions+"/"+name
	return s.store.Update(func(tx *store.Tx) error {
		for _, put := range []struct {
			id      string
			content body.Object
		}{
			{definition, body.Object{"properties": body.Object{"roleName": name, "assignableScopes": []any{scope},
				"permissions": []any{body.Object{"actions": list}}}}},
			{scope + "/providers/" + authorization.Assignments + "/" + name, body.Object{"properties": body.Object{
				"roleDefinitionId": definition, "principalId": object, "principalType": "ServicePrincipal"}}},
		} {
			id, err := store.ParseID(put.id)
			if err != nil {
				return fmt.Errorf("grant at %s: %w", scope, err)
			}
			c := &provider.Call{Tx: tx, Env: s.env, Method: "PUT", ID: id, Type: s.env.TypeOf(id.Type()), Body: put.content,
				APIVersion: "2022-04-01", Internal: true, Header: map[string][]string{}}
			if _, err := c.PutResource(); err != nil {
				return err
			}
		}
		return nil
	})
}
