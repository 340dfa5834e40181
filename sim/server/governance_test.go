package server_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

const subscription = "/subscriptions/" + sub

// Features are registered by a POST, and count from then on.
func TestFeatures(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.FeaturesOff = []string{"Microsoft.Compute/EncryptionAtHost"} })
	a.createMachine()
	const feature = subscription + "/providers/Microsoft.Features/providers/Microsoft.Compute/features/EncryptionAtHost"
	encrypted := func() response {
		return a.sendRequest("PUT", comp+"/virtualMachines/vm0", newVM("nic0", func(p obj) { p["securityProfile"] = obj{"encryptionAtHost": true} }))
	}
	if got := a.sendRequest("GET", feature+"?api-version=2021-07-01", nil); got.valueAt("properties.state") != "Unregistered" {
		t.Errorf("the feature is %v", got.body)
	}
	if got := encrypted(); !strings.Contains(got.errorMessage(), "feature is not enabled") {
		t.Errorf("a machine with the feature: %d %s", got.status, got.errorMessage())
	}
	if got := a.sendRequest("POST", feature+"/register?api-version=2021-07-01", nil); got.valueAt("properties.state") != "Registered" {
		t.Errorf("registered: %d %v", got.status, got.body)
	}
	if got := encrypted(); strings.Contains(got.errorMessage(), "feature is not enabled") {
		t.Errorf("a machine with the registered feature: %d %s", got.status, got.errorMessage())
	}
	for path, want := range map[string]int{"providers/Microsoft.Compute/features": 200, "features": 200, "providers/Microsoft.Compute/features/None": 404} {
		got := a.sendRequest("GET", subscription+"/providers/Microsoft.Features/"+path+"?api-version=2021-07-01", nil)
		if list, _ := got.valueAt("value").([]any); got.status != want || want == 200 && len(list) < 3 {
			t.Errorf("%s = %d %v", path, got.status, got.body)
		}
	}
}

// Policies are stored and checked at any scope.
func TestPolicies(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const assignment, definition = groupA + "/providers/Microsoft.Authorization/policyAssignments/tags", subscription + "/providers/Microsoft.Authorization/policyDefinitions/own"
	assign := func(id string) obj { return obj{"properties": obj{"policyDefinitionId": id}} }
	if got := a.sendRequest("PUT", assignment, assign(definition)); got.errorCode() != "PolicyDefinitionNotFound" {
		t.Errorf("an assignment of a missing definition: %d %s", got.status, got.errorCode())
	}
	if got := a.sendRequest("PUT", assignment, obj{"properties": obj{}}); got.status != 400 {
		t.Errorf("an assignment of nothing: %d", got.status)
	}
	rule := obj{"properties": obj{"policyRule": obj{"if": obj{"field": "type", "equals": "x"}, "then": obj{"effect": "audit"}}}}
	for path, content := range map[string]obj{definition: rule,
		subscription + "/providers/Microsoft.Authorization/policySetDefinitions/set": {"properties": obj{"policyDefinitions": []any{obj{"policyDefinitionId": definition}}}}} {
		if got := a.sendRequest("PUT", path, content); got.status != 201 || got.valueAt("properties.policyType") != "Custom" {
			t.Errorf("PUT %s = %d %v", path, got.status, got.body)
		}
	}
	if got := a.sendRequest("PUT", assignment, assign(definition)); got.status != 201 || got.valueAt("properties.enforcementMode") != "Default" ||
		got.valueAt("properties.scope") != groupA {
		t.Errorf("the assignment is %d %v", got.status, got.body)
	}
	if got := a.sendRequest("GET", groupA+"/providers/Microsoft.Authorization/policyAssignments", nil); len(got.valueAt("value").([]any)) != 1 {
		t.Errorf("the group has %v", got.body)
	}
	if got := a.sendRequest("DELETE", assignment, nil); got.status != 200 {
		t.Errorf("DELETE = %d", got.status)
	}
}

// The activity log has each write with its caller and outcome, and the end of its operation.
func TestActivityLog(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.sendRequest("DELETE", net+"/virtualNetworks/vnet/subnets/none", nil)
	a.sendRequest("PUT", net+"/publicIPAddresses/bad", obj{"location": "westus3", "properties": obj{"publicIPAllocationMethod": "Never"}})
	values := func(filter string) response {
		return a.sendRequest("GET", subscription+"/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01&$filter="+url.QueryEscape(filter), nil)
	}
	if got := values("resourceGroupName eq 'rg'"); got.status != 400 {
		t.Errorf("without a start time: %d, want 400", got.status)
	}
	since := "eventTimestamp ge '2000-01-01T00:00:00Z'"
	seen := map[string]bool{}
	list, _ := values(since + " and resourceGroupName eq 'rg'").valueAt("value").([]any)
	for _, event := range list {
		_, name, _ := strings.Cut(valueAt(event, "resourceId").(string), "/Microsoft.Network/")
		seen[name+" "+valueAt(event, "operationName.value").(string)+" "+valueAt(event, "status.value").(string)] = true
		if valueAt(event, "caller") == "" || valueAt(event, "resourceGroupName") != "rg" {
			t.Errorf("the event has no caller or is of another group: %v", event)
		}
	}
	for _, want := range []string{"virtualNetworks/vnet Microsoft.Network/virtualNetworks/write Accepted",
		"virtualNetworks/vnet Microsoft.Network/virtualNetworks/write Succeeded", "publicIPAddresses/bad Microsoft.Network/publicIPAddresses/write Failed"} {
		if !seen[want] {
			t.Errorf("there is no event %q in %v", want, seen)
		}
	}
	if list, _ := values(since + " and resourceUri eq '" + net + "/virtualNetworks/vnet'").valueAt("value").([]any); len(list) != 2 {
		t.Errorf("the network has %d events, want 2", len(list))
	}
	later := time.Now().Add(1000 * 24 * time.Hour).Format(time.RFC3339)
	if list, _ := values("eventTimestamp ge '" + later + "'").valueAt("value").([]any); len(list) != 0 {
		t.Errorf("%d events of the future", len(list))
	}
}

// Resource Graph answers queries over all resources.
func TestResourceGraph(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPAddresses/ip", obj{"location": "westus3", "sku": obj{"name": "Standard"}, "tags": obj{"team": "blue", "a.b": "c"},
		"properties": obj{"publicIPAllocationMethod": "Static"}})
	a.mustSucceed("PUT", net+"/publicIPAddresses/jp", obj{"location": "westus3", "sku": obj{"name": "Standard"},
		"properties": obj{"publicIPAllocationMethod": "Static"}})
	ask := func(query string, options obj) response {
		return a.sendRequest("POST", "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01",
			obj{"subscriptions": []any{sub}, "query": query, "options": options})
	}
	for name, c := range map[string]struct {
		reason, query string
		path          string
		want          any
	}{
		"type":     {"types are in lower case", "Resources | where type =~ 'Microsoft.Network/publicIPAddresses' | count", "data.0.Count", 2.0},
		"tag":      {"tags by name", "Resources | where type == 'microsoft.network/publicipaddresses' and tags['team'] == 'blue' | project name", "data.0.name", "ip"},
		"dots":     {"a tag with a dot", "Resources | where tags['a.b'] == 'c' | project n = name", "data.0.n", "ip"},
		"order":    {"descending unless asked otherwise", "Resources | where type has 'publicip' | order by name | project name", "data.0.name", "jp"},
		"property": {"properties by path", "Resources | where type has 'publicip' | where properties.publicIPAllocationMethod =~ 'static' | summarize n = count() by resourceGroup", "data.0.n", 2.0},
		"groups":   {"another table", "resourcecontainers | where type == 'microsoft.resources/subscriptions/resourcegroups' | project name", "data.0.name", "rg"},
		"none":     {"of a region without resources", "Resources | where location == 'mars' | count", "data.0.Count", 0.0},
	} {
		if got := ask(c.query, nil); got.status != 200 || got.valueAt(c.path) != c.want {
			t.Errorf("%s: %s: %d %v, want %v", name, c.reason, got.status, got.body, c.want)
		}
	}
	first := ask("Resources | where type has 'publicip' | order by name asc | project name", obj{"$top": 1})
	second := ask("Resources | where type has 'publicip' | order by name asc | project name", obj{"$top": 1, "$skipToken": first.body["$skipToken"]})
	if first.valueAt("data.0.name") != "ip" || second.valueAt("data.0.name") != "jp" || second.body["$skipToken"] != nil {
		t.Errorf("pages: %v and %v", first.body, second.body)
	}
	if got := ask("Resources | join kind=inner (Resources) on id", nil); got.status != 400 {
		t.Errorf("an operator that is not served: %d, want 400", got.status)
	}
}

// IP groups have addresses, prefixes and ranges.
func TestIPGroups(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	group := func(addresses ...any) obj {
		return obj{"location": "westus3", "properties": obj{"ipAddresses": addresses}}
	}
	if got := a.mustSucceed("PUT", net+"/ipGroups/offices", group("10.0.0.0/8", "192.0.2.1", "192.0.2.5-192.0.2.9")); got.status != 201 {
		t.Errorf("PUT = %d", got.status)
	}
	if got := a.sendRequest("PUT", net+"/ipGroups/offices", group("ten")); got.status != 400 {
		t.Errorf("a word as address: %d", got.status)
	}
	if got := a.sendRequest("GET", net+"/ipGroups/offices", nil); got.valueAt("properties.provisioningState") != "Succeeded" ||
		got.valueAt("properties.ipAddresses.2") != "192.0.2.5-192.0.2.9" {
		t.Errorf("the group is %v", got.body)
	}
}

// Services and address locations of a service gateway are changed by POSTs.
func TestServiceGateways(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const gateway = net + "/serviceGateways/gateway"
	const v = "?api-version=2025-07-01"
	if got := a.sendRequest("PUT", gateway+v, obj{"location": "westus3", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/none")}}); got.status != 400 {
		t.Errorf("a missing network: %d", got.status)
	}
	a.mustSucceed("PUT", gateway+v, obj{"location": "westus3", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/vnet")}})
	post := func(action string, content obj) {
		t.Helper()
		if got := a.sendRequest("POST", gateway+"/"+action+v, content); got.status != 202 || got.header.Get("Location") == "" {
			t.Fatalf("%s = %d %s", action, got.status, got.errorMessage())
		}
		a.sim.Settle()
	}
	service := func(name string, remove bool) obj {
		return obj{"service": obj{"name": name, "properties": obj{"serviceType": "Inbound"}}, "isDelete": remove}
	}
	names := func(read, key string) string {
		var out []string
		list, _ := a.sendRequest("GET", gateway+"/"+read+v, nil).valueAt("value").([]any)
		for _, o := range list {
			out = append(out, valueAt(o, key).(string))
		}
		return strings.Join(out, " ")
	}
	post("updateServices", obj{"action": "FullUpdate", "serviceRequests": []any{service("a", false), service("b", false)}})
	post("updateServices", obj{"action": "PartialUpdate", "serviceRequests": []any{service("a", true), service("c", false)}})
	if got := names("services", "name"); got != "b c" {
		t.Errorf("services %q, want b and c", got)
	}
	location := func(at, action, address string) obj {
		return obj{"addressLocation": at, "addressUpdateAction": action, "addresses": []any{obj{"address": address, "services": []any{"b"}}}}
	}
	post("updateAddressLocations", obj{"action": "FullUpdate", "addressLocations": []any{location("10.1.0.4", "FullUpdate", "10.2.0.1")}})
	post("updateAddressLocations", obj{"action": "PartialUpdate",
		"addressLocations": []any{location("10.1.0.4", "PartialUpdate", "10.2.0.2"), location("10.1.0.5", "FullUpdate", "10.2.0.3")}})
	if got := names("addressLocations", "addressLocation"); got != "10.1.0.4 10.1.0.5" {
		t.Errorf("locations %q", got)
	}
	if got := a.sendRequest("GET", gateway+"/addressLocations"+v, nil); got.valueAt("value.0.addresses.1.address") != "10.2.0.2" {
		t.Errorf("the first location has %v, want the added address", got.body)
	}
	post("updateServices", obj{"action": "FullUpdate", "serviceRequests": []any{}})
	if got := names("services", "name"); got != "" {
		t.Errorf("services %q after a full update with none", got)
	}
}
