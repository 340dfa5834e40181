package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// expectProperties fails the story for each property that the managers' requests to Azure, their effects, or their writes to Kubernetes violate.
func (l *lab) expectProperties() {
	l.t.Helper()
	for _, file := range []string{"lab.json", "requests.jsonl"} {
		if _, err := os.Stat(filepath.Join(l.dir, file)); errors.Is(err, fs.ErrNotExist) {
			return // the simulated Azure was never started, or the bench has removed its lab
		}
	}
	s, recorded := l.loadSettings(), l.readLogs()
	for _, log := range recorded.auditLogs {
		if err := checkAudited(recorded.requests, log.entries); err != nil {
			l.t.Error(err)
		}
	}
	for _, violation := range properties.Check(recorded.history(s.ClientSecret)) {
		l.t.Error(violation)
	}
}

// readLogs returns what the lab has recorded since the story began.
func (l *lab) readLogs() *logs {
	l.t.Helper()
	out := &logs{requests: l.listRequests(), changes: l.listChanges(), auditLogs: []apiServerLog{l.readAuditLog()}, stable: l.moments.listStable(),
		timeScale: l.loadSettings().TimeScale}
	if l.beside != nil && l.beside.ended != nil {
		out.auditLogs = append(out.auditLogs, *l.beside.ended)
	} else if l.beside != nil {
		out.auditLogs = append(out.auditLogs, l.beside.readAuditLog())
	}
	return out
}

func (l *lab) readAuditLog() apiServerLog {
	return apiServerLog{l.auditedRequests(), l.moments.listUnlogged()}
}

// TestPropertiesOfLogs finds violations in the logs of a lab.
func TestPropertiesOfLogs(t *testing.T) {
	const (
		group     = "/subscriptions/s/resourceGroups/g"
		vm        = group + "/providers/Microsoft.Compute/virtualMachines/VM1"
		other     = "/subscriptions/s/resourceGroups/h/providers/Microsoft.Network/networkSecurityGroups/nsg"
		securedBy = group + "/providers/Microsoft.Network/networkSecurityGroups/nsg"
	)
	at := func(ms int) string { return fmt.Sprintf(`"2026-01-01T00:00:%02d.%03dZ"`, ms/1000, ms%1000) }
	moment := func(ms int) time.Time { return time.Date(2026, 1, 1, 0, 0, 0, ms*1e6, time.UTC) }
	call := func(ms int, method, path string, status, duration int, more string) string {
		return fmt.Sprintf(`{"time":%s,"answered":%s,"method":%q,"url":"%s?api-version=1","status":%d,"userAgent":"cluster-api-provider-azure/v2"%s}`,
			at(ms), at(ms+duration), method, path, status, more)
	}
	change := func(ms int, id, body string) string {
		if body == "" {
			return fmt.Sprintf(`{"time":%s,"id":%q}`, at(ms), strings.ToLower(id))
		}
		return fmt.Sprintf(`{"time":%s,"id":%q,"body":%s}`, at(ms), strings.ToLower(id), body)
	}
	const manager, person = "system:serviceaccount:capz-system:capz-manager", "kubernetes-admin"
	write := func(ms int, user, verb, resource, name, object string) string {
		return fmt.Sprintf(`{"requestReceivedTimestamp":%s,"verb":%q,"user":{"username":%q},"responseStatus":{"code":200},"objectRef":{"resource":%q,"name":%q},`+
			`"requestURI":"/x","responseObject":%s}`, at(ms), verb, user, resource, name, object)
	}
	cluster := func(version int, metadata, spec, status string) string {
		return fmt.Sprintf(`{"kind":"AzureCluster","metadata":{"name":"c1","resourceVersion":"%d"%s},"spec":{%s},"status":{%s}}`, version, metadata, spec, status)
	}
	condition := func(typ, status string, ms int) string {
		return fmt.Sprintf(`"conditions":[{"type":%q,"status":%q,"reason":"NotPaused","lastTransitionTime":%s}]`, typ, status, at(ms))
	}
	const held, owned = `,"finalizers":["f"]`, `{"tags":{"sigs.k8s.io_cluster-api-provider-azure_cluster_c1":"owned"}}`
	rules := func(names string) string { return `{"properties":{"securityRules":[` + names + `]}}` }
	for name, tc := range map[string]struct {
		reason                     string
		requests, changes, entries []string
		stable, unlogged           []int
		want                       []string
	}{
		"at once": {
			reason: "the second PUT was sent before the first one was answered, and Azure refused it",
			requests: []string{call(0, "PUT", vm, 201, 50, ""), call(40, "PUT", vm, 400, 50, ""), call(200, "GET", vm, 200, 1, ""),
				strings.Replace(call(200, "PUT", vm, 400, 1, ""), "cluster-api-provider-azure", "lab", 1)},
			want: []string{"WriteIsValid", "OneWritePerResource"},
		},
		"no version": {
			reason:   "Azure needs an api-version",
			requests: []string{strings.Replace(call(0, "GET", vm, 200, 1, ""), "?api-version=1", "", 1)},
			want:     []string{"RequestHasVersion"},
		},
		"too early": {
			reason:   "250 ms were asked for",
			requests: []string{call(0, "GET", vm, 429, 0, `,"retryAfterMs":250`), call(200, "GET", vm, 200, 1, ""), call(300, "GET", vm, 200, 1, "")},
			want:     []string{"RetryAfterIsKept"},
		},
		"another manager": {
			reason:   "it cannot know which answer the killed one got",
			requests: []string{call(0, "GET", vm, 429, 0, `,"retryAfterMs":250,"tokenID":"a"`), call(200, "GET", vm, 200, 1, `,"tokenID":"b"`)},
		},
		"many reads": {
			reason: "61 reads in three seconds of a lab that is twenty times as fast as Azure",
			requests: func() (out []string) {
				for i := range 61 {
					out = append(out, call(49*i, "GET", vm, 200, 1, ""))
				}
				return out
			}(),
			want: []string{"ReadsAreBounded"},
		},
		"the same body": {
			reason: "Azure has it already",
			requests: []string{call(0, "PUT", vm, 201, 50, ""), call(100, "GET", vm, 200, 1, ""), call(200, "PUT", vm, 200, 50, `,"repeats":true`),
				call(300, "PUT", vm, 200, 50, "")},
			changes: []string{change(20, vm, `{"properties":{"a":1}}`)},
			want:    []string{"UnchangedBodyIsNotSent"},
		},
		"grown, shrunk and grown": {
			reason:   "the first answer shows two VMs, and one has been deleted since",
			requests: []string{call(0, "PUT", vm, 200, 50, ""), call(200, "PUT", vm, 200, 50, `,"repeats":true`)},
			changes:  []string{change(0, vm, `{"sku":{"capacity":1}}`), change(50, vm, `{"sku":{"capacity":2}}`), change(100, vm, `{"sku":{"capacity":1}}`)},
		},
		"answer not read": {
			reason:   "the client had given up, and the manager cannot know that Azure has the body",
			requests: []string{call(0, "PUT", vm, 201, 50, `,"unread":true`), call(200, "PUT", vm, 200, 50, `,"repeats":true`)},
			changes:  []string{change(20, vm, `{"properties":{"a":1}}`)},
		},
		"foreign resource": {
			reason: "its group has no ownership tag", requests: []string{call(200, "DELETE", vm, 202, 10, "")},
			changes: []string{change(0, group, `{}`), change(10, vm, `{}`)}, want: []string{"DeleteHasProof"},
		},
		"own resource": {
			reason: "its group has the ownership tag of the cluster", requests: []string{call(200, "DELETE", vm, 202, 10, "")},
			changes: []string{change(0, group, owned), change(10, vm, `{}`)},
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, held, "", ""))},
		},
		"tag of another cluster": {
			reason: "c1 is none of the clusters", requests: []string{call(200, "DELETE", vm, 202, 10, "")},
			changes: []string{change(0, group, owned), change(10, vm, `{}`)},
			entries: []string{write(0, person, "create", "azureclusters", "c2", cluster(5, held, "", ""))}, want: []string{"DeleteHasProof"},
		},
		"no finalizer": {
			reason: "the finalizer is stored after the group was sent", requests: []string{call(100, "PUT", group, 201, 10, ""), call(300, "PUT", group, 200, 10, "")},
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, "", "", "")),
				write(200, manager, "patch", "azureclusters", "c1", cluster(6, held, "", ""))},
			want: []string{"WriteHasFinalizer"},
		},
		"lost finalizer": {
			reason: "the group of the deleted cluster exists", changes: []string{change(0, group, owned), change(300, group, "")},
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, held, "", "")),
				write(100, person, "delete", "azureclusters", "c1", cluster(6, `,"deletionTimestamp":"x"`+held, "", "")),
				write(200, manager, "patch", "azureclusters", "c1", cluster(7, `,"deletionTimestamp":"x"`, "", ""))},
			want: []string{"FinalizerHoldsResources"},
		},
		"rule gone": {
			reason: "b is another rule afterwards, and c was missing for a time", stable: []int{10, 100},
			changes: []string{change(0, securedBy, rules(`{"name":"a"},{"name":"b","properties":{"priority":1}},{"name":"c"}`)),
				change(20, securedBy, rules(`{"name":"a"}`)), change(50, securedBy, rules(`{"name":"a"},{"name":"b","properties":{"priority":2}},{"name":"c"}`))},
			want: []string{"SecurityRulesStay"},
		},
		"rule gone in another group": {
			reason: "the moments say nothing about a cluster whose resources are in another group", stable: []int{10, 100},
			changes: []string{change(0, other, rules(`{"name":"a"}`)), change(20, other, rules(``)), change(50, other, rules(`{"name":"a"}`))},
		},
		"deleted with others": {
			reason: "the answer to the deletion of a collection does not have the objects",
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, held, "", "")),
				write(10, person, "deletecollection", "azureclusters", "", `{"kind":"AzureClusterList","metadata":{"resourceVersion":"8"}}`),
				write(20, manager, "patch", "azureclusters", "c1", cluster(9, `,"deletionTimestamp":"x"`, "", ""))},
		},
		"spec": {
			reason: "the user changed the location before, and a request that only tries and one without effect change nothing",
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, held, `"location":"a"`, "")),
				// The audit log has this line before the next one, whose change came first.
				write(30, manager, "patch", "azureclusters", "c1", cluster(9, held, `"location":"c"`, "")),
				write(20, person, "patch", "azureclusters", "c1", cluster(8, held, `"location":"b"`, "")),
				strings.Replace(write(40, manager, "patch", "azureclusters", "c1", cluster(9, "", `"location":"d"`, "")), "/x", "/x?dryRun=All", 1),
				write(50, manager, "patch", "azureclusters", "c1", cluster(9, held, `"location":"c"`, "")),
				write(60, person, "patch", "azureclusters", "c1", cluster(12, held, `"location":"e"`, "")),
			},
			want: []string{"SpecIsNotWritten"},
		},
		"metadata only": {
			reason: "the garbage collector gets no spec, and the endpoint is for the manager to write",
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, held, `"location":"a"`, "")),
				write(10, person, "patch", "azureclusters", "c1", `{"kind":"PartialObjectMetadata","metadata":{"resourceVersion":"7","finalizers":["f"]}}`),
				write(20, manager, "patch", "azureclusters", "c1", cluster(9, held, `"location":"a","controlPlaneEndpoint":{"host":"h"}`, "")),
				write(30, person, "patch", "azureclusters", "c2", `{"kind":"PartialObjectMetadata","metadata":{"resourceVersion":"11"}}`)},
		},
		"changed past the API server": {
			reason:   "it is not known what the manager wrote",
			unlogged: []int{10},
			entries: []string{write(0, person, "create", "azureclusters", "c1", cluster(5, held, `"location":"a"`, "")),
				write(20, manager, "patch", "azureclusters", "c1", cluster(9, held, `"location":"b"`, ""))},
		},
		"written without an answer": {
			reason: "the manager that ended may have shown a pause",
			entries: []string{
				write(0, manager, "patch", "azureclusters", "c1", cluster(5, held, "", condition("Paused", "False", 0))),
				strings.Replace(write(10, manager, "patch", "azureclusters", "c1", `{"kind":"Status","metadata":{}}`), `"code":200`, `"code":504`, 1),
				write(20, manager, "patch", "azureclusters", "c1", cluster(9, held, "", condition("Paused", "False", 20))),
			},
		},
		"a new time": {
			reason: "nothing has changed",
			entries: []string{
				write(0, manager, "patch", "azureclusters", "c1", cluster(5, held, "", condition("Paused", "False", 0))),
				write(20, manager, "patch", "azureclusters", "c1", cluster(9, held, "", condition("Paused", "False", 1000))),
			},
			want: []string{"TransitionIsHonest"},
		},
		"created anew": {
			reason: "the second object of the name has another provider ID",
			entries: []string{write(0, person, "create", "azuremachines", "m", `{"kind":"AzureMachine","metadata":{"name":"m","resourceVersion":"5"},"spec":{"providerID":"a"}}`),
				write(10, person, "delete", "azuremachines", "m", `{"kind":"Status","metadata":{}}`),
				write(20, manager, "patch", "azuremachines", "m", `{"kind":"AzureMachine","metadata":{"name":"m","resourceVersion":"8"},"spec":{"providerID":"b"}}`)},
		},
		"other provider ID": {
			reason: "it is changed",
			entries: []string{write(0, person, "create", "azuremachines", "m", `{"kind":"AzureMachine","metadata":{"name":"m","resourceVersion":"5"},"spec":{"providerID":"a"}}`),
				write(20, manager, "patch", "azuremachines", "m", `{"kind":"AzureMachine","metadata":{"name":"m","resourceVersion":"8"},"spec":{"providerID":"b"}}`)},
			want: []string{"ProviderIDStays"},
		},
		"conditions": {
			reason: "two conditions of a type",
			entries: []string{write(0, manager, "patch", "azureclusters", "c1", cluster(5, held, "", `"conditions":[`+
				`{"type":"Ready","status":"True","reason":"Ready","lastTransitionTime":"2026-01-01T00:00:00Z"},`+
				`{"type":"Ready","status":"True","reason":"Ready","lastTransitionTime":"2026-01-01T00:00:00Z"}],"initialization":{"provisioned":true}`))},
			want: []string{"ConditionTypesAreUnique"},
		},
		"secrets": {
			reason: "events of others are not ours",
			entries: []string{write(0, manager, "create", "events", "e1", `{"kind":"Event","metadata":{"resourceVersion":"5"},"message":"the password is a-secret"}`),
				write(0, person, "create", "events", "e2", `{"kind":"Event","metadata":{"resourceVersion":"6"},"message":"a-secret"}`),
				write(0, manager, "patch", "azureclusters", "c1", cluster(7, held, "", `"note":"a-secret"`))},
			want: []string{"SecretsAreNotInEvents", "SecretsAreNotInObjects"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := &logs{requests: readRecords[request](t, tc.requests), changes: readRecords[resourceChange](t, tc.changes),
				auditLogs: []apiServerLog{{entries: readRecords[entry](t, tc.entries)}}, timeScale: 0.05}
			for _, ms := range tc.unlogged {
				recorded.auditLogs[0].unlogged = map[audited][]time.Time{{resource: "azureclusters", name: "c1"}: {moment(ms)}}
			}
			for _, ms := range tc.stable {
				recorded.stable = append(recorded.stable, stableMoment{moment(ms), "g"})
			}
			var got []string
			for _, each := range properties.Check(recorded.history("a-secret")) {
				name, _, _ := strings.Cut(each, ":")
				got = append(got, name)
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// readRecords decodes lines of a log.
func readRecords[T any](t *testing.T, lines []string) (out []T) {
	t.Helper()
	for _, line := range lines {
		var record T
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, record)
	}
	return out
}
