package server_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func TestOperationWireStyles(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	const none = "-"
	cases := map[string]struct {
		reason, method, path   string
		body                   any
		status                 int
		retry                  string
		async, location        string // text that the URLs must contain; "-" no header
		pollStatus             int
		pollWord, terminalWord string
	}{
		"net put": {"Azure-AsyncOperation only", "PUT", net + "/routeTables/x", obj{"location": "westus3"}, 201, "2",
			"/Microsoft.Network/locations/westus3/operations/", none, 200, "InProgress", "Succeeded"},
		"net delete": {"both headers, empty body", "DELETE", net + "/routeTables/y", nil, 202, "10", "/operations/", "/operationResults/", 200,
			"InProgress", "Succeeded"},
		"lb put": {"a load balancer answers Succeeded and still sends the header", "PUT", net + "/loadBalancers/x",
			obj{"location": "westus3"}, 201, "", "/operations/", none, 200, "", "Succeeded"},
		"nic put": {"interfaces are synchronous", "PUT", net + "/networkInterfaces/x", newNIC("cp", nil), 201, "", none, none, 0, "", ""},
		"vm put": {"compute", "PUT", comp + "/virtualMachines/x", newVM("nic0", nil), 201, "10",
			"/Microsoft.Compute/locations/westus3/operations/", none, 200, "InProgress", "Succeeded"},
		"disk put": {"disks answer 202 with both headers", "PUT", comp + "/disks/x",
			obj{"location": "westus3", "properties": obj{"diskSizeGB": 8, "creationData": obj{"createOption": "Empty"}}}, 202, "2",
			"/DiskOperations/", "monitor=true", 200, "InProgress", "Succeeded"},
		"dns put": {"private DNS polls are 202 while running", "PUT", net + "/privateDnsZones/x.example", obj{"location": "global"}, 202, "30",
			"/privateDnsOperationStatuses/", "/privateDnsOperationResults/", 202, "InProgress", "Succeeded"},
		"set put": {"availability sets are synchronous and always 200", "PUT", comp + "/availabilitySets/x",
			obj{"location": "westus3", "sku": obj{"name": "Aligned"}}, 200, "", none, none, 0, "", ""},
	}
	a.mustSucceed("PUT", net+"/routeTables/y", obj{"location": "westus3"})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := a.sendRequest(tc.method, tc.path, tc.body)
			if r.status != tc.status || r.header.Get("Retry-After") != tc.retry {
				t.Errorf("%s: status %d Retry-After %q, want %d %q (%s)", tc.reason, r.status, r.header.Get("Retry-After"), tc.status, tc.retry,
					r.errorMessage())
			}
			for h, want := range map[string]string{"Azure-AsyncOperation": tc.async, "Location": tc.location} {
				got := r.header.Get(h)
				if want == none && got != "" || want != none && (!strings.Contains(got, want) || !strings.HasPrefix(got, a.url)) {
					t.Errorf("%s: %s is %q, want %q", tc.reason, h, got, want)
				}
			}
			if tc.pollWord != "" {
				poll := a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil)
				if poll.status != tc.pollStatus || poll.valueAt("status") != tc.pollWord {
					t.Errorf("%s: first poll %d %v", tc.reason, poll.status, poll.body)
				}
			}
			a.sim.Settle()
			if tc.terminalWord != "" {
				end := a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil)
				for range 2 { // an operation that ended at once shows InProgress once
					if end.valueAt("status") == "InProgress" {
						end = a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil)
					}
				}
				if end.status != 200 || end.valueAt("status") != tc.terminalWord || end.header.Get("Retry-After") != "" {
					t.Errorf("%s: last poll %d %v", tc.reason, end.status, end.body)
				}
			}
		})
	}
}

func TestGroupDeletionPollsItsLocation(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	r := a.sendRequest("DELETE", groupA, nil)
	loc := r.header.Get("Location")
	if r.status != 202 || r.header.Get("Azure-AsyncOperation") != "" || !strings.Contains(loc, "/operationresults/") ||
		r.header.Get("Retry-After") != "15" {
		t.Fatalf("DELETE = %d %v", r.status, r.header)
	}
	if p := a.sendRequest("GET", loc, nil); p.status != 202 || p.header.Get("Location") == "" {
		t.Errorf("poll: %d", p.status)
	}
	if g := a.sendRequest("GET", groupA, nil); g.valueAt("properties.provisioningState") != "Deleting" {
		t.Errorf("state meanwhile: %v", g.valueAt("properties.provisioningState"))
	}
	if p := a.sendRequest("PUT", net+"/routeTables/late", obj{"location": "westus3"}); p.errorCode() != "ResourceGroupBeingDeleted" {
		t.Errorf("a write meanwhile: %s", p.errorCode())
	}
	took := a.sim.Settle()
	if took < 40*time.Second || took > 10*time.Minute {
		t.Errorf("deleting a VM and its parts took %s", took)
	}
	if p := a.sendRequest("GET", loc, nil); p.status != 200 {
		t.Errorf("last poll: %d %s", p.status, p.errorMessage())
	}
	if g := a.sendRequest("GET", groupA, nil); g.errorCode() != "ResourceGroupNotFound" {
		t.Errorf("after: %s", g.errorCode())
	}
	if left := a.sim.State(); len(left) != 0 {
		t.Errorf("%d resources are left: %v", len(left), left[0]["id"])
	}
}

func TestGroupDeletionIsBlockedFromOutside(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	other := "/subscriptions/" + sub + "/resourceGroups/other"
	a.mustSucceed("PUT", other, obj{"location": "westus3"})
	a.mustSucceed("PUT", other+"/providers/Microsoft.Network/networkInterfaces/guest", newNIC("cp", nil))
	r := a.sendRequest("DELETE", groupA, nil)
	if took := a.sim.Settle(); took < 15*time.Minute {
		t.Errorf("Azure tries for 15 minutes, this gave up after %s", took)
	}
	p := a.sendRequest("GET", r.header.Get("Location"), nil)
	if p.status != 409 || !strings.HasPrefix(p.errorCode(), "ResourceGroupDeletionBlocked") ||
		!strings.Contains(p.errorMessage(), "virtualNetworks/vnet") {
		t.Errorf("last poll: %d %s %s", p.status, p.errorCode(), p.errorMessage())
	}
	if g := a.sendRequest("GET", groupA, nil); g.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("the group must be rolled back, it is %v", g.valueAt("properties.provisioningState"))
	}
}

func TestTimeScaleZeroStillPollsOnce(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.TimeScale, o.Clock = 0, store.Real{} })
	a.createGroup()
	r := a.sendRequest("PUT", net+"/routeTables/x", obj{"location": "westus3"})
	op := r.header.Get("Azure-AsyncOperation")
	if r.valueAt("properties.provisioningState") != "Updating" {
		t.Errorf("the accepted body has the state %v", r.valueAt("properties.provisioningState"))
	}
	first, second := a.sendRequest("GET", op, nil), a.sendRequest("GET", op, nil)
	if first.valueAt("status") != "InProgress" || second.valueAt("status") != "Succeeded" {
		t.Errorf("polls: %v, %v", first.valueAt("status"), second.valueAt("status"))
	}
	log := a.sim.Requests()
	if got, want := log[len(log)-2].RetryAfterMs, first.header.Get("retry-after-ms"); strconv.FormatInt(got, 10) != want {
		t.Errorf("the log has retryAfterMs %d, the answer %s", got, want)
	}
	if first.header.Get("Retry-After") != "1" || first.header.Get("retry-after-ms") == "" {
		t.Errorf("Retry-After %q, retry-after-ms %q: a scaled delay below a second is in both headers", first.header.Get("Retry-After"),
			first.header.Get("retry-after-ms"))
	}
}

// TestScaledOperationsSayWhenTheyEnd runs time faster than on Azure: a client that polls at the suggested time learns of the end at once,
// regardless of the operation's duration on Azure, and also where the time is a second or more.
func TestScaledOperationsSayWhenTheyEnd(t *testing.T) {
	put := func(scale float64) (*azure, response) {
		a := newAzure(t, func(o *server.Options) { o.TimeScale = scale })
		a.createGroup()
		return a, a.sendRequest("PUT", net+"/routeTables/x", obj{"location": "westus3"})
	}
	for _, scale := range []float64{0.05, 0.5, 0.9} {
		a, r := put(scale)
		hint, waited := r.header.Get("retry-after-ms"), time.Duration(0)
		if hint == "" {
			t.Errorf("scale %v: the answer has no retry-after-ms", scale)
		}
		for hint != "" {
			wait, err := strconv.Atoi(hint)
			if most := 10_000 * scale; err != nil || float64(wait) > most {
				t.Fatalf("scale %v: retry-after-ms is %q, want at most %v, as Azure would be asked every ten seconds", scale, hint, most)
			}
			waited += time.Duration(wait) * time.Millisecond
			a.sim.Advance(time.Duration(wait) * time.Millisecond)
			poll := a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil)
			if hint = poll.header.Get("retry-after-ms"); (poll.valueAt("status") == "Succeeded") != (hint == "") {
				t.Fatalf("scale %v: after %s: %v, retry-after-ms %q", scale, waited, poll.valueAt("status"), hint)
			}
		}
		same, _ := put(scale)
		if took := same.sim.Settle(); waited < took || waited > took+2*time.Millisecond {
			t.Errorf("scale %v: a client that polls at Azure's delays sees the end after %s, it is after %s", scale, waited, took)
		}
	}
	if _, r := put(1); r.header.Get("retry-after-ms") != "" {
		t.Errorf("Azure sends no retry-after-ms, and neither does a simulator that is as slow: %q", r.header.Get("retry-after-ms"))
	}
}

func TestHeadersVersionsAndAuthentication(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	r := a.sendRequest("GET", groupA, nil, "x-ms-correlation-request-id", "corr", "x-ms-client-request-id", "client",
		"x-ms-return-client-request-id", "true")
	for h, want := range map[string]string{"x-ms-correlation-request-id": "corr", "x-ms-client-request-id": "client",
		"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "Content-Type": "application/json; charset=utf-8"} {
		if got := r.header.Get(h); got != want {
			t.Errorf("%s: %q, want %q", h, got, want)
		}
	}
	if r.header.Get("x-ms-request-id") == "" || r.header.Get("x-ms-routing-request-id") == "" ||
		r.header.Get("x-ms-ratelimit-remaining-subscription-reads") == "" {
		t.Errorf("headers are missing: %v", r.header)
	}
	for q, want := range map[string]string{"?api-version=": "MissingApiVersionParameter", "?api-version=latest": "InvalidApiVersionParameter",
		"?api-version=2099-01-01": "InvalidApiVersionParameter", "?api-version=2024-05-01-preview": ""} {
		if r := a.sendRequest("GET", groupA+q, nil); r.errorCode() != want {
			t.Errorf("%s: %d %s, want %q", q, r.status, r.errorCode(), want)
		}
	}
	for auth, want := range map[string]string{"": "AuthenticationFailed", "Bearer x.y.z": "InvalidAuthenticationToken",
		"Basic abc": "AuthenticationFailed"} {
		r := a.sendRequest("GET", groupA, nil, "Authorization", auth)
		if r.status != 401 || r.errorCode() != want || !strings.Contains(r.header.Get("WWW-Authenticate"), "authorization_uri") {
			t.Errorf("%q: %d %s %q", auth, r.status, r.errorCode(), r.header.Get("WWW-Authenticate"))
		}
	}
}

func TestThrottlingTellsWhenToComeBack(t *testing.T) {
	a := newAzure(t, func(o *server.Options) {
		o.Throttle = &server.Throttle{Reads: 3, ReadsPerSec: 1, Writes: 9, WritesPerSec: 1, Deletes: 9, DeletesPerSec: 1}
	})
	var got []string
	for range 4 {
		got = append(got, a.sendRequest("GET", "/subscriptions/"+sub, nil).header.Get("x-ms-ratelimit-remaining-subscription-reads"))
	}
	if d := cmp.Diff([]string{"2", "1", "0", "0"}, got); d != "" {
		t.Error(d)
	}
	r := a.sendRequest("GET", "/subscriptions/"+sub, nil)
	if wait, _ := strconv.Atoi(r.header.Get("Retry-After")); r.status != 429 || wait != 1 || r.errorCode() != "SubscriptionRequestsThrottled" {
		t.Errorf("%d %s Retry-After %d", r.status, r.errorCode(), wait)
	}
	a.sim.Advance(time.Second)
	if r := a.sendRequest("GET", "/subscriptions/"+sub, nil); r.status != 200 {
		t.Errorf("after the wait: %d", r.status)
	}
}

func TestListsFiltersAndPages(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.PageSize = 2 })
	a.createGroup()
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		a.mustSucceed("PUT", net+"/routeTables/"+n, obj{"location": "westus3", "tags": obj{"name": n}})
	}
	var names []any
	for next := net + "/routeTables"; next != ""; {
		r := a.sendRequest("GET", next, nil)
		list, _ := r.valueAt("value").([]any)
		if len(list) > 2 {
			t.Errorf("a page of %d", len(list))
		}
		for _, e := range list {
			names = append(names, valueAt(e, "name"))
		}
		next, _ = r.valueAt("nextLink").(string)
	}
	if d := cmp.Diff([]any{"a", "b", "c", "d", "e"}, names); d != "" {
		t.Error(d)
	}
	r := a.sendRequest("GET",
		"/subscriptions/"+sub+"/resources?$filter=tagName%20eq%20'name'%20and%20tagValue%20eq%20'c'&$expand=provisioningState", nil)
	if list, _ := r.valueAt("value").([]any); len(list) != 1 || r.valueAt("value.0.name") != "c" ||
		r.valueAt("value.0.provisioningState") != "Succeeded" {
		t.Errorf("by tag: %v", r.body)
	}
	r = a.sendRequest("GET", groupA+"/resources?$filter=resourceType%20eq%20'microsoft.network/routetables'", nil)
	if list, _ := r.valueAt("value").([]any); len(list) != 2 || r.valueAt("nextLink") == nil {
		t.Errorf("by type: %v", r.body)
	}
}

func TestTagsAtScope(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	a.mustSucceed("PUT", net+"/routeTables/rt", obj{"location": "westus3", "tags": obj{"keep": "1", "drop": "2"}})
	tags := net + "/routeTables/rt/providers/Microsoft.Resources/tags/default"
	a.mustSucceed("PATCH", tags, obj{"operation": "Merge", "properties": obj{"tags": obj{"new": "3"}}})
	a.mustSucceed("PATCH", tags, obj{"operation": "Delete", "properties": obj{"tags": obj{"drop": "2"}}})
	want := obj{"keep": "1", "new": "3"}
	if d := cmp.Diff(any(want), a.sendRequest("GET", net+"/routeTables/rt", nil).valueAt("tags")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(any(want), a.sendRequest("GET", tags, nil).valueAt("properties.tags")); d != "" {
		t.Error(d)
	}
	if r := a.sendRequest("PATCH", net+"/routeTables/rt", obj{"tags": obj{"only": "x"}}); r.status != 200 ||
		cmp.Diff(any(obj{"only": "x"}), r.valueAt("tags")) != "" {
		t.Errorf("PATCH of the resource replaces tags: %d %v", r.status, r.valueAt("tags"))
	}
}

func TestRequestLogHasNoSecrets(t *testing.T) {
	var out strings.Builder
	a := newAzure(t, func(o *server.Options) { o.RequestLog = &out })
	a.createGroup()
	r := a.sendRequest("PUT", net+"/routeTables/x", obj{"location": "westus3", "tags": obj{"password": "hidden-value"}})
	a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil, "User-Agent", "tester")
	log := a.sim.Requests()
	last := log[len(log)-1]
	if last.Method != http.MethodGet || last.Status != 200 || last.UserAgent != "tester" || last.Principal != server.DefaultClientID ||
		last.OperationID == "" || last.RequestID == "" {
		t.Errorf("record: %+v", last)
	}
	if last.OperationID != log[len(log)-2].OperationID {
		t.Error("a poll must carry the ID of the operation it asks for")
	}
	for _, secret := range []string{"hidden-value", a.sim.Token("")[:40], "&s=", "&h=", "&t="} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != len(log) {
		t.Errorf("%d lines for %d requests", n, len(log))
	}
}

func TestGroupDeletionGivesUpOnADeletionThatNeverEnds(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Stuck, Method: "DELETE", Type: "Microsoft.Network/virtualNetworks"}); err != nil {
		t.Fatal(err)
	}
	r := a.sendRequest("DELETE", groupA, nil)
	a.sim.Settle()
	if p := a.sendRequest("GET", r.header.Get("Location"), nil); p.status != 409 ||
		!strings.HasPrefix(p.errorCode(), "ResourceGroupDeletionBlocked") {
		t.Errorf("last poll: %d %s", p.status, p.errorCode())
	}
}
