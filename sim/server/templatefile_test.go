package server_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// templateFile is a file as users write one: with comments, a text over several lines and a comma too many.
const templateFile = `{
  // The schema of deployments to a resource group.
  "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
  "contentVersion": "1.0.0.0",
  /* What may differ
     from one deployment to another. */
  "parameters": {"name": {"type": "string", "defaultValue": "net"}},
  "resources": [
    {
      "type": "Microsoft.Network/virtualNetworks",
      "apiVersion": "2024-05-01",
      "name": "[
        parameters('name')
      ]",
      "location": "westus3",
      "tags": {"it's": "http://example.com/a//b"},
      "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}},
    }
  ]
}`

// fromFile returns the body that the Azure CLI sends for --template-file: it writes the rest of the deployment as
// JSON, cuts off the last two braces, and appends the file with a key that has no quotes.
// https://github.com/Azure/azure-cli/issues/32357
func fromFile(t *testing.T, file string, properties obj) string {
	t.Helper()
	partial, err := json.Marshal(obj{"properties": properties})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(partial), "}}") + ", template:" + file + "}}"
}

// TestTemplateFile sends the bodies that the Azure CLI sends for "az deployment group validate|what-if|create
// --template-file".
func TestTemplateFile(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	const at, vnet = deployments + "file", net + "/virtualNetworks/net"
	content := fromFile(t, templateFile, obj{"mode": "Incremental", "parameters": obj{}})
	whatIf := func(content, wantKind string) response {
		t.Helper()
		r := a.sendRequest("POST", at+"/whatIf"+deployedWith, content)
		if r.status != 200 || r.valueAt("status") != "Succeeded" || r.valueAt("properties.changes.0.changeType") != wantKind ||
			r.valueAt("properties.changes.0.resourceId") != vnet {
			t.Errorf("what-if = %d %v, want %s of %s", r.status, r.body, wantKind, vnet)
		}
		return r
	}
	if r := a.sendRequest("POST", at+"/validate"+deployedWith, content); r.status != 200 ||
		r.valueAt("properties.validatedResources.0.id") != vnet {
		t.Errorf("validate = %d %v", r.status, r.body)
	}
	whatIf(content, "Create")
	if r := a.sendRequest("PUT", at+deployedWith, content); r.status != 201 {
		t.Fatalf("create = %d %v", r.status, r.body)
	}
	a.sim.Settle()
	if r := a.sendRequest("GET", vnet, nil); r.status != 200 || r.valueAt("tags.it's") != "http://example.com/a//b" {
		t.Errorf("the network = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("GET", at+deployedWith, nil); r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("the deployment = %v", r.body)
	}
	whatIf(content, "NoChange")
	larger := strings.ReplaceAll(content, `["10.0.0.0/16"]`, `["10.0.0.0/16", "10.1.0.0/16"]`)
	r := whatIf(larger, "Modify")
	if r.valueAt("properties.changes.0.delta.0.path") != "properties.addressSpace.addressPrefixes" ||
		r.valueAt("properties.changes.0.delta.0.propertyChangeType") != "Modify" {
		t.Errorf("what differs = %v", r.valueAt("properties.changes.0.delta"))
	}
	other := strings.ReplaceAll(content, `"defaultValue": "net"`, `"defaultValue": "another"`)
	if r := a.sendRequest("POST", at+"/whatIf"+deployedWith, other); r.valueAt("properties.changes.0.changeType") != "Create" ||
		r.valueAt("properties.changes.1.changeType") != "Ignore" || r.valueAt("properties.changes.1.resourceId") != vnet {
		t.Errorf("what-if of another network = %v", r.body)
	}
	ids := fromFile(t, templateFile, obj{"mode": "Incremental", "parameters": obj{}, "whatIfSettings": obj{"resultFormat": "ResourceIdOnly"}})
	if r := whatIf(ids, "NoChange"); r.valueAt("properties.changes.0.before") != nil {
		t.Errorf("more than IDs: %v", r.body)
	}
}

// TestNoTemplate checks that a body is refused if even the lenient parser cannot read it, and that lenient JSON is
// refused where no template is sent.
func TestNoTemplate(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	for name, test := range map[string]struct{ reason, path, content string }{
		"unfinished":      {"a brace is missing", deployments + "x" + deployedWith, `{"properties":{template:{}`},
		"unfinished text": {"a quote is missing", deployments + "x" + deployedWith, `{"properties":{"mode":"Incremental`},
		"open comment":    {"its end is missing", deployments + "x" + deployedWith, `{"properties":{} /* }`},
		"no value":        {"a name stands alone", deployments + "x" + deployedWith, `{"properties":{template}}`},
		"another type":    {"only templates are files of users", net + "/virtualNetworks/net", `{location:"westus3"}`},
	} {
		if r := a.sendRequest("PUT", test.path, test.content); r.status != 400 || r.errorCode() != "InvalidRequestContent" {
			t.Errorf("%s: %s: %d %v", name, test.reason, r.status, r.body)
		}
	}
}
