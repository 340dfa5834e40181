package managed_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// leastSnippets is how many specs the book shows at least.
const leastSnippets = 35

// snippetResyncs is the number of resyncs of a snippet's cluster that is in order: three show values that are written in turns. Other
// tests resync clusters with many settings more often.
const snippetResyncs = 3

// TestBook makes a cluster of every snippet of the pages about AKS and waits until it is in order. Azure then has the values of the
// snippet, and some resyncs write nothing, neither to Azure nor to Kubernetes.
func TestBook(t *testing.T) {
	t.Parallel()
	all := readSnippets(t)
	if len(all) < leastSnippets {
		t.Errorf("the book has %d snippets, want %d at least", len(all), leastSnippets)
	}
	var quietSpecs, reads atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d specs were quiet for %d resyncs each, with %d reads in all", quietSpecs.Load(), snippetResyncs, reads.Load())
	})
	used := map[string]bool{}
	for _, s := range all {
		key := s.page + "/" + s.heading
		row, ok := rows[key]
		if !ok || used[key] {
			t.Errorf("%s: a snippet has a heading and a row of its own; %q has none", s.place, key)
			continue
		}
		used[key] = true
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			play(t, func(story *virtual.Scenario) { reads.Add(int64(s.runSnippet(story, row))) })
			if !t.Failed() {
				quietSpecs.Add(1)
			}
		})
	}
	for key := range rows {
		if !used[key] {
			t.Errorf("no snippet has the heading of the row %q", key)
		}
	}
}

// runSnippet makes the cluster of the snippet and returns how often Azure was asked while it was quiet.
func (s snippet) runSnippet(story *virtual.Scenario, row row) int {
	t, stage := story.T, story.Stage
	if row.bring != nil {
		row.bring(stage)
	}
	before := stage.Azure.State()
	brought := stage.Azure.MarkRequests()
	stage.CreateIdentity()
	asked := s.applySnippet(t, stage)
	manager := story.StartProvider()
	stage.WaitManagedClusterReady("c1", asked...)
	mark := stage.Azure.MarkRequests()
	stage.QuietManaged(manager, snippetResyncs)
	reads := len(stage.Azure.RequestsSince(mark)) - len(stage.Azure.WritesSince(mark))

	written := map[string]bool{}
	for _, write := range harness.DropKubeconfigReads(stage.Azure.WritesSince(brought)) {
		if written[write] {
			t.Errorf("twice: %s", write)
		}
		written[write] = true
	}
	row.checkValues(t, stage)
	if row.untouched {
		for _, resource := range before {
			id := strings.TrimPrefix(fmt.Sprint(resource["id"]), "/subscriptions/"+stage.Azure.SubscriptionID+"/")
			for _, write := range harness.DropKubeconfigReads(stage.Azure.WritesSince(brought)) {
				if _, path, _ := strings.Cut(write, " "); strings.EqualFold(path, strings.Replace(id, "/providers/", "/", 1)) {
					t.Errorf("%s, although it existed before and matches the manifest", write)
				}
			}
		}
	}
	return reads
}

// checkValues compares the values in Azure with the row.
func (r row) checkValues(t testing.TB, stage *harness.Stage) {
	t.Helper()
	version := clusterVersion
	if r.preview {
		version = previewVersion
	}
	group := r.group
	if group == "" {
		group = "c1"
	}
	if len(r.cluster)+len(r.pools)+len(r.others) == 0 {
		t.Error("the row lacks the values that Azure is to show")
	}
	cluster := "resourceGroups/" + group + "/providers/Microsoft.ContainerService/managedClusters/c1"
	compareValues(t, stage, cluster, version, r.cluster)
	for name, want := range r.pools {
		compareValues(t, stage, cluster+"/agentPools/"+name, version, want)
	}
	for path, want := range r.others {
		compareValues(t, stage, path, versionOf(path), want)
	}
}

// versionOf returns an api-version of a resource that is not AKS's own.
func versionOf(path string) string {
	switch {
	case strings.Contains(path, "/Microsoft.Network/"):
		return networkVersion
	case strings.Contains(path, "/fleets/"):
		return fleetVersion
	case strings.Contains(path, "/extensions/"):
		return extensionVersion
	default:
		return groupVersion
	}
}

// compareValues compares values of a resource with the wanted ones.
func compareValues(t testing.TB, stage *harness.Stage, path, version string, want values) {
	t.Helper()
	status, resource := stage.Azure.GetResource(path, version)
	if status != 200 {
		t.Errorf("GET %s: %d %v", path, status, resource)
		return
	}
	got := values{}
	for key := range want {
		got[key] = formatPlain(harness.FindValue(resource, key))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		raw, _ := json.Marshal(resource)
		t.Errorf("%s (-want +got):\n%s\n%s", path, diff, raw)
	}
}

// formatPlain returns a value as JSON, without quotes; "" for none.
func formatPlain(value any) string {
	if value == nil {
		return ""
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return strings.Trim(string(raw), `"`)
}
