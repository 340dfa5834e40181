package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	deployments  = groupA + "/providers/Microsoft.Resources/deployments/"
	deployedWith = "?api-version=2021-04-01"
)

// sentDeployment returns the deployment that a command of the Azure CLI sent.
func sentDeployment(t *testing.T, name string) (command string, content obj) {
	t.Helper()
	raw, err := os.ReadFile("testdata/azurecli/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Command string
		Body    obj
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Command, file.Body
}

// TestAzureCLI runs the requests of the Azure CLI against the simulator.
func TestAzureCLI(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	for _, test := range []struct {
		name, output string
		made         []string
	}{
		{"vm", "", []string{"Network/virtualNetworks/vm1VNET", "Network/networkSecurityGroups/vm1NSG", "Network/publicIPAddresses/vm1PublicIP",
			"Network/networkInterfaces/vm1VMNic", "Compute/virtualMachines/vm1"}},
		{"availability-set", "", []string{"Compute/availabilitySets/as"}},
		{"lb", "loadBalancer.value.backendAddressPools.0.name=lbbepool",
			[]string{"Network/publicIPAddresses/PublicIPlb", "Network/loadBalancers/lb"}},
		{"vmss", "vmss.value.orchestrationMode=Uniform",
			[]string{"Network/publicIPAddresses/ssLBPublicIP", "Network/loadBalancers/ssLB", "Compute/virtualMachineScaleSets/ss"}},
		{"vmss-flexible", "vmss.value.orchestrationMode=Flexible",
			[]string{"Network/publicIPAddresses/flexLBPublicIP", "Network/loadBalancers/flexLB", "Network/networkSecurityGroups/flexNSG",
				"Network/loadBalancers/flexLB/inboundNatRules/NatRule", "Compute/virtualMachineScaleSets/flex"}},
		{"vm-identity", "", []string{"Network/networkSecurityGroups/vm2NSG", "Network/publicIPAddresses/vm2PublicIP",
			"Network/networkInterfaces/vm2VMNic", "Authorization/roleAssignments/513e6ce2-aa3c-4d70-a428-41b01879cb96",
			"Compute/virtualMachines/vm2"}},
		{"vm-count", "", []string{"Network/networkSecurityGroups/manyNSG", "Network/publicIPAddresses/manyPublicIP0",
			"Network/publicIPAddresses/manyPublicIP1", "Network/networkInterfaces/manyVMNic0", "Network/networkInterfaces/manyVMNic1",
			"Compute/virtualMachines/many0", "Compute/virtualMachines/many1"}},
		{"vm-windows", "", []string{"Network/networkSecurityGroups/winNSG", "Network/networkInterfaces/winVMNic", "Compute/virtualMachines/win"}},
	} {
		command, content := sentDeployment(t, test.name)
		if r := a.sendRequest("POST", deployments+test.name+"/validate"+deployedWith, content); r.status != 200 ||
			r.valueAt("properties.provisioningState") != "Succeeded" {
			t.Errorf("%s: validate = %d %v", command, r.status, r.body)
		}
		r := a.sendRequest("PUT", deployments+test.name+deployedWith, content)
		if r.status != 201 || r.valueAt("properties.provisioningState") != "Accepted" {
			t.Fatalf("%s: PUT = %d %v", command, r.status, r.body)
		}
		follow := r.header.Get("Azure-AsyncOperation")
		if r := a.sendRequest("GET", follow, nil); r.status != 200 || r.valueAt("status") != "Running" {
			t.Errorf("%s: poll = %d %v", command, r.status, r.body)
		}
		a.sim.Settle()
		if r := a.sendRequest("GET", follow, nil); r.status != 200 || r.valueAt("status") != "Succeeded" {
			t.Fatalf("%s: poll = %d %v", command, r.status, r.body)
		}
		got := a.sendRequest("GET", deployments+test.name+deployedWith, nil)
		made, _ := got.valueAt("properties.outputResources").([]any)
		if got.valueAt("properties.provisioningState") != "Succeeded" || len(made) != len(test.made) {
			t.Errorf("%s: made %v, want %v", command, made, test.made)
		}
		for i, id := range test.made {
			id = groupA + "/providers/Microsoft." + id
			if i >= len(made) || valueAt(made[i], "id") != id {
				t.Errorf("%s: %d. resource is not %s: %v", command, i, id, made)
			}
			if r := a.sendRequest("GET", id, nil); r.status != 200 || valueAt(r.body, "properties.provisioningState") == "Failed" {
				t.Errorf("%s: %s = %d %v", command, id, r.status, r.body)
			}
		}
		if path, want, has := strings.Cut(test.output, "="); has && got.valueAt("properties.outputs."+path) != want {
			t.Errorf("%s: outputs %v, want %s", command, got.valueAt("properties.outputs"), test.output)
		}
		operations := a.sendRequest("GET", deployments+test.name+"/operations"+deployedWith, nil)
		if list, _ := operations.valueAt("value").([]any); len(list) != len(test.made)+1 {
			t.Errorf("%s: operations %v", command, list)
		}
		for _, shown := range []response{got, operations} {
			if raw, _ := json.Marshal(shown.body); strings.Contains(string(raw), "Passw0rd") {
				t.Errorf("%s: the password is shown: %s", command, raw)
			}
		}
	}
	machine := a.sendRequest("GET", comp+"/virtualMachines/vm1?$expand=instanceView&api-version=2022-08-01", nil)
	if machine.valueAt("properties.storageProfile.osDisk.osType") != "Linux" || machine.valueAt("properties.instanceView") == nil {
		t.Errorf("vm1 = %v", machine.body)
	}
	for group, want := range map[string]int{"rg": 1, "other": 0} {
		// az network lb create checks so whether an address exists already.
		found := a.sendRequest("GET",
			"/subscriptions/"+sub+"/resources?%24filter=resourceGroup%20eq%20%27"+group+"%27%20and%20name%20eq%20%27vm1PublicIP%27%20and%20resourceType%20eq%20%27Microsoft.Network/publicIPAddresses%27&api-version=2021-04-01", nil)
		if list, _ := found.valueAt("value").([]any); len(list) != want {
			t.Errorf("resources of %s: %v", group, found.body)
		}
	}
	// The load balancer in a deployment's answer is not a use of its address: az network lb probe create sends the
	// load balancer again.
	lb := a.sendRequest("GET", net+"/loadBalancers/lb", nil)
	if r := a.sendRequest("PUT", net+"/loadBalancers/lb", lb.body); r.status != 200 {
		t.Errorf("PUT of the load balancer that was deployed = %d %v", r.status, r.body)
	}
	pools := a.sendRequest("GET", net+"/loadBalancers/ssLB", nil)
	if end := pools.valueAt("properties.inboundNatPools.0.properties.frontendPortRangeEnd"); end != 50119.0 {
		t.Errorf("frontendPortRangeEnd = %v, which was sent as a string", end)
	}
}

// TestDeploymentOrder checks that independent resources are deployed in parallel, and dependent ones one after the
// other.
func TestDeploymentOrder(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	_, content := sentDeployment(t, "vm")
	a.mustSucceed("PUT", deployments+"d"+deployedWith, content)
	at := map[string]*store.Operation{}
	for _, op := range a.sim.Operations() {
		at[op.Type[strings.LastIndexByte(op.Type, '/')+1:]] = op
	}
	last := at["virtualNetworks"].Ended
	for _, also := range []string{"networkSecurityGroups", "publicIPAddresses"} {
		op := at[also]
		if op == nil {
			t.Fatalf("%s have no operation: %v", also, at)
		}
		if !op.Started.Equal(at["virtualNetworks"].Started) {
			t.Errorf("%s begin %s after the network", also, op.Started.Sub(at["virtualNetworks"].Started))
		}
		if op.Ended.After(last) {
			last = op.Ended
		}
	}
	// The interface takes no time.
	if vm, deployment := at["virtualMachines"], at["deployments"]; !vm.Started.Equal(last) || !deployment.Ended.Equal(vm.Ended) {
		t.Errorf("the machine is created from %s to %s, its prerequisites exist at %s, and the deployment ends at %s", vm.Started, vm.Ended, last,
			deployment.Ended)
	}
}

// TestDeploymentFaults checks the end of deployments with resources that cannot be created.
func TestDeploymentFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		fault  fault.Rule
		code   string // "": it succeeds
		inner  string
		there  int // resources
	}{
		"throttled": {"Resource Manager asks again",
			fault.Rule{Kind: fault.Throttle, Method: "PUT", Type: "Microsoft.Network/networkInterfaces", RetryAfter: 30, Count: 3}, "", "", 5},
		"unavailable": {"it gives up in the end",
			fault.Rule{Kind: fault.Status, Status: 503, Method: "PUT", Type: "Microsoft.Network/networkInterfaces", Count: -1}, "DeploymentFailed",
			"ServiceUnavailable", 3},
		"refused": {"resources that do not depend on it are created",
			fault.Rule{Kind: fault.Status, Status: 400, Code: "InvalidRequestFormat", Method: "PUT", Type: "Microsoft.Network/publicIPAddresses"},
			"DeploymentFailed", "InvalidRequestFormat", 2},
		"failed": {"the operation's error is inside",
			fault.Rule{Kind: fault.Fail, Code: "OSProvisioningTimedOut", Type: "Microsoft.Compute/virtualMachines"}, "DeploymentFailed",
			"ResourceDeploymentFailure", 4},
		"quota": {"providers' own checks count", fault.Rule{Kind: fault.Quota, Method: "PUT", Type: "Microsoft.Compute/virtualMachines"},
			"DeploymentFailed", "OperationNotAllowed", 4},
		"late": {"an existing resource is written once more",
			fault.Rule{Kind: fault.LateError, Method: "PUT", Type: "Microsoft.Network/publicIPAddresses"}, "", "", 5},
		"the deployment": {"it is a resource, too",
			fault.Rule{Kind: fault.Fail, Code: "InternalServerError", Type: "Microsoft.Resources/deployments"}, "InternalServerError", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAzure(t)
			a.createGroup()
			if err := a.sim.AddFault(test.fault); err != nil {
				t.Fatal(err)
			}
			_, content := sentDeployment(t, "vm")
			r := a.mustSucceed("PUT", deployments+"d"+deployedWith, content)
			end := a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil)
			code, _ := end.valueAt("error.code").(string)
			inner, _ := end.valueAt("error.details.0.code").(string)
			if code != test.code || inner != test.inner {
				t.Errorf("%s: ended with %v", test.reason, end.body)
			}
			got := a.sendRequest("GET", deployments+"d"+deployedWith, nil)
			state := map[bool]any{true: "Succeeded", false: "Failed"}[test.code == ""]
			if there, _ := got.valueAt("properties.outputResources").([]any); got.valueAt("properties.provisioningState") != state ||
				len(there) != test.there {
				t.Errorf("%s: %v with %v", test.reason, got.valueAt("properties.provisioningState"), there)
			}
		})
	}
}

// TestDeploymentStuck checks that a deployment waits for a stuck resource and continues with it.
func TestDeploymentStuck(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Stuck, Type: "Microsoft.Network/virtualNetworks"}); err != nil {
		t.Fatal(err)
	}
	_, content := sentDeployment(t, "vm")
	a.mustSucceed("PUT", deployments+"d"+deployedWith, content)
	if r := a.sendRequest("GET", deployments+"d"+deployedWith, nil); r.valueAt("properties.provisioningState") != "Running" {
		t.Errorf("while the network is stuck: %v", r.body)
	}
	for _, method := range []string{"PUT", "DELETE"} {
		if r := a.sendRequest(method, deployments+"d"+deployedWith, content); r.status != 409 || r.errorCode() != "DeploymentActive" {
			t.Errorf("%s of an active deployment = %d %v", method, r.status, r.body)
		}
	}
	a.sim.ClearFaults()
	a.sim.Settle()
	if r := a.sendRequest("GET", deployments+"d"+deployedWith, nil); r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("afterwards: %v", r.body)
	}
	again := a.sendRequest("PUT", deployments+"d"+deployedWith, content)
	if again.status != 200 || again.valueAt("properties.provisioningState") != "Accepted" {
		t.Errorf("again = %d %v", again.status, again.body)
	}
	a.sim.Settle()
	gone := a.sendRequest("DELETE", deployments+"d"+deployedWith, nil)
	a.sim.Settle()
	if r := a.sendRequest("GET", gone.header.Get("Location"), nil); gone.status != 202 || r.status != 204 {
		t.Errorf("DELETE = %d, then %d %v", gone.status, r.status, r.body)
	}
	if r := a.sendRequest("GET", comp+"/virtualMachines/vm1", nil); r.status != 200 {
		t.Errorf("the machine goes with its deployment: %d %v", r.status, r.body)
	}
}

// TestDeploymentRestarts checks that a deployment continues from its last step when the simulator starts again.
func TestDeploymentRestarts(t *testing.T) {
	t.Parallel()
	clock, dir := store.NewVirtual(epoch), t.TempDir()
	with := func(o *server.Options) { o.StateDir, o.Clock = dir, clock }
	a := newAzure(t, with)
	a.createGroup()
	_, content := sentDeployment(t, "vm")
	a.sendRequest("PUT", deployments+"d"+deployedWith, content)
	a.sim.Advance(3 * time.Second)
	if r := a.sendRequest("GET", deployments+"d"+deployedWith, nil); r.valueAt("properties.provisioningState") != "Running" {
		t.Fatalf("after 3 s: %v", r.body)
	}
	dir = copyState(t, dir)
	a = newAzure(t, with)
	a.sim.Settle()
	if r := a.sendRequest("GET", deployments+"d"+deployedWith, nil); r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("after the restart: %v", r.body)
	}
}

// TestDeploymentRoles checks that a resource needs the rights of the deployment's caller.
func TestDeploymentRoles(t *testing.T) {
	t.Parallel()
	const client = "22222222-2222-2222-2222-222222222222"
	a := newAzure(t, func(o *server.Options) {
		o.EnforceRBAC = true
		o.Principals = []server.Principal{{ClientID: server.DefaultClientID, Secret: "s"}, {ClientID: client, Secret: "t"}}
		o.Owners = []string{server.DefaultClientID}
	})
	a.createGroup()
	if err := a.sim.Grant("33333333-3333-3333-3333-333333333333", client, groupA,
		[]string{"Microsoft.Resources/deployments/*", "Microsoft.Network/*"}); err != nil {
		t.Fatal(err)
	}
	a.token = a.sim.Token(client)
	_, content := sentDeployment(t, "vm")
	a.mustSucceed("PUT", deployments+"d"+deployedWith, content)
	r := a.sendRequest("GET", deployments+"d"+deployedWith, nil)
	if message := fmt.Sprint(r.valueAt("properties.error.details.0.message")); r.valueAt(
		"properties.error.details.0.code") != "AuthorizationFailed" || !strings.Contains(message, "Microsoft.Compute/virtualMachines/write") {
		t.Errorf("ended with %v", r.valueAt("properties.error"))
	}
}

// TestDeploymentRefused checks which deployments are refused at once, and that the error names the cause.
func TestDeploymentRefused(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	group := obj{"type": "Microsoft.Network/networkSecurityGroups", "name": "nsg", "apiVersion": "2024-05-01", "location": "westus3",
		"properties": obj{}}
	with := func(change obj) obj {
		o := obj{}
		for k, v := range group {
			o[k] = v
		}
		for k, v := range change {
			o[k] = v
		}
		return o
	}
	deploy := func(template obj, more obj) obj {
		document := obj{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
			"resources": []any{}}
		for k, v := range template {
			document[k] = v
		}
		properties := obj{"mode": "Incremental", "template": document}
		for k, v := range more {
			properties[k] = v
		}
		return obj{"properties": properties}
	}
	only := func(change obj) obj { return deploy(obj{"resources": []any{with(change)}}, nil) }
	for name, test := range map[string]struct {
		reason  string
		content obj
		status  int
		code    string
		message string
	}{
		"function": {"functions that are not served are named", only(obj{"name": "[toUpper('nsg')]"}), 400, "InvalidTemplate",
			"The template function 'toUpper' is not valid"},
		"place": {"names cannot depend on what resources show", only(obj{"name": "[reference('nsg').name]"}), 400, "InvalidTemplate",
			"The template function 'reference' is not expected at this location"},
		"open": {"parentheses are closed", only(obj{"name": "[concat('a']"}), 400, "InvalidTemplate",
			"expected token 'RightParenthesis' and actual 'EndOfData'"},
		"property copy": {"loops of properties are another feature", only(obj{"properties": obj{"copy": []any{}}}), 400, "InvalidTemplate",
			"'copy' of properties"},
		"serial copy": {"loops one after the other are another feature", only(obj{"copy": obj{"name": "c", "count": 2, "mode": "serial"}}),
			400, "InvalidTemplate", "copy mode 'serial'"},
		"segments": {"types and names go together", only(obj{"type": "Microsoft.Network/virtualNetworks/subnets"}), 400, "InvalidTemplate",
			"has incorrect segment lengths"},
		"twice": {"a template has a resource once", deploy(obj{"resources": []any{group, group}}, nil), 400, "InvalidTemplate",
			"is defined multiple times in a template"},
		"unknown": {"dependencies are in the template", only(obj{"dependsOn": []any{"Microsoft.Network/routeTables/rt"}}), 400,
			"InvalidTemplate", "The resource 'Microsoft.Network/routeTables/rt' is not defined in the template"},
		"circle": {"one has to be first",
			deploy(obj{"resources": []any{with(obj{"dependsOn": []any{"b"}}),
				with(obj{"name": "b", "tags": obj{"a": "[reference('nsg').resourceGuid]"}})}}, nil), 400, "InvalidTemplate",
			"Circular dependency detected on resource"},
		"parameter": {"parameters without default are needed", deploy(obj{"parameters": obj{"p": obj{"type": "string"}}}, nil), 400,
			"InvalidTemplate", "The value for the template parameter 'p'"},
		"other parameter": {"others are not taken", deploy(nil, obj{"parameters": obj{"p": obj{"value": "v"}}}), 400, "InvalidTemplate",
			"The template parameters 'p' in the parameters file are not valid"},
		"type": {"types are checked",
			deploy(obj{"parameters": obj{"p": obj{"type": "int"}}}, obj{"parameters": obj{"p": obj{"value": "v"}}}), 400, "InvalidTemplate",
			"Expected 'Integer'. Actual 'String'"},
		"functions": {"elements that are not served are named", deploy(obj{"functions": []any{obj{}}}, nil), 400, "InvalidTemplate",
			"The element 'functions' of templates is not served"},
		"schema": {"other scopes have other schemas",
			deploy(obj{"$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#"}, nil), 400,
			"InvalidTemplate", "$schema"},
		"link": {"nothing is fetched", deploy(nil, obj{"templateLink": obj{"uri": "https://example.com/t.json"}}), 501,
			"NotImplemented", "'templateLink'"},
	} {
		for _, ask := range []struct{ method, path string }{{"PUT", deployments + "d"}, {"POST", deployments + "d/validate"}} {
			r := a.sendRequest(ask.method, ask.path+deployedWith, test.content)
			if r.status != test.status || r.errorCode() != test.code || !strings.Contains(r.errorMessage(), test.message) {
				t.Errorf("%s: %s: %s = %d %v", name, test.reason, ask.method, r.status, r.body)
			}
		}
	}
	if r := a.sendRequest("PUT", "/subscriptions/"+sub+"/providers/Microsoft.Resources/deployments/d"+deployedWith,
		deploy(nil, nil)); r.status != 501 || r.errorCode() != "NotImplemented" {
		t.Errorf("to the subscription = %d %v", r.status, r.body)
	}
	if n := len(a.sim.Operations()); n != 0 {
		t.Errorf("%d operations begun by refused deployments", n)
	}
}
