package overlay

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// liveOrigin gives the simulated Azure the resources of the live one that it needs for its answers: the resource that a write changes, and those
// that the write refers to.
type liveOrigin struct{ live *Live }

// The api-versions of generic requests.
const (
	groupAPIVersion     = "2021-04-01"
	providersAPIVersion = "2021-04-01"
)

// apiVersionFor returns the api-version of a type, or another one if the type is not known.
func apiVersionFor(id arm.ID, otherwise string) string {
	if row, err := types.ForID(id); err == nil && row.APIVersion != "" {
		return row.APIVersion
	}
	if otherwise != "" {
		return otherwise
	}
	return providersAPIVersion
}

// ReadResource implements server.Origin.
func (o liveOrigin) ReadResource(id string) map[string]any {
	query := url.Values{"api-version": {apiVersionFor(arm.ID(id), "")}}
	row, err := types.ForID(arm.ID(id))
	if err == nil {
		for key, values := range row.GetQuery {
			query[key] = values
		}
	}
	body := o.get(id, query)
	if body == nil || !strings.EqualFold(strings.TrimSuffix(textOf(body, "id"), "/"), id) && textOf(body, "id") != "" {
		return nil
	}
	removeBackReferences(row, body)
	return body
}

// ListResources implements server.Origin.
func (o liveOrigin) ListResources(typ, scope string) (out []map[string]any) {
	switch {
	case scope == "":
		return nil // What is anywhere is only known as far as it was needed.
	case typ == "" && isGroup(strings.ToLower(scope)):
		for _, item := range o.list(scope+"/resources", url.Values{"api-version": {groupAPIVersion}}) {
			if body := o.ReadResource(textOf(item, "id")); body != nil {
				out = append(out, body)
			}
		}
		return out
	case typ == "":
		of := strings.ToLower(arm.ID(scope).Type()) + "/"
		for _, row := range types.TableRows() {
			if below, is := strings.CutPrefix(strings.ToLower(row.Name), of); is && !strings.Contains(below, "/") {
				out = append(out, o.listBelow(row.Name, scope)...)
			}
		}
		return out
	}
	return o.listBelow(typ, scope)
}

// listBelow lists the resources of a type in a group or subscription, or those below a resource.
func (o liveOrigin) listBelow(typ, scope string) (out []map[string]any) {
	path := scope + "/providers/" + typ
	if of := arm.ID(scope).Type(); !isGroup(strings.ToLower(scope)) {
		below, is := strings.CutPrefix(strings.ToLower(typ), strings.ToLower(of)+"/")
		if !is {
			return nil // An extension of the resource, such as a role assignment, is read by its ID.
		}
		path = scope + "/" + below
	}
	query := url.Values{"api-version": {apiVersionFor(arm.ID(scope+"/providers/"+typ+"/name"), "")}}
	row, err := types.ForID(arm.ID(path + "/name"))
	if err == nil {
		query.Set("api-version", row.APIVersion)
		for key, values := range row.ListQuery {
			query[key] = values
		}
	}
	for _, item := range o.list(path, query) {
		removeBackReferences(row, item)
		out = append(out, item)
	}
	return out
}

func removeBackReferences(row types.Type, body map[string]any) {
	for _, path := range row.BackReferences {
		jsonpath.Delete(body, path)
	}
}

// get returns the body at a path, or nil. A resource that cannot be read counts as absent here; the request of the manager for it returns
// the error.
func (o liveOrigin) get(path string, query url.Values) map[string]any {
	at, err := url.Parse(o.live.Endpoint)
	if err != nil {
		return nil
	}
	at.Path, at.RawQuery = path, query.Encode()
	status, raw, err := o.live.Get(context.Background(), at)
	if err != nil || status != http.StatusOK {
		return nil
	}
	var body map[string]any
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	return body
}

func (o liveOrigin) list(path string, query url.Values) (out []map[string]any) {
	values, _ := o.get(path, query)["value"].([]any)
	for _, value := range values {
		if item, is := value.(map[string]any); is {
			out = append(out, item)
		}
	}
	return out
}

func textOf(body map[string]any, key string) string {
	text, _ := body[key].(string)
	return text
}
