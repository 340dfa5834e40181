package server_test

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// createResources makes resources, up to n, in groups of 100 as clusters have them: a network with two subnets, security groups, disks, public addresses
// and, as most of them, interfaces.
func (a *azure) createResources(from, n int) {
	a.t.Helper()
	for i := from; i < n; i++ {
		group := fmt.Sprintf("/subscriptions/%s/resourceGroups/rg-%03d", sub, i/100)
		network := group + "/providers/Microsoft.Network/"
		name := fmt.Sprintf("%05d", i)
		var r response
		switch k := i % 100; {
		case k == 0:
			r = a.sendRequest("PUT", group, obj{"location": "westus3", "tags": obj{"owner": "large"}})
		case k == 1:
			r = a.sendRequest("PUT", network+"virtualNetworks/vnet",
				obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}},
					"subnets": []any{obj{"name": "a", "properties": obj{"addressPrefix": "10.0.0.0/16"}},
						obj{"name": "b", "properties": obj{"addressPrefix": "10.1.0.0/16"}}}}})
			a.sim.Settle()
		case k < 10:
			r = a.sendRequest("PUT", network+"networkSecurityGroups/nsg-"+name,
				obj{"location": "westus3", "properties": obj{"securityRules": []any{obj{"name": "ssh", "properties": obj{
					"protocol": "Tcp", "sourcePortRange": "*", "destinationPortRange": "22", "sourceAddressPrefix": "*", "destinationAddressPrefix": "*",
					"access": "Allow", "priority": 100, "direction": "Inbound"}}}}})
		case k < 30:
			r = a.sendRequest("PUT", network+"publicIPAddresses/ip-"+name,
				obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"publicIPAllocationMethod": "Static"}})
		case k < 50:
			r = a.sendRequest("PUT", group+"/providers/Microsoft.Compute/disks/disk-"+name+"?api-version=2024-03-02",
				obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 128}})
		default:
			r = a.sendRequest("PUT", network+"networkInterfaces/nic-"+name,
				obj{"location": "westus3", "tags": obj{"cluster": "large"},
					"properties": obj{"ipConfigurations": []any{obj{"name": "first", "properties": obj{
						"subnet": obj{"id": network + "virtualNetworks/vnet/subnets/a"}}}}}})
		}
		if r.status > 299 {
			a.t.Fatalf("resource %d: %d %v", i, r.status, r.body)
		}
		if i%100 == 99 {
			a.sim.Settle()
		}
	}
	if got := len(a.sim.State()); got < n {
		a.t.Fatalf("there are %d resources, want %d", got, n)
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTenThousandResources bounds the memory of a simulator with 10,000 resources, including the operations and the
// request records of their creation. It compares the cost of a page of 100 there with its cost among 1,000 resources.
func TestTenThousandResources(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.PageSize = 100 })
	before := heapBytes()
	a.createResources(0, 1000)
	lists := map[string]string{
		"groups":               "/subscriptions/" + sub + "/resourcegroups?$top=5",
		"of a type":            "/subscriptions/" + sub + "/providers/Microsoft.Network/networkInterfaces",
		"of everything":        "/subscriptions/" + sub + "/resources?$expand=provisioningState",
		"of a type, generally": "/subscriptions/" + sub + "/resources?$filter=resourceType%20eq%20'Microsoft.Network/networkInterfaces'",
	}
	few := map[string]float64{}
	for name, path := range lists {
		few[name] = a.costOfPage(path)
	}
	a.createResources(1000, 10000)
	grown := heapBytes() - before
	t.Logf("heap: %d MB more than empty", grown>>20)
	if limit := int64(150 << 20); grown > limit {
		t.Errorf("10,000 resources take %d MB, want at most %d MB", grown>>20, limit>>20)
	}
	for name, path := range lists {
		many := a.costOfPage(path)
		t.Logf("a page %s: %.0f bytes among 1,000 resources, %.0f among 10,000", name, few[name], many)
		if many > 1.5*few[name] {
			t.Errorf("a page %s allocates %.0f bytes among 1,000 resources and %.0f among 10,000", name, few[name], many)
		}
	}
}

// costOfPage returns the mean of several measurements of the memory allocated to answer the first page of a list,
// without its transport.
func (a *azure) costOfPage(path string) float64 {
	const times = 20
	answer := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		q := r.URL.Query()
		q.Set("api-version", "2024-05-01")
		r.URL.RawQuery = q.Encode()
		r.Header.Set("Authorization", "Bearer "+a.token)
		w := httptest.NewRecorder()
		a.sim.Handler().ServeHTTP(w, r)
		return w
	}
	if w := answer(); w.Code != 200 || !strings.Contains(w.Body.String(), "nextLink") {
		a.t.Fatalf("%s: %d %.200s", path, w.Code, w.Body.String())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		answer()
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / times
}

// TestListsWhileTheyChange checks that a page continues behind the last resource of the page before, even if the
// resources of that page have been deleted since.
func TestListsWhileTheyChange(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.PageSize = 3 })
	group := func(name string) string { return "/subscriptions/" + sub + "/resourceGroups/" + name }
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		a.mustSucceed("PUT", group(name), obj{"location": "westus3"})
	}
	first := a.sendRequest("GET", "/subscriptions/"+sub+"/resourcegroups", nil)
	a.mustSucceed("DELETE", group("a"), nil)
	a.mustSucceed("DELETE", group("c"), nil)
	a.mustSucceed("PUT", group("bb"), obj{"location": "westus3"})
	var rest []string
	for next, _ := first.valueAt("nextLink").(string); next != ""; {
		page := a.sendRequest("GET", next, nil)
		for _, g := range page.body["value"].([]any) {
			rest = append(rest, valueAt(g, "name").(string))
		}
		next, _ = page.valueAt("nextLink").(string)
	}
	if diff := cmp.Diff([]string{"d", "e", "f", "g"}, rest); diff != "" {
		t.Errorf("what follows a, b, c (-want +got):\n%s", diff)
	}
}
