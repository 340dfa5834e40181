package server_test

import (
	"strings"
	"testing"
)

// A body that Azure's definitions do not allow in the request's version is refused with the message of its provider,
// and no resource is created or changed.
func TestDefinitions(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	vnet := func(change obj) obj {
		properties := obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}
		for key, value := range change {
			properties[key] = value
		}
		return obj{"location": "westus3", "properties": properties}
	}
	pool := func(key string, value any) obj {
		properties := obj{"count": 1, "vmSize": "Standard_D2s_v3", "mode": "System"}
		properties[key] = value
		return properties
	}
	aks := func(key string, value any) obj {
		p := pool(key, value)
		p["name"] = "pool0"
		return obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"},
			"properties": obj{"dnsPrefix": "d", "agentPoolProfiles": []any{p}}}
	}
	const cluster = groupA + "/providers/Microsoft.ContainerService/managedClusters/c"
	disk := func(properties obj) obj { return obj{"location": "westus3", "properties": properties} }
	tests := map[string]struct {
		reason, path, version string
		body                  obj
		code, message         string
	}{
		"envelope": {"Resource Manager reads the envelope itself", net + "/virtualNetworks/new", "2025-05-01",
			obj{"location": "westus3", "banana": 1, "properties": obj{}}, "InvalidRequestContent",
			"member 'banana' on object of type 'ResourceDefinition'"},
		"network": {"a misspelt property has no effect", net + "/virtualNetworks/new", "2025-05-01", vnet(obj{"banana": 1}),
			"InvalidRequestFormat", "'properties.banana'"},
		"network, nested": {"parts are read as strictly", net + "/virtualNetworks/new", "2025-05-01",
			vnet(obj{"dhcpOptions": obj{"servers": []any{}}}), "InvalidRequestFormat", "'properties.dhcpOptions.servers'"},
		"network, type": {"a list is no text", net + "/virtualNetworks/new", "2025-05-01",
			vnet(obj{"addressSpace": obj{"addressPrefixes": "10.0.0.0/8"}}), "InvalidRequestFormat", "'string' to type 'array'"},
		"child": {"a child in the document of its parent has a definition of its own", net + "/virtualNetworks/vnet/subnets/new", "2025-05-01",
			obj{"properties": obj{"addressPrefix": "10.7.0.0/24", "banana": true}}, "InvalidRequestFormat", "'properties.banana'"},
		"existing": {"updates are read as strictly", net + "/virtualNetworks/vnet", "2025-05-01", vnet(obj{"banana": 1}),
			"InvalidRequestFormat", "'properties.banana'"},
		"compute": {"Compute names the member", comp + "/disks/new", "2025-01-02",
			obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Empty"}, "sizeGB": 8}}, "BadRequest",
			"member 'sizeGB'"},
		"network, value": {"only these values exist", net + "/publicIPAddresses/new", "2025-05-01",
			obj{"location": "westus3", "properties": obj{"dnsSettings": obj{"domainNameLabelScope": "Maybe"}}}, "InvalidRequestFormat",
			"Error converting value"},
		"network, missing": {"the required property is missing", net + "/virtualNetworks/new", "2025-05-01", vnet(obj{"bgpCommunities": obj{}}),
			"InvalidRequestFormat", "Required property 'virtualNetworkCommunity' not found in JSON. Path 'properties.bgpCommunities'"},
		"compute, value": {"only these values exist", comp + "/disks/new", "2025-01-02",
			disk(obj{"diskSizeGB": 8, "networkAccessPolicy": "AllowAll", "osType": "BeOS", "creationData": obj{"createOption": "Empty"}}),
			"InvalidParameter", "'osType' is not allowed. Allowed values are: Windows, Linux."},
		"AKS, range": {"bounds hold", cluster, "2025-10-01", aks("kubeletConfig", obj{"containerLogMaxFiles": 1}), "InvalidParameter",
			"must be at least 2"},
		"AKS, pattern": {"text has a form", cluster, "2025-10-01",
			obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"},
				"properties": obj{"dnsPrefix": "d", "agentPoolProfiles": []any{obj{"name": "pool0", "count": 1, "mode": "System"}},
					"linuxProfile": obj{"adminUsername": "0x", "ssh": obj{"publicKeys": []any{obj{"keyData": "ssh-ed25519 x"}}}}}}, "InvalidParameter",
			"does not match the pattern"},
		"AKS, missing": {"parts have their required properties", cluster, "2025-10-01",
			obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"},
				"properties": obj{"dnsPrefix": "d", "agentPoolProfiles": []any{obj{"name": "pool0", "count": 1, "mode": "System"}},
					"addonProfiles": obj{"azurepolicy": obj{}}}}, "InvalidParameter", "'addonProfiles.azurepolicy.enabled' is missing"},
		"AKS": {"AKS is written in Go", cluster, "2025-10-01", aks("banana", 1), "UnmarshalError", `unknown field "banana"`},
		"AKS, type": {"AKS is written in Go", cluster, "2025-10-01", aks("count", "3"), "UnmarshalError",
			"cannot unmarshal string into Go struct field"},
		"AKS, only preview": {"a property belongs to versions", cluster, "2025-10-01", aks("nodeInitializationTaints", []any{"a=b:NoSchedule"}),
			"UnmarshalError", "nodeInitializationTaints"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := len(a.sim.State())
			was := a.sendRequest("GET", test.path, nil)
			got := a.sendRequest("PUT", test.path+"?api-version="+test.version, test.body)
			code, _, _ := strings.Cut(got.errorCode(), "/")
			message := got.errorMessage()
			if bare, ok := got.valueAt("code").(string); ok {
				// AKS does not wrap its errors.
				code, message = bare, got.valueAt("message").(string)
			}
			if inner, ok := got.valueAt("error.details").([]any); ok && len(inner) > 0 {
				message, _ = inner[0].(obj)["message"].(string)
			}
			if got.status != 400 || code != test.code || !strings.Contains(message, test.message) {
				t.Errorf("%s: %d %s %q, want 400 %s with %q", test.reason, got.status, code, message, test.code, test.message)
			}
			if now := a.sendRequest("GET", test.path, nil); len(a.sim.State()) != before || now.status != was.status ||
				now.valueAt("etag") != was.valueAt("etag") {
				t.Errorf("a refused request changed something")
			}
		})
	}
	taints := []any{"a=b:NoSchedule"}
	if got := a.sendRequest("PUT", cluster+"?api-version=2025-10-02-preview", aks("nodeInitializationTaints", taints)); got.status != 201 {
		t.Fatalf("the preview has the property: %d %s", got.status, got.errorMessage())
	}
	const first = "properties.agentPoolProfiles.0."
	for version, want := range map[string]bool{"2025-10-02-preview": true, "2025-10-01": false} {
		got := a.sendRequest("GET", cluster+"?api-version="+version, nil)
		list := a.sendRequest("GET", cluster[:strings.LastIndexByte(cluster, '/')]+"?api-version="+version, nil)
		for read, path := range map[string]string{"read": first, "list": "value.0." + first} {
			from := map[string]response{"read": got, "list": list}[read]
			if shown := from.valueAt(path+"nodeInitializationTaints") != nil; shown != want || from.valueAt(path+"name") != "pool0" {
				t.Errorf("%s of %s: the taints are shown: %v, want %v", read, version, shown, want)
			}
		}
	}
}
