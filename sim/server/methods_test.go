package server_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// TestMethodsOfResourceManager sends each method to the paths of Resource Manager itself. A client that confuses them has to notice.
func TestMethodsOfResourceManager(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	of := "/subscriptions/" + sub
	poll := a.mustSucceed("PUT", net+"/routeTables/x", obj{"location": "westus3"}).header.Get("Azure-AsyncOperation")
	for path, method := range map[string]string{
		"/subscriptions": "GET", "/tenants": "GET", "/providers": "GET", "/providers/Microsoft.Network": "GET", of: "GET",
		of + "/locations": "GET", of + "/resources": "GET", of + "/tagNames": "GET", of + "/resourcegroups": "GET", of + "/providers": "GET",
		of + "/providers/Microsoft.Network": "GET", of + "/providers/Microsoft.Network/register": "POST",
		of + "/providers/Microsoft.Features/features":                             "GET",
		of + "/providers/Microsoft.Features/providers/Microsoft.Compute/features": "GET",
		of + "/providers/Microsoft.Compute/locations/westus3/usages":              "GET",
		groupA + "/resources": "GET", poll: "GET",
	} {
		for _, each := range []string{"GET", "PUT", "PATCH", "POST", "DELETE"} {
			r := a.sendRequest(each, path, obj{"location": "westus3"})
			if refused := r.status == 405 && r.errorCode() == "MethodNotAllowed"; refused != (each != method) || !refused && r.status >= 400 {
				t.Errorf("%s %s = %d %s", each, path, r.status, r.errorCode())
			}
		}
	}
	r := a.sendRequest("GET", of+"/providers/Microsoft.Compute/locations/mars/usages", nil)
	if r.status != 400 || r.errorCode() != "NoRegisteredProviderFound" || !strings.Contains(r.errorMessage(), "location 'mars'") {
		t.Errorf("usages of a region that does not exist: %d %s", r.status, r.errorMessage())
	}
}

// TestAdvanceOfControlAPI advances clocks. The one of the machine cannot be advanced.
func TestAdvanceOfControlAPI(t *testing.T) {
	virtual, wall := newAzure(t), newAzure(t, func(o *server.Options) { o.Clock = store.Real{} })
	for name, tc := range map[string]struct {
		a    *azure
		by   string
		want int
	}{"virtual": {virtual, "30s", 204}, "backward": {virtual, "-30s", 409}, "no duration": {virtual, "30", 400}, "wall clock": {wall, "30s", 409}} {
		if status := tc.a.callControl("POST", "/_sim/advance?by="+tc.by, nil, nil); status != tc.want {
			t.Errorf("%s: %d, want %d", name, status, tc.want)
		}
	}
}

// TestSpellingOfLocations serves regions whose names are given as a portal shows them.
func TestSpellingOfLocations(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.Locations = []string{"WestEurope", "East US 2"} })
	for name, location := range map[string]string{"a": "westeurope", "b": "eastus2", "c": "West Europe"} {
		if r := a.sendRequest("PUT", "/subscriptions/"+sub+"/resourceGroups/"+name, obj{"location": location}); r.status != 201 {
			t.Errorf("a group in %s: %d %s", location, r.status, r.errorMessage())
		}
	}
}
