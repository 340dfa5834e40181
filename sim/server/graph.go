package server

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/msi"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const graphRoot = "https://graph.microsoft.com/v1.0/$metadata#"

// serveGraph answers the lookups of Azure's clients in Microsoft Graph: service principals, which every application
// and every user-assigned identity has. It returns false if the path is not one of Graph.
//
// Source: https://learn.microsoft.com/graph/api/serviceprincipal-list
func (e *entra) serveGraph(w http.ResponseWriter, r *http.Request) bool {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1.0/")
	if !ok {
		return false
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	c, valid := e.verifyToken(token)
	aud, _ := c.Aud.(string)
	switch {
	case !strings.EqualFold(kind, "Bearer") || token == "":
		e.graphError(w, 401, "InvalidAuthenticationToken", "Access token is empty.")
		return true
	case !valid:
		e.graphError(w, 401, "InvalidAuthenticationToken", "Access token validation failure. Invalid signature.")
		return true
	case time.Unix(c.Exp, 0).Before(time.Now()):
		e.graphError(w, 401, "InvalidAuthenticationToken", "Lifetime validation failed, the token is expired.")
		return true
	case !slices.Contains(graphAudiences, aud):
		e.graphError(w, 401, "InvalidAuthenticationToken", "Access token validation failure. Invalid audience.")
		return true
	}
	if e.serveApplications(w, r, path) {
		return true
	}
	all := e.servicePrincipals()
	switch {
	case r.Method == http.MethodGet && path == "servicePrincipals":
		matches, ok := graphFilter(r.URL.Query().Get("$filter"))
		if !ok {
			e.graphError(w, 400, "Request_UnsupportedQuery", "Unsupported or invalid query filter clause specified.")
			return true
		}
		writeJSON(w, 200, body.Object{"@odata.context": graphRoot + "servicePrincipals", "value": graphList(all, matches)})
	case r.Method == http.MethodPost && path == "directoryObjects/getByIds":
		var in struct {
			IDs []string `json:"ids"`
		}
		if raw, err := receiveBody(r); err != nil || json.Unmarshal(raw, &in) != nil {
			e.graphError(w, 400, "BadRequest", "Unable to read JSON request payload.")
			return true
		}
		writeJSON(w, 200, body.Object{"@odata.context": graphRoot + "directoryObjects", "value": graphList(all, func(p body.Object) bool {
			return slices.Contains(in.IDs, body.String(p, "id"))
		})})
	case r.Method == http.MethodGet && strings.HasPrefix(path, "servicePrincipals"):
		id, byApp := strings.TrimPrefix(path, "servicePrincipals/"), ""
		if m := graphByApp.FindStringSubmatch(path); m != nil {
			id, byApp = "", m[1]
		}
		for _, p := range all {
			if strings.EqualFold(body.String(p, "id"), id) || byApp != "" && strings.EqualFold(body.String(p, "appId"), byApp) {
				p["@odata.context"] = graphRoot + "servicePrincipals/$entity"
				writeJSON(w, 200, p)
				return true
			}
		}
		e.graphError(w, 404, "Request_ResourceNotFound",
			"Resource '"+id+byApp+"' does not exist or one of its queried reference-property objects are not present.")
	default:
		e.graphError(w, 400, "BadRequest", "Resource not found for the segment '"+path+"'.")
	}
	return true
}

var graphByApp = regexp.MustCompile(`^servicePrincipals\(appId='([^']*)'\)$`)

// graphFilters maps the supported filters to the property that they compare. The value is the first group of the
// expression.
var graphFilters = []struct {
	form    *regexp.Regexp
	matches func(p body.Object, value string) bool
}{
	{regexp.MustCompile(`^appId eq '([^']*)'$`), func(p body.Object, v string) bool { return strings.EqualFold(body.String(p, "appId"), v) }},
	{regexp.MustCompile(`^id eq '([^']*)'$`), func(p body.Object, v string) bool { return strings.EqualFold(body.String(p, "id"), v) }},
	{regexp.MustCompile(`^displayName eq '([^']*)'$`),
		func(p body.Object, v string) bool { return strings.EqualFold(body.String(p, "displayName"), v) }},
	{regexp.MustCompile(`^startswith\(displayName, ?'([^']*)'\)$`), func(p body.Object, v string) bool {
		return strings.HasPrefix(strings.ToLower(body.String(p, "displayName")), strings.ToLower(v))
	}},
	{regexp.MustCompile(`^servicePrincipalNames/any\(\w+: ?\w+ eq '([^']*)'\)$`), func(p body.Object, v string) bool {
		return slices.ContainsFunc(body.Strings(p, "servicePrincipalNames"), func(name string) bool { return strings.EqualFold(name, v) })
	}},
}

func graphFilter(filter string) (matches func(p body.Object) bool, ok bool) {
	if filter == "" {
		return func(body.Object) bool { return true }, true
	}
	for _, f := range graphFilters {
		if m := f.form.FindStringSubmatch(filter); m != nil {
			return func(p body.Object) bool { return f.matches(p, m[1]) }, true
		}
	}
	return nil, false
}

func graphList(all []body.Object, matches func(p body.Object) bool) []any {
	out := []any{}
	for _, p := range all {
		if matches(p) {
			out = append(out, p)
		}
	}
	return out
}

func (e *entra) servicePrincipals() []body.Object {
	out := []body.Object{}
	show := func(client, object, name, kind string, names, alternative []any) {
		out = append(out, body.Object{
			"@odata.type": "#microsoft.graph.servicePrincipal", "id": object, "appId": client, "displayName": name, "appDisplayName": name,
			"accountEnabled":       true,
			"servicePrincipalType": kind, "servicePrincipalNames": names, "alternativeNames": alternative, "appOwnerOrganizationId": e.s.opts.Tenant,
			"signInAudience": "AzureADMyOrg", "tags": []any{}, "keyCredentials": []any{}, "passwordCredentials": []any{},
		})
	}
	seen := map[string]bool{}
	registered := e.listRegistrations().Applications
	for _, p := range e.listPrincipals() {
		if id := strings.ToLower(p.ClientID); !seen[id] {
			seen[id] = true
			name := p.ClientID
			if made := registered[id].Created; made != nil {
				name = made.Name
			}
			show(p.ClientID, e.objectID(p.ClientID), name, "Application", []any{p.ClientID, "api://" + p.ClientID}, []any{})
		}
	}
	e.s.store.View(func(tx *store.Tx) {
		for _, r := range tx.List(msi.Identities, "") {
			client := body.String(r.Body, "properties.clientId")
			show(client, body.String(r.Body, "properties.principalId"), r.Name(), "ManagedIdentity", []any{client}, []any{"isExplicit=True", r.ID})
		}
	})
	return out
}

// graphError is an error as Graph writes it. Source: https://learn.microsoft.com/graph/errors
func (e *entra) graphError(w http.ResponseWriter, status int, code, message string) {
	id := e.s.newGUID()
	writeJSON(w, status, body.Object{"error": body.Object{"code": code, "message": message,
		"innerError": body.Object{"date": time.Now().UTC().Format("2006-01-02T15:04:05"), "request-id": id, "client-request-id": id}}})
}
