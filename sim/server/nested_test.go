package server_test

import (
	"strings"
	"testing"
)

// templateOf returns a template with these resources; more are other elements.
func templateOf(more obj, resources ...any) obj {
	out := obj{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
		"resources": append([]any{}, resources...)}
	for key, value := range more {
		out[key] = value
	}
	return out
}

func deployed(mode string, template obj) obj {
	return obj{"properties": obj{"mode": mode, "template": template}}
}

func templateResource(kind, name string, more obj) obj {
	out := obj{"type": "Microsoft." + kind, "name": name, "apiVersion": "2024-05-01", "location": "westus3", "properties": obj{}}
	for key, value := range more {
		out[key] = value
	}
	return out
}

// Mode Complete deletes the resources of the group that the template does not have, in an order in which they can go.
func TestDeploymentComplete(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("node", nil))
	group := templateResource("Network/networkSecurityGroups", "nsg", nil)
	off := templateResource("Network/networkSecurityGroups", "off", obj{"condition": false})
	a.mustSucceed("PUT", net+"/networkSecurityGroups/off", obj{"location": "westus3"})
	content := deployed("Complete", templateOf(nil, group, off))
	predicted := a.sendRequest("POST", deployments+"d/whatIf"+deployedWith, content)
	if !strings.Contains(string(predicted.raw), `"changeType":"Delete"`) {
		t.Errorf("whatIf foretells no deletion: %s", predicted.raw)
	}
	a.mustSucceed("PUT", deployments+"d"+deployedWith, content)
	a.sim.Settle()
	if got := a.sendRequest("GET", deployments+"d"+deployedWith, nil); got.valueAt("properties.provisioningState") != "Succeeded" ||
		got.valueAt("properties.mode") != "Complete" {
		t.Fatalf("the deployment is %v", got.body)
	}
	for path, want := range map[string]int{"networkSecurityGroups/nsg": 200, "networkSecurityGroups/off": 404, "networkInterfaces/nic0": 404,
		"virtualNetworks/vnet": 404} {
		if got := a.sendRequest("GET", net+"/"+path, nil); got.status != want {
			t.Errorf("%s = %d, want %d", path, got.status, want)
		}
	}
	// Without a change nothing else goes.
	a.mustSucceed("PUT", deployments+"again"+deployedWith, deployed("Incremental", templateOf(nil)))
	if got := a.sendRequest("GET", net+"/networkSecurityGroups/nsg", nil); got.status != 200 {
		t.Errorf("mode Incremental deleted a resource: %d", got.status)
	}
}

// A deployment in a template is a deployment of its own, with parameters of the outer template or of its own.
func TestNestedDeployments(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	a.mustSucceed("PUT", "/subscriptions/"+sub+"/resourceGroups/other", obj{"location": "westus3"})
	nested := func(name, scope string, more, template obj) obj {
		properties := obj{"mode": "Incremental", "template": template, "expressionEvaluationOptions": obj{"scope": scope}}
		for key, value := range more {
			properties[key] = value
		}
		return obj{"type": "Microsoft.Resources/deployments", "name": name, "apiVersion": "2021-04-01", "properties": properties}
	}
	named := templateResource("Network/networkSecurityGroups", "[parameters('name')]", nil)
	declared := obj{"name": obj{"type": "string"}}
	inner := nested("inner", "inner", obj{"parameters": obj{"name": obj{"value": "own"}}}, templateOf(obj{"parameters": declared,
		"outputs": obj{"id": obj{"type": "string", "value": "[resourceId('Microsoft.Network/networkSecurityGroups', parameters('name'))]"}}}, named))
	elsewhere := nested("elsewhere", "outer", nil, templateOf(nil, templateResource("Network/networkSecurityGroups", "far", nil)))
	elsewhere["resourceGroup"] = "other"
	outer := templateOf(obj{"parameters": declared,
		"outputs": obj{"inner": obj{"type": "string", "value": "[reference('inner').outputs.id.value]"}}},
		nested("outer", "outer", nil, templateOf(nil, named)), inner, elsewhere)
	content := deployed("Incremental", outer)
	content["properties"].(obj)["parameters"] = obj{"name": obj{"value": "given"}}
	a.mustSucceed("PUT", deployments+"d"+deployedWith, content)
	a.sim.Settle()
	got := a.sendRequest("GET", deployments+"d"+deployedWith, nil)
	if got.valueAt("properties.provisioningState") != "Succeeded" || got.valueAt("properties.outputs.inner.value") != net+"/networkSecurityGroups/own" {
		t.Errorf("the deployment is %v", got.body)
	}
	for path, want := range map[string]int{net + "/networkSecurityGroups/given": 200, net + "/networkSecurityGroups/own": 200,
		"/subscriptions/" + sub + "/resourceGroups/other/providers/Microsoft.Network/networkSecurityGroups/far": 200,
		net + "/networkSecurityGroups/far": 404, deployments + "inner" + deployedWith: 200} {
		if got := a.sendRequest("GET", path, nil); got.status != want {
			t.Errorf("%s = %d, want %d", path, got.status, want)
		}
	}
	failing := deployed("Incremental", templateOf(nil, nested("bad", "outer", nil,
		templateOf(nil, templateResource("Network/publicIPAddresses", "ip", obj{"properties": obj{"publicIPAllocationMethod": "Never"}})))))
	r := a.mustSucceed("PUT", deployments+"failing"+deployedWith, failing)
	a.sim.Settle()
	if end := a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil); end.valueAt("error.code") != "DeploymentFailed" {
		t.Errorf("a nested deployment that fails: %v", end.body)
	}
}

// Resources inside of a resource have its type and name before their own.
func TestChildrenInTemplates(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	network := templateResource("Network/virtualNetworks", "vnet", obj{"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}},
		"resources": []any{obj{"type": "subnets", "name": "inside", "apiVersion": "2024-05-01", "dependsOn": []any{"vnet"},
			"properties": obj{"addressPrefix": "10.1.0.0/24"}}}})
	a.mustSucceed("PUT", deployments+"d"+deployedWith, deployed("Incremental", templateOf(nil, network)))
	a.sim.Settle()
	if got := a.sendRequest("GET", net+"/virtualNetworks/vnet/subnets/inside", nil); got.status != 200 {
		t.Errorf("the subnet is %d", got.status)
	}
}

// Validation has the providers check the resources, in the order of dependencies, and leaves nothing.
func TestPreflight(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	network := templateResource("Network/virtualNetworks", "vnet", obj{"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}})
	subnet := func(prefix string) obj {
		return templateResource("Network/virtualNetworks/subnets", "vnet/s", obj{"dependsOn": []any{"vnet"}, "properties": obj{"addressPrefix": prefix}})
	}
	for name, c := range map[string]struct {
		reason    string
		resources []any
		inner     string
	}{
		"valid":     {"a subnet of a network in the same template", []any{network, subnet("10.1.0.0/24")}, ""},
		"invalid":   {"the subnet is outside of the network", []any{network, subnet("192.168.0.0/24")}, "NetcfgSubnetRangeOutsideVnet"},
		"reference": {"a group that is nowhere", []any{templateResource("Network/virtualNetworks", "lone", obj{"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}, "subnets": []any{obj{"name": "s", "properties": obj{"addressPrefix": "10.1.0.0/24", "networkSecurityGroup": obj{"id": net + "/networkSecurityGroups/none"}}}}}})}, "InvalidResourceReference"},
	} {
		got := a.sendRequest("POST", deployments+"d/validate"+deployedWith, deployed("Incremental", templateOf(nil, c.resources...)))
		code, _ := got.valueAt("error.details.0.code").(string)
		if code != c.inner || (got.status == 200) != (c.inner == "") || c.inner != "" && got.valueAt("error.code") != "InvalidTemplateDeployment" {
			t.Errorf("%s: %s: %d %v, want %q", name, c.reason, got.status, got.body, c.inner)
		}
	}
	for _, path := range []string{"virtualNetworks/vnet", "virtualNetworks/lone"} {
		if got := a.sendRequest("GET", net+"/"+path, nil); got.status != 404 {
			t.Errorf("validation left %s", path)
		}
	}
	if n := len(a.sim.Operations()); n != 0 {
		t.Errorf("validation left %d operations", n)
	}
}
