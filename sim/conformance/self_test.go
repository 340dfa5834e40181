package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	const vnet = `{"id":"/a","properties":{"subnets":[{"name":"s"},{"name":"t","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`
	header := func(names ...string) http.Header {
		h := http.Header{}
		for _, name := range names {
			h.Set(name, "x")
		}
		return h
	}
	for name, c := range map[string]struct {
		reason   string
		recorded exchange
		got      answer
		want     []string
	}{
		"same": {
			reason:   "values may differ and more keys may exist",
			recorded: exchange{Status: 200, Answer: vnet, Header: header("Location")},
			got: answer{status: 200, header: header("Location"),
				body: `{"id":"/b","etag":"e","properties":{"subnets":[{"name":"u","properties":{"addressPrefix":"x"}}]}}`},
		},
		"status": {
			reason:   "a wrong status is reported with both codes, and without the differences that follow from it",
			recorded: exchange{Status: 200, Answer: vnet},
			got:      answer{status: 404, body: `{"error":{"code":"ResourceNotFound"}}`},
			want:     []string{"GET 200: status 404 ResourceNotFound instead of success"},
		},
		"headers": {
			reason:   "a header too few is as wrong as one too many",
			recorded: exchange{Status: 202, Header: header("Azure-AsyncOperation"), HasRetryAfter: true},
			got:      answer{status: 202, header: header("Retry-After")},
			want:     []string{"GET 202: header Azure-AsyncOperation is missing", "GET 202: header Retry-After is present, Azure sent none"},
		},
		"headers that a recorder removes": {
			reason:   "recorders of client libraries remove Retry-After",
			recorded: exchange{Status: 202, Header: header("Azure-AsyncOperation")},
			got:      answer{status: 202, header: header("Azure-AsyncOperation", "Retry-After")},
		},
		"keys": {
			reason:   "a key inside an array counts, and keys below a missing key are not reported again",
			recorded: exchange{Status: 200, Answer: vnet},
			got:      answer{status: 200, body: `{"id":"/b","properties":{"subnets":[{"name":"u"}]}}`},
			want:     []string{"GET 200: no properties.subnets[].properties"},
		},
		"error code": {
			reason:   "clients act on the code of an error",
			recorded: exchange{Status: 404, Answer: `{"error":{"code":"ResourceGroupNotFound","message":""}}`},
			got:      answer{status: 404, body: `{"error":{"code":"NotFound","message":""}}`},
			want:     []string{"GET 404: error code NotFound instead of ResourceGroupNotFound"},
		},
		"noise": {
			reason:   "AKS adds this error to operations that succeed, when its database is slow",
			recorded: exchange{Status: 200, Answer: `{"status":"Succeeded","error":{"code":"NotLatestOperation","message":""}}`},
			got:      answer{status: 200, body: `{"status":"Succeeded"}`},
		},
		"body": {
			reason:   "no body is more than an empty one",
			recorded: exchange{Status: 202},
			got:      answer{status: 202, body: `{}`},
			want:     []string{"GET 202: a body, Azure sent none"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.recorded.Method = "GET"
			v := compareAnswers(c.recorded, c.got)
			if got := v.listProblems(); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
			if v.isAgreement() != (len(c.want) == 0) {
				t.Errorf("%s: agrees is %v", c.reason, v.isAgreement())
			}
		})
	}
}

func TestWorse(t *testing.T) {
	written := map[string]*figures{"T": {exchanges: 10, all: 9, exact: 5}}
	for name, c := range map[string]struct {
		reason string
		is     map[string]*figures
		want   int
	}{
		"same": {"nothing changed", map[string]*figures{"T": {exchanges: 10, all: 9, exact: 5}}, 0},
		"better": {"more may agree, and other types may come", map[string]*figures{"T": {exchanges: 10, all: 10, exact: 6}, "U": {exchanges: 1}},
			0},
		"share":  {"a lower share is a regression", map[string]*figures{"T": {exchanges: 10, all: 8, exact: 5}}, 1},
		"values": {"a value that changed is one, too", map[string]*figures{"T": {exchanges: 10, all: 9, exact: 4}}, 1},
		"fewer":  {"exchanges that are no longer replayed hide disagreements", map[string]*figures{"T": {exchanges: 9, all: 9, exact: 5}}, 1},
		"gone":   {"a type that is no longer served is both", map[string]*figures{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := findRegressions(written, c.is); len(got) != c.want {
				t.Errorf("%s: %q", c.reason, got)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(second int, method, path string, status int, body string, header ...string) exchange {
		h := http.Header{}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return exchange{Method: method, URL: &url.URL{Path: path}, Status: status, Answer: body, Header: h,
			At: start.Add(time.Duration(second) * time.Second)}
	}
	const operation = "/subscriptions/s/providers/Microsoft.Network/locations/l/operations/1"
	all := []exchange{
		at(0, "PUT", "/vnet", 201, `{}`, "Azure-AsyncOperation", "https://host"+operation),
		at(3, "GET", operation, 200, `{"status":"InProgress"}`),
		at(13, "GET", operation, 200, `{"status":"Succeeded"}`),
		at(14, "DELETE", "/vnet", 202, ``, "Location", "https://host"+operation+"2"),
		at(20, "GET", "/vnet", 404, `{}`),
		at(21, "PUT", "/other", 201, `{}`, "Azure-AsyncOperation", "https://host"+operation+"3"),
		at(30, "PUT", "/vault", 200, `{"properties":{"provisioningState":"RegisteringDns"}}`),
		at(37, "GET", "/vault", 200, `{"properties":{"provisioningState":"RegisteringDns"}}`),
		at(50, "GET", "/vault", 200, `{"properties":{"provisioningState":"Succeeded"}}`),
	}
	got := operationDurations(all)
	if got[6] != 7*time.Second+moment {
		t.Errorf("got %v: want what only a state tells of to end after the last answer that has it", got[6])
	}
	delete(got, 6)
	if len(got) != 2 || got[0] != 3*time.Second+moment || got[3] != moment {
		t.Errorf("got %v: want the PUT to end after the last poll that saw it running, the DELETE at once because the next request shows its "+
			"end, and nothing for operations that the recording does not show", got)
	}
}

func TestExact(t *testing.T) {
	const recorded = `{"id":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/RG/x","etag":"a","properties":{"size":4,"at":"2024-01-01T00:00:00.123Z","ip":"20.1.2.3","inner":"10.0.0.4","list":["a","b"],"none":[]}}`
	for name, c := range map[string]struct {
		reason, got string
		want        []string
	}{
		"made up": {"generated values are equal, and an ID in any casing",
			`{"id":"/subscriptions/11111111-1111-1111-1111-111111111111/resourcegroups/rg/x","etag":"b","properties":{"size":4,"at":"2026-01-01T00:00:00Z","ip":"40.1.2.3","inner":"10.0.0.4","list":["a","b"],"none":[]}}`, nil},
		"values": {"numbers, private addresses and the order of a list count",
			`{"id":"/subscriptions/11111111-1111-1111-1111-111111111111/resourcegroups/rg/x","properties":{"size":5,"at":"2026-01-01T00:00:00Z","ip":"40.1.2.3","inner":"10.0.0.5","list":["b","a"],"none":[]}}`, []string{
				"properties.inner is 10.0.0.5 instead of 10.0.0.4", "properties.list[0] is b instead of a", "properties.list[1] is a instead of b",
				"properties.size is 5 instead of 4"}},
		"surplus": {"a key too many counts, and so does an empty list",
			`{"id":"/subscriptions/11111111-1111-1111-1111-111111111111/resourcegroups/rg/x","properties":{"more":{},"size":4,"at":"2026-01-01T00:00:00Z","ip":"40.1.2.3","inner":"10.0.0.4","list":["a","b"]}}`, []string{
				"properties.none is missing", "properties.more is present, Azure sent none"}},
	} {
		if got := compareValues(decodeJSON(recorded), decodeJSON(c.got)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s: got %q, want %q", name, c.reason, got, c.want)
		}
	}
}

// Values that Azure generates are compared by their form only, and the text beside them is compared.
func TestInvented(t *testing.T) {
	for name, c := range map[string]struct {
		reason, recorded, got string
		equal                 bool
	}{
		"GUID without hyphens": {"names of disks have one", `{"name":"vm_OsDisk_1_57db35104e6e4316aebf2535e0000000"}`,
			`{"name":"vm_OsDisk_1_2fe02723ac8c4857aa9c5152745ce657"}`, true},
		"name around it": {"the rest of the name follows from the request", `{"name":"vm_OsDisk_1_57db35104e6e4316aebf2535e0000000"}`,
			`{"name":"vm2_OsDisk_1_2fe02723ac8c4857aa9c5152745ce657"}`, false},
		"wait": {"how long to wait is load", `{"message":"Retry. The call can be retried in 14 seconds."}`,
			`{"message":"Retry. The call can be retried in 12 seconds."}`, true},
		"key": {"recordings blank keys out", `{"value":"{KEY}"}`, `{"value":"YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU2Nzg5"}`,
			true},
		"short key": {"a key has a form", `{"value":"{KEY}"}`, `{"value":"abc"}`, false},
		"sender": {"the sender is in the token", `{"createdBy":"someone@example.com","createdByType":"User"}`,
			`{"createdBy":"11111111-1111-1111-1111-111111111111","createdByType":"Application"}`, true},
		"no sender": {"the absence of a sender is a fact", `{"createdBy":null}`, `{"createdBy":"11111111-1111-1111-1111-111111111111"}`,
			false},
		"latest image": {"the latest is that of the day", `{"nodeImageVersion":"AKSUbuntu-2204gen2containerd-202601.13.0"}`,
			`{"nodeImageVersion":"AKSUbuntu-2204gen2containerd-202601.07.0"}`, true},
		"other image": {"the operating system follows from the request",
			`{"nodeImageVersion":"AKSUbuntu-2204gen2containerd-202601.13.0"}`, `{"nodeImageVersion":"AKSAzureLinux-V3gen2-202601.07.0"}`, false},
		"patch": {"the request named the minor version", `{"kubernetesVersion":"1.33","currentKubernetesVersion":"1.33.5"}`,
			`{"kubernetesVersion":"1.33","currentKubernetesVersion":"1.33.6"}`, true},
		"patch asked for": {"the request named the patch", `{"kubernetesVersion":"1.33.5","currentKubernetesVersion":"1.33.5"}`,
			`{"kubernetesVersion":"1.33.5","currentKubernetesVersion":"1.33.6"}`, false},
		"minor": {"the minor version is asked for", `{"kubernetesVersion":"1.33","currentKubernetesVersion":"1.33.5"}`,
			`{"kubernetesVersion":"1.33","currentKubernetesVersion":"1.32.5"}`, false},
		"latest version": {"the request wanted the latest", `{"version":"latest","exactVersion":"18.04.202401161"}`,
			`{"version":"latest","exactVersion":"131.1.20250110"}`, true},
		"version": {"the request named it", `{"version":"18.04.1","exactVersion":"18.04.1"}`,
			`{"version":"18.04.1","exactVersion":"18.04.2"}`, false},
		"step": {"how far AKS is depends on its speed", `{"status":"CreatingAgentPools: 0/1 nodes completed"}`,
			`{"status":"ProvisioningControlPlane"}`, true},
		"ended":           {"that it has ended is no step", `{"status":"Succeeded"}`, `{"status":"InProgress"}`, false},
		"time in seconds": {"of a key", `{"created":1698869575}`, `{"created":981173106}`, true},
		"no time":         {"the year 1 is none", `{"created":1698869575}`, `{"created":-62135596800}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := compareValues(decodeJSON(c.recorded), decodeJSON(c.got)); (len(got) == 0) != c.equal {
				t.Errorf("%s: %q, want equal to be %v", c.reason, got, c.equal)
			}
		})
	}
}

// GUIDs in names that Azure makes lead to those of the simulator, where the rest of the name is the same.
func TestLearn(t *testing.T) {
	const theirs, ours = "9fe2835c-1596-411f-8035-ba15bdb2d958", "11111111-2222-4333-8444-555555555555"
	p := &player{guids: map[string]string{}}
	p.pairGUIDs(decodeJSON(`{"id":"/nics/pe.nic.`+theirs+`"}`), decodeJSON(`{"id":"/nics/pe.nic.`+ours+`"}`))
	if got := p.rewriteText("/nics/pe.nic." + theirs); got != "/nics/pe.nic."+ours {
		t.Errorf("got %s", got)
	}
	p = &player{guids: map[string]string{}}
	p.pairGUIDs(decodeJSON(`{"id":"/nics/a.`+theirs+`"}`), decodeJSON(`{"id":"/nics/b.`+ours+`"}`))
	if len(p.guids) != 0 {
		t.Errorf("other names tell nothing: %v", p.guids)
	}
}

func TestHidden(t *testing.T) {
	all, out := operator.loadRecordings(t), 0
	for name := range all {
		if operator.isHeldOut(name) {
			out++
		}
	}
	if share := float64(out) / float64(len(all)); share < 0.08 || share > 0.15 {
		t.Errorf("%d of %d recordings are out of sight, want about a ninth", out, len(all))
	}
}
