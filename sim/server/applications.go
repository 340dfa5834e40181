package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// created is an application that a client created in Microsoft Graph.
type created struct {
	// Name is what people call it, ObjectID the ID of the application, Principal that of its service principal, "" for none.
	Name      string `json:"name"`
	ObjectID  string `json:"objectID"`
	Principal string `json:"principal,omitempty"`
	// Secrets are its client secrets.
	Secrets []string `json:"secrets,omitempty"`
}

// listPrincipals returns the principals of the tenant: those of the options, and the service principals of created applications, once for each secret.
func (e *entra) listPrincipals() []Principal {
	out := slices.Clone(e.s.opts.Principals)
	for client, a := range body.Sorted(e.listRegistrations().Applications) {
		if a.Created == nil || a.Created.Principal == "" {
			continue
		}
		for _, secret := range append([]string{""}, a.Created.Secrets...) {
			out = append(out, Principal{ClientID: client, Secret: secret, ObjectID: a.Created.Principal})
		}
	}
	return out
}

// serveApplications answers what `az ad sp create-for-rbac` and `az ad app` send to Microsoft Graph. Any principal may change the directory, which
// is a simplification. It returns false if the request is another one.
//
// Source: https://learn.microsoft.com/graph/api/resources/application
func (e *entra) serveApplications(w http.ResponseWriter, r *http.Request, path string) bool {
	id, action, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "applications"), "/"), "/")
	var in struct {
		DisplayName        string `json:"displayName"`
		AppID              string `json:"appId"`
		PasswordCredential struct {
			DisplayName string `json:"displayName"`
			EndDateTime string `json:"endDateTime"`
		} `json:"passwordCredential"`
	}
	isApplication := path == "applications" || strings.HasPrefix(path, "applications/")
	if !isApplication && (path != "servicePrincipals" || r.Method != http.MethodPost) {
		return false
	}
	if raw, err := receiveBody(r); err != nil || len(raw) > 0 && json.Unmarshal(raw, &in) != nil {
		e.graphError(w, 400, "BadRequest", "Unable to read JSON request payload.")
		return true
	}
	switch {
	case !isApplication:
		e.createPrincipal(w, in.AppID)
	case id == "" && r.Method == http.MethodGet:
		matches, ok := graphFilter(r.URL.Query().Get("$filter"))
		if !ok {
			e.graphError(w, 400, "Request_UnsupportedQuery", "Unsupported or invalid query filter clause specified.")
			return true
		}
		writeJSON(w, 200, body.Object{"@odata.context": graphRoot + "applications", "value": graphList(e.showApplications(), matches)})
	case id == "" && r.Method == http.MethodPost:
		client := e.s.newGUID()
		e.changeApplication(w, 201, client, func(a *application) {
			a.Created = &created{Name: in.DisplayName, ObjectID: e.s.newGUID()}
		})
	default:
		client := e.clientOf(id)
		switch {
		case client == "":
			e.graphError(w, 404, "Request_ResourceNotFound",
				"Resource '"+id+"' does not exist or one of its queried reference-property objects are not present.")
		case action == "addPassword" && r.Method == http.MethodPost:
			secret := strings.ReplaceAll(e.s.newGUID(), "-", "~")
			if err := e.changeRegistrations(func(r *registrations) {
				a := r.Applications[client]
				a.Created.Secrets = append(a.Created.Secrets, secret)
				r.Applications[client] = a
			}); err != nil {
				e.graphError(w, 500, "InternalServerError", err.Error())
				return true
			}
			writeJSON(w, 200, body.Object{"@odata.context": graphRoot + "microsoft.graph.passwordCredential", "keyId": e.s.newGUID(), "secretText": secret,
				"hint": secret[:3], "displayName": in.PasswordCredential.DisplayName, "endDateTime": in.PasswordCredential.EndDateTime,
				"startDateTime": time.Now().UTC().Format(time.RFC3339)})
		case action == "" && r.Method == http.MethodGet:
			e.changeApplication(w, 200, client, func(*application) {})
		case action == "" && r.Method == http.MethodDelete:
			if err := e.changeRegistrations(func(r *registrations) { delete(r.Applications, client) }); err != nil {
				e.graphError(w, 500, "InternalServerError", err.Error())
				return true
			}
			w.WriteHeader(204)
		default:
			e.graphError(w, 400, "BadRequest", "Resource not found for the segment '"+path+"'.")
		}
	}
	return true
}

// clientOf returns the client ID of a created application by the ID of its object, "" for none.
func (e *entra) clientOf(objectID string) string {
	for client, a := range body.Sorted(e.listRegistrations().Applications) {
		if a.Created != nil && strings.EqualFold(a.Created.ObjectID, objectID) {
			return client
		}
	}
	return ""
}

// changeApplication changes an application and answers with it.
func (e *entra) changeApplication(w http.ResponseWriter, status int, client string, change func(a *application)) {
	if err := e.changeRegistrations(func(r *registrations) {
		a := r.Applications[client]
		change(&a)
		r.Applications[client] = a
	}); err != nil {
		e.graphError(w, 500, "InternalServerError", err.Error())
		return
	}
	for _, shown := range e.showApplications() {
		if shown["appId"] == client {
			shown["@odata.context"] = graphRoot + "applications/$entity"
			writeJSON(w, status, shown)
		}
	}
}

func (e *entra) showApplications() (out []body.Object) {
	for client, a := range body.Sorted(e.listRegistrations().Applications) {
		if a.Created != nil {
			out = append(out, body.Object{"id": a.Created.ObjectID, "appId": client, "displayName": a.Created.Name, "signInAudience": "AzureADMyOrg",
				"identifierUris": []any{}, "keyCredentials": []any{}, "passwordCredentials": []any{}, "tags": []any{}, "requiredResourceAccess": []any{}})
		}
	}
	slices.SortFunc(out, func(a, b body.Object) int { return strings.Compare(body.String(a, "appId"), body.String(b, "appId")) })
	return out
}

// createPrincipal creates the service principal of an application.
func (e *entra) createPrincipal(w http.ResponseWriter, client string) {
	client = strings.ToLower(client)
	a := e.listRegistrations().Applications[client]
	switch {
	case a.Created == nil:
		e.graphError(w, 400, "Request_BadRequest", "The appId '"+client+"' of the service principal does not reference a valid application object.")
		return
	case a.Created.Principal != "":
		e.graphError(w, 409, "Request_MultipleObjectsWithSameKeyValue", "The service principal cannot be created, updated, or restored because the service principal name "+
			client+" is already in use.")
		return
	}
	if err := e.changeRegistrations(func(r *registrations) {
		a := r.Applications[client]
		a.Created.Principal = e.s.newGUID()
		r.Applications[client] = a
	}); err != nil {
		e.graphError(w, 500, "InternalServerError", err.Error())
		return
	}
	for _, shown := range e.servicePrincipals() {
		if strings.EqualFold(body.String(shown, "appId"), client) {
			shown["@odata.context"] = graphRoot + "servicePrincipals/$entity"
			writeJSON(w, 201, shown)
		}
	}
}
