package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2/types"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// TestRead records a report of three specs, one of which did not run, beside an older result.
func TestRead(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	spec := func(flavor string, state types.SpecState, message string) types.SpecReport {
		return types.SpecReport{
			LeafNodeType: types.NodeTypeIt, State: state, StartTime: begin, RunTime: 90 * time.Second,
			ContainerHierarchyLabels: [][]string{{"spec=quick-start", "flavor=" + flavor, "cloud=lab"}},
			Failure:                  types.Failure{Message: message},
			SpecEvents: types.SpecEvents{{
				SpecEventType: types.SpecEventByStart, Message: "Creating a cluster", TimelineLocation: types.TimelineLocation{Time: begin.Add(2500 * time.Millisecond)},
			}},
		}
	}
	raw, err := json.Marshal([]types.Report{{SpecReports: types.SpecReports{
		spec("default", types.SpecStatePassed, ""), spec("aks", types.SpecStateFailed, "no nodes\ndetails"), spec("spot", types.SpecStateSkipped, ""),
		{LeafNodeType: types.NodeTypeSynchronizedBeforeSuite, State: types.SpecStatePassed},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	report, file := filepath.Join(folder, "report.json"), filepath.Join(t.TempDir(), "results.json")
	if err := os.WriteFile(report, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	older := Result{Spec: "quick-start", Flavor: "default", Cloud: catalog.Lab, Commit: "older"}
	if err := Save(file, []Result{older}); err != nil {
		t.Fatal(err)
	}
	runs, err := ReadAll(folder, catalog.Lab, "abc")
	if err != nil {
		t.Fatal(err)
	}
	if err := Save(file, runs); err != nil {
		t.Fatal(err)
	}
	got, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Spec: "quick-start", Flavor: "aks", Cloud: "lab", Date: "2026-01-02", Commit: "abc", Seconds: 90, Failure: "no nodes"},
		{Spec: "quick-start", Flavor: "default", Cloud: "lab", Date: "2026-01-02", Commit: "abc", Passed: true, Seconds: 90},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(filepath.Join(filepath.Dir(file), "logs", "quick-start-default-lab.log"))
	if diff := cmp.Diff("   2.5  Creating a cluster\n", string(log)); err != nil || diff != "" {
		t.Errorf("log (-want +got): %v\n%s", err, diff)
	}
}

func TestRow(t *testing.T) {
	c := catalog.Case{Spec: "s", Flavor: "f", Excluded: map[string]string{catalog.Lab: "needs pods"}}
	for name, tc := range map[string]struct {
		reason, cloud, want string
		runs                []Result
	}{
		"never":    {reason: "a spec that never ran must not look as if it had", cloud: catalog.Azure, want: "| s | f | Azure | never run on Azure | | | | |\n"},
		"excluded": {reason: "the row has the reason", cloud: catalog.Lab, want: "| s | f | lab | excluded: needs pods | | | | |\n"},
		"passed": {
			reason: "everything about the run", cloud: catalog.Azure, runs: []Result{{Spec: "s", Flavor: "f", Cloud: catalog.Azure, Date: "d", Commit: "c", Passed: true, Seconds: 9}},
			want: "| s | f | Azure | passed | 9 | d | c | [log](../../test/e2e/results/logs/s-f-azure.log) |\n",
		},
		"failed": {
			reason: "the failure does not break the table", cloud: catalog.Azure, runs: []Result{{Spec: "s", Flavor: "f", Cloud: catalog.Azure, Failure: "a|b"}},
			want: "| s | f | Azure | **failed**: a\\|b | 0 |  |  | [log](../../test/e2e/results/logs/s-f-azure.log) |\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, row(tc.runs, c, tc.cloud)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWithoutPaths records a failure and a step that name files of the machine.
func TestWithoutPaths(t *testing.T) {
	runs := []Result{{Failure: "open /home/me/source/out/e2e/lab: no such file", Steps: []string{"   1.0  reading /home/me/source/bin/lab"}}}
	want := []Result{{Failure: "open out/e2e/lab: no such file", Steps: []string{"   1.0  reading bin/lab"}}}
	if diff := cmp.Diff(want, WithoutPaths(runs, "/home/me/source")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if runs[0].Steps[0] != "   1.0  reading /home/me/source/bin/lab" {
		t.Error("the given results were changed")
	}
}
