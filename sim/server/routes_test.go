package server_test

import (
	"strings"
	"testing"
)

// TestRoutePrefixes writes routes with the prefixes of others of their table.
func TestRoutePrefixes(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	route := func(name, prefix string) obj {
		return obj{"name": name, "properties": obj{"addressPrefix": prefix, "nextHopType": "None"}}
	}
	table := func(routes ...any) obj { return obj{"location": "westus3", "properties": obj{"routes": routes}} }
	a.mustSucceed("PUT", net+"/routeTables/one", table(route("a", "10.8.0.0/16"), route("b", "10.9.0.0/16")))
	a.sim.Settle()
	for name, tc := range map[string]struct {
		reason, path string
		body         obj
		message      string
	}{
		"one route": {"it would be ambiguous", "/routeTables/one/routes/z", route("z", "10.8.0.0/16"),
			"Route: z conflicts with Route: a. Routes cannot have the same AddressPrefix."},
		"changed": {"so would a changed one", "/routeTables/one/routes/b", route("b", "10.8.0.0/16"), "Route: b conflicts with Route: a."},
		"of one PUT": {"so would those of one PUT", "/routeTables/two", table(route("a", "fd00::/64"), route("b", "FD00::/64")),
			"Route: a conflicts with Route: b."},
		"service tags": {"they are prefixes, too", "/routeTables/two", table(route("a", "Storage"), route("b", "storage")),
			"Route: a conflicts with Route: b."},
		"again": {"a route keeps its own prefix", "/routeTables/one/routes/a", route("a", "10.8.0.0/16"), ""},
	} {
		r := a.sendRequest("PUT", net+tc.path, tc.body)
		a.sim.Settle()
		if tc.message == "" {
			if r.status >= 300 {
				t.Errorf("%s: %d %v, want success: %s", name, r.status, r.body, tc.reason)
			}
			continue
		}
		if r.status != 400 || r.errorCode() != "RouteConflict" || !strings.HasPrefix(r.errorMessage(), tc.message) {
			t.Errorf("%s: %d %s %q, want RouteConflict %q: %s", name, r.status, r.errorCode(), r.errorMessage(), tc.message, tc.reason)
		}
	}
}

// TestDiskZones creates disks in zones.
func TestDiskZones(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	for name, tc := range map[string]struct {
		reason string
		zones  []any
		code   string
	}{
		"none": {"the disk is in no zone", nil, ""},
		"one":  {"a disk is in one zone", []any{"2"}, ""},
		"two":  {"a disk is not in several", []any{"1", "2"}, "ResourceTypeNotSupportMultiZones"},
	} {
		r := a.sendRequest("PUT", comp+"/disks/"+name, obj{"location": "westus3", "zones": tc.zones, "sku": obj{"name": "Premium_LRS"},
			"properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 100}})
		if (r.status < 300) != (tc.code == "") || r.errorCode() != tc.code {
			t.Errorf("%s: %d %s, want %q: %s", name, r.status, r.errorCode(), tc.code, tc.reason)
		}
	}
}
