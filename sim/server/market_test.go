package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listNames sends a GET whose answer is a bare array, and returns the names in it.
func (a *azure) listNames(path string) (status int, names []string) {
	a.t.Helper()
	res := a.sendRequest(http.MethodGet, path, nil)
	var rows []struct{ Name, ID string }
	if res.status == http.StatusOK {
		if err := json.Unmarshal(res.raw, &rows); err != nil {
			a.t.Fatalf("GET %s: %v in %s", path, err, res.raw)
		}
	}
	for _, row := range rows {
		if !strings.HasSuffix(row.ID, "/"+row.Name) {
			a.t.Errorf("%s: ID %q of %q", path, row.ID, row.Name)
		}
		names = append(names, row.Name)
	}
	return res.status, names
}

func TestMarketplace(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	const publishers, version = "/subscriptions/" + sub + "/providers/Microsoft.Compute/locations/westus3/publishers",
		"?api-version=2022-08-01"
	for path, want := range map[string][]string{
		"/kinvolk/artifacttypes/vmimage/offers": {"flatcar-container-linux-corevm-amd64", "flatcar-container-linux-free"},
		"/canonical/artifacttypes/vmimage/offers/0001-com-ubuntu-server-jammy/skus": {"22_04-lts",
			"22_04-lts-gen2"},
		"/Canonical/artifacttypes/vmimage/offers/ubuntu-24_04-lts/skus/server/versions" + version: {"24.04.202409120",
			"24.04.202411030", "24.04.202501130"},
		"/Canonical/artifacttypes/vmimage/offers/ubuntu-24_04-lts/skus/server/versions?$top=1&$orderby=name%20desc": {"24.04.202501130"},
		"/Canonical/artifacttypes/vmimage/offers/ubuntu-24_04-lts/skus/none/versions":                               nil,
		"/unknown/artifacttypes/vmimage/offers":                                                                     nil,
		"/Microsoft.Azure.Extensions/artifacttypes/vmextension/types":                                               {"CustomScript"},
		"/Microsoft.Azure.Extensions/artifacttypes/vmextension/types/CustomScript/versions": {"2.0.7",
			"2.1.10", "2.1.3"},
		"/Microsoft.Azure.Extensions/artifacttypes/vmextension/types/CustomScript/versions?$filter=startswith(name,%272.0%27)": {"2.0.7"},
		"/Microsoft.Azure.Extensions/artifacttypes/vmextension/types/None/versions":                                            nil,
	} {
		if !strings.Contains(path, "api-version") {
			path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + version[1:]
		}
		status, got := a.listNames(publishers + path)
		if d := cmp.Diff(want, got); d != "" || (status == 404) != (want == nil) {
			t.Errorf("%s = %d: %s", path, status, d)
		}
	}
	image := a.sendRequest("GET",
		publishers+"/Canonical/artifacttypes/vmimage/offers/0001-com-ubuntu-server-jammy/skus/22_04-lts/versions/latest"+version, nil)
	if image.valueAt("name") != "22.04.202501100" || image.valueAt("properties.hyperVGeneration") != "V1" ||
		image.valueAt("properties.plan") != nil {
		t.Errorf("image = %v", image.body)
	}
	image = a.sendRequest("GET",
		publishers+"/kinvolk/artifacttypes/vmimage/offers/flatcar-container-linux-free/skus/stable-gen2/versions/4081.2.0"+version, nil)
	if image.valueAt("properties.plan.product") != "flatcar-container-linux-free" || image.valueAt("properties.hyperVGeneration") != "V2" {
		t.Errorf("image = %v", image.body)
	}
	extension := a.sendRequest("GET",
		publishers+"/Microsoft.Compute/artifacttypes/vmextension/types/CustomScriptExtension/versions/1.10.15"+version, nil)
	if extension.valueAt("properties.operatingSystem") != "Windows" {
		t.Errorf("extension = %v", extension.body)
	}
	for _, path := range []string{"/Canonical/artifacttypes/vmimage/offers/ubuntu-24_04-lts/skus/server/versions/1.0.0",
		"/Microsoft.Compute/artifacttypes/vmextension/types/CustomScriptExtension/versions/9.9"} {
		if r := a.sendRequest("GET", publishers+path+version, nil); r.status != 404 || r.errorCode() != "NotFound" {
			t.Errorf("%s = %d %v", path, r.status, r.body)
		}
	}
}
