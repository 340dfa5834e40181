package azureshell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// arguments are those of a command, by name. Flags without a value have the value "true".
type arguments map[string]string

// command is a command of the CLI with the arguments that it may have.
type command struct {
	flags string
	play  func(s *Shell, a arguments) (any, error)
}

const subscription = "/subscriptions/" + server.DefaultSubscription

// commands are the commands that pages use.
var commands = map[string]command{
	"account show": {"", func(*Shell, arguments) (any, error) {
		return map[string]any{"id": server.DefaultSubscription, "tenantId": server.DefaultTenant}, nil
	}},
	"provider register": {"namespace wait!", func(s *Shell, a arguments) (any, error) {
		return s.send("POST", subscription+"/providers/"+a["namespace"]+"/register", "2021-04-01", nil)
	}},
	"group create": {"name location", func(s *Shell, a arguments) (any, error) {
		return s.send("PUT", group(a["name"]), "2021-04-01", map[string]any{"location": a["location"]})
	}},
	"group delete": {"name yes!", func(s *Shell, a arguments) (any, error) {
		return s.send("DELETE", group(a["name"]), "2021-04-01", nil)
	}},
	"identity create": {"resource-group name", func(s *Shell, a arguments) (any, error) {
		in, err := s.send("GET", group(a["resource-group"]), "2021-04-01", nil)
		if err != nil {
			return nil, err
		}
		return s.send("PUT", identity(a, a["name"]), identityVersion, map[string]any{"location": in["location"]})
	}},
	"identity show": {"resource-group name", func(s *Shell, a arguments) (any, error) {
		return s.sendFlat("GET", identity(a, a["name"]), identityVersion)
	}},
	"identity federated-credential create": {"resource-group identity-name name issuer subject audiences", func(s *Shell, a arguments) (any, error) {
		return s.send("PUT", identity(a, a["identity-name"])+"/federatedIdentityCredentials/"+a["name"], identityVersion, map[string]any{
			"properties": map[string]any{"issuer": a["issuer"], "subject": a["subject"], "audiences": []any{a["audiences"]}}})
	}},
	"role definition create": {"role-definition", createRole},
	"role definition delete": {"name", func(s *Shell, a arguments) (any, error) {
		id, err := s.findRole(a["name"])
		if err != nil {
			return nil, err
		}
		return s.send("DELETE", id, roleVersion, nil)
	}},
	"role assignment create": {"role assignee-object-id assignee-principal-type scope", assignRole},
	"role assignment delete": {"role assignee scope", deleteAssignments},
	"ad sp create-for-rbac":  {"name role scopes", createApplication},
	"ad sp list": {"display-name", func(s *Shell, a arguments) (any, error) {
		found, err := s.sendGraph("GET", "servicePrincipals?$filter="+url.QueryEscape("startswith(displayName,'"+a["display-name"]+"')"), nil)
		return found["value"], err
	}},
	"ad app delete": {"id", func(s *Shell, a arguments) (any, error) {
		found, err := s.sendGraph("GET", "applications?$filter="+url.QueryEscape("appId eq '"+a["id"]+"'"), nil)
		if err != nil {
			return nil, err
		}
		list, _ := found["value"].([]any)
		if len(list) != 1 {
			return nil, fmt.Errorf("application with identifier '%s' does not exist", a["id"])
		}
		return s.sendGraph("DELETE", "applications/"+fmt.Sprint(list[0].(map[string]any)["id"]), nil)
	}},
	"vm list-skus": {"resource-type location size", func(s *Shell, _ arguments) (any, error) {
		return s.send("GET", subscription+"/providers/Microsoft.Compute/skus", "2019-04-01", nil)
	}},
	"vm list-usage": {"location", func(s *Shell, a arguments) (any, error) {
		return s.send("GET", subscription+"/providers/Microsoft.Compute/locations/"+a["location"]+"/usages", "2022-08-01", nil)
	}},
	"aks create": {"resource-group name location node-count enable-oidc-issuer! generate-ssh-keys!", func(s *Shell, a arguments) (any, error) {
		return s.send("PUT", cluster(a), clusterVersion, map[string]any{"location": a["location"], "identity": map[string]any{"type": "SystemAssigned"},
			"properties": map[string]any{"dnsPrefix": a["name"], "oidcIssuerProfile": map[string]any{"enabled": true}, "agentPoolProfiles": []any{
				map[string]any{"name": "nodepool1", "mode": "System", "count": 1, "vmSize": "Standard_DS2_v2", "osType": "Linux", "type": "VirtualMachineScaleSets"}}}})
	}},
	"aks show": {"resource-group name", func(s *Shell, a arguments) (any, error) {
		out, err := s.sendFlat("GET", cluster(a), clusterVersion)
		if err != nil {
			return nil, err
		}
		profile, _ := out["oidcIssuerProfile"].(map[string]any)
		return map[string]any{"oidcIssuerProfile": map[string]any{"issuerUrl": profile["issuerURL"]}}, nil
	}},
	"aks get-credentials": {"resource-group name", func(s *Shell, a arguments) (any, error) {
		return s.send("POST", cluster(a)+"/listClusterUserCredential", clusterVersion, nil)
	}},
}

const (
	identityVersion = "2022-01-31-preview"
	roleVersion     = "2018-01-01-preview"
	clusterVersion  = "2022-11-01"
)

func group(name string) string { return subscription + "/resourceGroups/" + name }

func identity(a arguments, name string) string {
	return group(a["resource-group"]) + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name
}

func cluster(a arguments) string {
	return group(a["resource-group"]) + "/providers/Microsoft.ContainerService/managedClusters/" + a["name"]
}

func createRole(s *Shell, a arguments) (any, error) {
	file, is := strings.CutPrefix(a["role-definition"], "@")
	if !is {
		return nil, errors.New("--role-definition has to name a file with @")
	}
	raw, err := os.ReadFile(filepath.Join(s.Folder, file))
	if err != nil {
		return nil, err
	}
	var role struct {
		Name, Description                                                  string
		Actions, NotActions, DataActions, NotDataActions, AssignableScopes []string
	}
	if err := json.Unmarshal(raw, &role); err != nil {
		return nil, err
	}
	if len(role.AssignableScopes) == 0 {
		return nil, errors.New("the role has no AssignableScopes")
	}
	return s.send("PUT", role.AssignableScopes[0]+"/providers/Microsoft.Authorization/roleDefinitions/"+uuid.NewString(), roleVersion, map[string]any{
		"properties": map[string]any{"roleName": role.Name, "description": role.Description, "type": "CustomRole", "assignableScopes": role.AssignableScopes,
			"permissions": []any{map[string]any{"actions": role.Actions, "notActions": role.NotActions, "dataActions": role.DataActions,
				"notDataActions": role.NotDataActions}}}})
}

func assignRole(s *Shell, a arguments) (any, error) {
	role, err := s.findRole(a["role"])
	if err != nil {
		return nil, err
	}
	return s.send("PUT", a["scope"]+"/providers/Microsoft.Authorization/roleAssignments/"+uuid.NewString(), "2020-04-01-preview", map[string]any{
		"properties": map[string]any{"roleDefinitionId": role, "principalId": a["assignee-object-id"], "principalType": a["assignee-principal-type"]}})
}

// deleteAssignments deletes the assignments of a role or of a principal at a scope.
func deleteAssignments(s *Shell, a arguments) (any, error) {
	const version = "2020-04-01-preview"
	found, err := s.send("GET", a["scope"]+"/providers/Microsoft.Authorization/roleAssignments", version+"&$filter=atScope()", nil)
	if err != nil {
		return nil, err
	}
	role := ""
	if a["role"] != "" {
		if role, err = s.findRole(a["role"]); err != nil {
			return nil, err
		}
	}
	list, _ := found["value"].([]any)
	for _, item := range list {
		assignment := item.(map[string]any)
		properties := assignment["properties"].(map[string]any)
		if role != "" && !strings.EqualFold(role, fmt.Sprint(properties["roleDefinitionId"])) ||
			a["assignee"] != "" && a["assignee"] != properties["principalId"] || a["scope"] != properties["scope"] {
			continue
		}
		if _, err := s.send("DELETE", fmt.Sprint(assignment["id"]), version, nil); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// findRole returns the ID of the role with a name.
func (s *Shell) findRole(name string) (string, error) {
	found, err := s.send("GET", subscription+"/providers/Microsoft.Authorization/roleDefinitions", roleVersion+"&$filter=roleName%20eq%20%27"+
		strings.ReplaceAll(name, " ", "%20")+"%27", nil)
	if err != nil {
		return "", err
	}
	if list, _ := found["value"].([]any); len(list) == 1 {
		return fmt.Sprint(list[0].(map[string]any)["id"]), nil
	}
	return "", fmt.Errorf("role '%s' doesn't exist", name)
}

// play runs a command and returns its output.
func (s *Shell) play(words []string) (string, error) {
	end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	if end < 0 {
		end = len(words)
	}
	known, ok := commands[strings.Join(words[:end], " ")]
	if !ok {
		return "", errors.New("the played CLI does not know this command")
	}
	a, err := parse(words[end:], known.flags)
	if err != nil {
		return "", err
	}
	out, err := known.play(s, a)
	if err != nil || a["query"] == "" {
		return "", err
	}
	for part := range strings.SplitSeq(a["query"], ".") {
		if part == "[0]" {
			if list, _ := out.([]any); len(list) > 0 {
				out = list[0]
			}
			continue
		}
		object, _ := out.(map[string]any)
		out = object[part]
	}
	text, is := out.(string)
	if !is || a["output"] != "tsv" {
		return "", fmt.Errorf("--query %s has no text", a["query"])
	}
	return text + "\n", nil
}

// parse reads arguments in the form --name value. The flags are names of arguments, with ! for those without a value.
func parse(words []string, flags string) (arguments, error) {
	a := arguments{}
	allowed := strings.Fields(flags + " query output")
	for i := 0; i < len(words); i++ {
		name, is := strings.CutPrefix(words[i], "--")
		switch {
		case is && slices.Contains(allowed, name+"!"):
			a[name] = "true"
		case is && slices.Contains(allowed, name) && i+1 < len(words) && words[i+1] != "":
			i++
			a[name] = words[i]
		default:
			return nil, fmt.Errorf("the played CLI does not know the argument %q, or it has no value", words[i])
		}
	}
	return a, nil
}

// sendFlat sends a request and returns the resource as the CLI shows it: with its properties beside the name.
func (s *Shell) sendFlat(method, path, version string) (map[string]any, error) {
	out, err := s.send(method, path, version, nil)
	if err != nil {
		return nil, err
	}
	properties, _ := out["properties"].(map[string]any)
	return properties, nil
}

// createApplication creates an application with a secret and a service principal, and assigns a role to it.
func createApplication(s *Shell, a arguments) (any, error) {
	application, err := s.sendGraph("POST", "applications", map[string]any{"displayName": a["name"]})
	if err != nil {
		return nil, err
	}
	password, err := s.sendGraph("POST", "applications/"+fmt.Sprint(application["id"])+"/addPassword", map[string]any{"passwordCredential": map[string]any{"displayName": "rbac"}})
	if err != nil {
		return nil, err
	}
	principal, err := s.sendGraph("POST", "servicePrincipals", map[string]any{"appId": application["appId"], "accountEnabled": true})
	if err != nil {
		return nil, err
	}
	_, err = assignRole(s, arguments{"role": a["role"], "scope": a["scopes"], "assignee-object-id": fmt.Sprint(principal["id"]),
		"assignee-principal-type": "ServicePrincipal"})
	return map[string]any{"appId": application["appId"], "password": password["secretText"], "tenant": server.DefaultTenant}, err
}

// sendGraph sends a request to Microsoft Graph and returns the answer.
func (s *Shell) sendGraph(method, path string, body map[string]any) (map[string]any, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.ClientID}, "client_secret": {s.Secret}, "scope": {"https://graph.microsoft.com/.default"}}
	request := httptest.NewRequest("POST", "https://login.microsoftonline.com/"+server.DefaultTenant+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signedIn, err := s.answer(request)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request = httptest.NewRequest(method, "https://graph.microsoft.com/v1.0/"+path, bytes.NewReader(raw))
	request.Header.Set("Authorization", "Bearer "+fmt.Sprint(signedIn["access_token"]))
	return s.answer(request)
}

// answer lets the simulator answer a request.
func (s *Shell) answer(request *http.Request) (out map[string]any, err error) {
	recorder := httptest.NewRecorder()
	s.Azure.Handler().ServeHTTP(recorder, request)
	if recorder.Code >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %d %s", request.Method, request.URL.Path, recorder.Code, recorder.Body.String())
	}
	if recorder.Body.Len() > 0 {
		err = json.Unmarshal(recorder.Body.Bytes(), &out)
	}
	return out, err
}

// send sends a request to Azure, waits for the end of its operation and returns the answer.
func (s *Shell) send(method, path, version string, body map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request := httptest.NewRequest(method, "https://management.azure.com"+path+"?api-version="+version, bytes.NewReader(raw))
	request.Header.Set("Authorization", "Bearer "+s.Azure.Token(s.ClientID))
	request.Header.Set("Content-Type", "application/json")
	out, err := s.answer(request)
	s.Azure.Settle()
	return out, err
}
