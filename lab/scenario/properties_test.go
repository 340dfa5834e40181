package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// expectProperties fails the story for each property that the managers' requests to Azure or their writes to Kubernetes violate. The logs of a
// lab have neither the bodies of requests to Azure nor the writes of users, so properties that compare these find nothing.
func (l *lab) expectProperties() {
	l.t.Helper()
	for _, file := range []string{"lab.json", "requests.jsonl"} {
		if _, err := os.Stat(filepath.Join(l.dir, file)); errors.Is(err, fs.ErrNotExist) {
			return // the simulated Azure was never started, or the bench has removed its lab
		}
	}
	s := l.loadSettings()
	requests, entries := l.listRequests(), l.auditedRequests()
	if err := checkAudited(requests, entries); err != nil {
		l.t.Error(err)
	}
	for _, steps := range [][]properties.Step{requestSteps(requests, s.TimeScale, *l.kills), objectSteps(entries)} {
		for _, violation := range properties.Check(&properties.History{Steps: steps, Secrets: []string{s.ClientSecret}}) {
			l.t.Error(violation)
		}
	}
}

// requestSteps returns the requests of the provider's managers to Azure, ordered by when Azure answered. Their times are divided by the time
// scale of the lab, because properties have limits in Azure's time. The requests after each kill are those of another manager.
func requestSteps(requests []request, scale float64, kills []time.Time) []properties.Step {
	requests = slices.DeleteFunc(slices.Clone(requests), func(r request) bool {
		return !strings.Contains(r.UserAgent, "cluster-api-provider-azure")
	})
	if len(requests) == 0 {
		return nil
	}
	if scale <= 0 {
		scale = 1
	}
	slices.SortStableFunc(requests, func(a, b request) int { return a.end().Compare(b.end()) })
	first := requests[0].Time
	stretch := func(d time.Duration) time.Duration { return time.Duration(float64(d) / scale) }
	inAzure := func(t time.Time) time.Time { return first.Add(stretch(t.Sub(first))) }
	var out []properties.Step
	for _, r := range requests {
		path, query, _ := strings.Cut(r.URL, "?")
		manager := sort.Search(len(kills), func(i int) bool { return kills[i].After(r.Time) })
		sent := sort.Search(len(out), func(i int) bool { return requests[i].end().After(r.Time) })
		out = append(out, properties.Step{At: inAzure(r.end()), Request: &properties.Request{
			Manager: manager, Sent: sent, Begun: sent, SentAt: inAzure(r.Time), Method: r.Method, Path: strings.ToLower(path), Query: query,
			UserAgent: r.UserAgent, Status: r.Status, Lost: r.Status == 0,
			RetryAfter: stretch(time.Duration(r.RetryAfterMs) * time.Millisecond),
		}})
	}
	return out
}

// end returns the moment at which Azure answered.
func (r request) end() time.Time { return r.Time.Add(time.Duration(r.DurationMs) * time.Millisecond) }

// objectSteps returns the objects and events that the provider's managers wrote. The state before each write is not known.
func objectSteps(entries []entry) []properties.Step {
	var out []properties.Step
	for _, e := range entries {
		if e.ResponseObject == nil || e.ResponseStatus.Code >= 300 || !e.isByManager() {
			continue
		}
		kind, _ := e.ResponseObject["kind"].(string)
		step := properties.Step{At: e.StageTimestamp}
		if kind == "Event" {
			step.Event = &properties.Event{Kind: kind, Name: e.ObjectRef.Name, Note: fmt.Sprint(e.ResponseObject)}
		} else {
			step.Object = &properties.Object{Kind: kind, Name: e.ObjectRef.Name, ByManager: true, After: e.ResponseObject}
		}
		out = append(out, step)
	}
	return out
}

// TestPropertiesOfLogs finds violations in the logs of a lab: writes at the same time, a body that Azure refuses, a read before the time of
// Retry-After, conditions and a secret.
func TestPropertiesOfLogs(t *testing.T) {
	const vm = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/VM1"
	var requests []request
	for _, line := range []string{
		`{"time":"2026-01-01T00:00:00Z","method":"PUT","url":"` + vm + `?api-version=1","status":201,"durationMs":50,"userAgent":"cluster-api-provider-azure/v2"}`,
		`{"time":"2026-01-01T00:00:00.04Z","method":"PUT","url":"` + vm + `?api-version=1","status":400,"durationMs":50,"userAgent":"cluster-api-provider-azure/v2"}`,
		`{"time":"2026-01-01T00:00:01Z","method":"GET","url":"` + vm + `","status":200,"durationMs":1,"userAgent":"cluster-api-provider-azure/v2"}`,
		`{"time":"2026-01-01T00:00:01Z","method":"PUT","url":"` + vm + `","status":400,"durationMs":1,"userAgent":"lab"}`,
		`{"time":"2026-01-01T00:00:02Z","method":"GET","url":"` + vm + `?api-version=1","status":429,"durationMs":0,"retryAfterMs":250,"userAgent":"cluster-api-provider-azure/v2"}`,
		`{"time":"2026-01-01T00:00:02.2Z","method":"GET","url":"` + vm + `?api-version=1","status":200,"durationMs":1,"userAgent":"cluster-api-provider-azure/v2"}`,
		`{"time":"2026-01-01T00:00:02.3Z","method":"GET","url":"` + vm + `?api-version=1","status":200,"durationMs":1,"userAgent":"cluster-api-provider-azure/v2"}`,
	} {
		var r request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, r)
	}
	var entries []entry
	const manager = `"verb":"patch","user":{"username":"system:serviceaccount:capz-system:capz-manager"},"responseStatus":{"code":200}`
	for _, line := range []string{
		`{` + manager + `,"objectRef":{"name":"c1"},"responseObject":{"kind":"AzureCluster","status":{"conditions":[` +
			`{"type":"Ready","status":"True","reason":"Ready","lastTransitionTime":"2026-01-01T00:00:00Z"},` +
			`{"type":"Ready","status":"True","reason":"Ready","lastTransitionTime":"2026-01-01T00:00:00Z"}],"initialization":{"provisioned":true}}}}`,
		`{` + manager + `,"objectRef":{"name":"e1"},"responseObject":{"kind":"Event","message":"the password is a-secret"}}`,
		`{` + strings.Replace(manager, "capz-manager", "other", 1) + `,"objectRef":{"name":"e2"},"responseObject":{"kind":"Event","message":"a-secret"}}`,
	} {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	check := func(kills ...time.Time) (names []string) {
		for _, steps := range [][]properties.Step{requestSteps(requests, 0.05, kills), objectSteps(entries)} {
			for _, each := range properties.Check(&properties.History{Steps: steps, Secrets: []string{"a-secret"}}) {
				name, _, _ := strings.Cut(each, ":")
				names = append(names, name)
			}
		}
		return names
	}
	want := []string{"WriteIsValid", "OneWritePerResource", "RetryAfterIsKept", "RequestHasVersion", "ConditionTypesAreUnique", "SecretsAreNotInEvents"}
	if diff := cmp.Diff(want, check()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := check(requests[5].Time.Add(-time.Millisecond)); slices.Contains(got, "RetryAfterIsKept") {
		t.Errorf("a manager cannot know which answer another one got before it was killed: %v", got)
	}
}
