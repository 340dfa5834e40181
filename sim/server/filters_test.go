package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// namesAt lists the names in an answer, and "" with the error code for a refused list.
func (a *azure) namesAt(path, filter string) (names, code string) {
	a.t.Helper()
	if filter != "" {
		path += "?$filter=" + url.QueryEscape(filter)
	}
	r := a.sendRequest("GET", path, nil)
	list, _ := r.valueAt("value").([]any)
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprint(valueAt(e, "name")))
	}
	slices.Sort(out)
	return strings.Join(out, " "), r.errorCode()
}

func TestFiltersOfResourceLists(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const other = "/subscriptions/" + sub + "/resourceGroups/other"
	a.mustSucceed("PUT", other, obj{"location": "westus3", "tags": obj{"team": "b"}})
	a.mustSucceed("PUT", net+"/routeTables/demo1", obj{"location": "westus3", "tags": obj{"team": "a", "env": "b"}})
	a.mustSucceed("PUT", net+"/routeTables/table", obj{"location": "westus3", "tags": obj{"team": "b"}})
	a.mustSucceed("PUT", net+"/networkSecurityGroups/group", obj{"location": "eastus"})
	a.mustSucceed("PUT", other+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mydemo?api-version=2023-01-31", obj{"location": "westus3"})
	a.mustSucceed("PUT", other+"/providers/Microsoft.OperationalInsights/workspaces/work?api-version=2022-10-01",
		obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"}})
	principal := a.sendRequest("GET", other+"/providers/Microsoft.OperationalInsights/workspaces/work?api-version=2022-10-01", nil).valueAt(
		"identity.principalId")
	const refused = "InvalidFilterInQueryString"
	for filter, want := range map[string]struct{ resources, groups string }{
		"": {"demo1 group mydemo table work", "other rg"},
		"resourceType eq 'Microsoft.Network/routeTables'":                             {"demo1 table", refused},
		"resourceType ne 'Microsoft.Network/routeTables' and location eq 'West US 3'": {"mydemo work", refused},
		"name eq 'it''s'":                                       {"", refused},
		"name ne 'table'":                                       {"demo1 group mydemo work", refused},
		"substringof('demo',name)":                              {"demo1 mydemo", refused},
		"substringof('the', resourceGroup)":                     {"mydemo work", refused},
		"resourceGroup eq 'other' and substringof('demo',name)": {"mydemo", refused},
		"name eq 'table' or name eq 'work'":                     {"table work", refused},
		"name eq 'table' or name eq 'demo1' and tagName eq 'x'": {"table", refused},
		"startswith(tagName,'te')":                              {"demo1 table", "other"},
		"tagName eq 'TEAM' and tagValue eq 'b'":                 {"table", "other"},
		"tagValue eq 'b'":                                       {"demo1 table", "other"},
		fmt.Sprintf("identity/principalId eq '%s'", principal):  {"work", refused},
		"sku eq 'x'":             {refused, refused},
		"startswith(name,'d')":   {refused, refused},
		"name gt 'a'":            {refused, refused},
		"(name eq 'table')":      {refused, refused},
		"name eq 'table' or":     {refused, refused},
		"name eq 'table' xor ''": {refused, refused},
		"name eq table":          {refused, refused},
	} {
		for path, want := range map[string]string{"resources": want.resources, "resourceGroups": want.groups} {
			names, code := a.namesAt("/subscriptions/"+sub+"/"+path, filter)
			if got := names + code; got != want {
				t.Errorf("%s with %q: %q, want %q", path, filter, got, want)
			}
		}
	}
	if names, code := a.namesAt(comp+"/virtualMachines", "name eq 'vm0'"); code != "InvalidParameter" {
		t.Errorf("a filter that machines do not have: %q %s", names, code)
	}
}

func TestFiltersOfRoleAssignments(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const identities = groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
	principals := map[string]any{}
	for _, name := range []string{"one", "two"} {
		a.mustSucceed("PUT", identities+name+"?api-version=2023-01-31", obj{"location": "westus3"})
		principals[name] = a.sendRequest("GET", identities+name+"?api-version=2023-01-31", nil).valueAt("properties.principalId")
	}
	a.mustSucceed("PUT", net+"/routeTables/rt", obj{"location": "westus3"})
	a.mustSucceed("PUT", net+"/routeTables/sibling", obj{"location": "westus3"})
	const subscription, assignments, reader = "/subscriptions/" + sub, "/providers/Microsoft.Authorization/roleAssignments",
		"/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
	for i, at := range []struct{ scope, who string }{{subscription, "one"}, {groupA, "two"}, {net + "/routeTables/rt", "one"},
		{net + "/routeTables/sibling", "two"}} {
		a.mustSucceed("PUT", fmt.Sprintf("%s%s/%d0000000-0000-0000-0000-000000000000?api-version=2022-04-01", at.scope, assignments, i+1),
			obj{"properties": obj{"roleDefinitionId": subscription + reader, "principalId": principals[at.who], "principalType": "ServicePrincipal"}})
	}
	for name, tc := range map[string]struct{ scope, filter, want string }{
		"subscription":           {subscription, "", "1 2 3 4"},
		"subscription alone":     {subscription, "atScope()", "1"},
		"group":                  {groupA, "", "1 2 3 4"},
		"group and above":        {groupA, "atScope()", "1 2"},
		"resource":               {net + "/routeTables/rt", "", "1 2 3"},
		"resource and above":     {net + "/routeTables/rt", "atScope()", "1 2 3"},
		"principal":              {groupA, fmt.Sprintf("principalId eq '%s'", principals["one"]), "1 3"},
		"principal, no quotes":   {groupA, fmt.Sprintf("principalId eq %s", principals["one"]), "1 3"},
		"principal and above":    {groupA, fmt.Sprintf("atScope() and assignedTo('%s')", principals["one"]), "1"},
		"another field":          {groupA, "roleDefinitionId eq 'x'", "UnsupportedQuery"},
		"two conditions, one no": {groupA, "atScope() and name eq 'x'", "UnsupportedQuery"},
	} {
		names, code := a.namesAt(tc.scope+assignments, tc.filter)
		for i := range 4 {
			names = strings.ReplaceAll(names, fmt.Sprintf("%d0000000-0000-0000-0000-000000000000", i+1), fmt.Sprint(i+1))
		}
		if got := names + code; got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
