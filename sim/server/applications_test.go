package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestApplications creates an application with a secret, as `az ad sp create-for-rbac` does, signs in as it, assigns a role, and deletes it.
func TestApplications(t *testing.T) {
	a := newGuarded(t)
	_, _, token := a.signIn(url.Values{"scope": {"https://graph.microsoft.com/.default"}, "client_id": {ownerID}, "client_secret": {"s"}})
	send := func(method, path, content string, want int) obj {
		t.Helper()
		request, err := http.NewRequest(method, a.url+"/v1.0/"+path, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := a.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var out obj
		_ = json.NewDecoder(response.Body).Decode(&out) // The answer to a deletion is empty.
		if response.StatusCode != want {
			t.Fatalf("%s %s: %d %v, want %d", method, path, response.StatusCode, out, want)
		}
		return out
	}
	text := func(o obj, key string) string {
		value, _ := o[key].(string)
		return value
	}
	application := send("POST", "applications", `{"displayName": "capi"}`, 201)
	path := "applications/" + text(application, "id")
	client := text(application, "appId")
	secret := text(send("POST", path+"/addPassword", `{"passwordCredential": {"displayName": "rbac"}}`, 200), "secretText")
	signIn := func() int {
		code, _, _ := a.signIn(url.Values{"client_id": {client}, "client_secret": {secret}})
		return code
	}
	if code := signIn(); code != 700016 {
		t.Errorf("without a service principal: %d, want 700016", code)
	}
	principal := text(send("POST", "servicePrincipals", `{"appId": "`+client+`"}`, 201), "id")
	send("POST", "servicePrincipals", `{"appId": "`+client+`"}`, 409)
	send("POST", "servicePrincipals", `{"appId": "unknown"}`, 400)
	if code := signIn(); code != 0 {
		t.Errorf("with a service principal: %d", code)
	}
	if code, _, _ := a.signIn(url.Values{"client_id": {client}, "client_secret": {"wrong"}}); code != 7000215 {
		t.Errorf("with another secret: %d, want 7000215", code)
	}
	a.token = a.sim.Token(client)
	if answer := a.sendRequest("GET", groupA, nil); answer.status != 403 {
		t.Errorf("without a role: %d, want 403", answer.status)
	}
	a.token = a.sim.Token(ownerID)
	a.mustSucceed("PUT", groupA+"/providers/Microsoft.Authorization/roleAssignments/77777777-7777-4777-8777-777777777773", obj{"properties": obj{
		"roleDefinitionId": "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7", "principalId": principal}})
	a.token = a.sim.Token(client)
	if answer := a.sendRequest("GET", groupA, nil); answer.status != 200 {
		t.Errorf("with a role: %d %s", answer.status, answer.raw)
	}
	if list, _ := send("GET", "applications?$filter="+url.QueryEscape("displayName eq 'capi'"), "", 200)["value"].([]any); len(list) != 1 {
		t.Errorf("applications by name: %v", list)
	}
	send("GET", path, "", 200)
	send("DELETE", path, "", 204)
	send("GET", path, "", 404)
	if code := signIn(); code != 700016 {
		t.Errorf("after the deletion: %d, want 700016", code)
	}
}
