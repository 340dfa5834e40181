package metrics_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// servedFigures returns the served series of some metrics.
func servedFigures(t *testing.T, prefix string) map[string]float64 {
	t.Helper()
	out := readFigures(t)
	maps.DeleteFunc(out, func(name string, _ float64) bool { return !strings.HasPrefix(name, prefix) })
	return out
}

// TestObjectStates serves the states of objects. Series of objects that are gone are gone, too.
func TestObjectStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var objects []metrics.ObjectState
		metrics.WatchObjects(func() []metrics.ObjectState { return objects })
		t.Cleanup(func() { metrics.WatchObjects(func() []metrics.ObjectState { return nil }) })
		begun := time.Now()
		<-time.After(time.Hour)
		for _, step := range []struct {
			reason  string
			objects []metrics.ObjectState
			want    map[string]float64
		}{
			{"objects of a kind are counted by state and reason", []metrics.ObjectState{
				{Kind: "AzureMachine", State: "Ready", Reason: "Ready", Since: begun, Drifted: true},
				{Kind: "AzureMachine", State: "Ready", Reason: "Ready", Since: begun.Add(time.Minute)},
				{Kind: "AzureMachine", State: "Stalled", Reason: "QuotaExceeded", Since: begun.Add(50 * time.Minute)},
				{Kind: "AzureCluster", State: "Ready", Reason: "Ready", Since: begun},
			}, map[string]float64{
				`capz_objects{kind="AzureMachine",reason="Ready",state="Ready"}`:                                   2,
				`capz_objects{kind="AzureMachine",reason="QuotaExceeded",state="Stalled"}`:                         1,
				`capz_objects{kind="AzureCluster",reason="Ready",state="Ready"}`:                                   1,
				`capz_object_state_oldest_age_seconds{kind="AzureMachine",reason="Ready",state="Ready"}`:           3600,
				`capz_object_state_oldest_age_seconds{kind="AzureMachine",reason="QuotaExceeded",state="Stalled"}`: 600,
				`capz_object_state_oldest_age_seconds{kind="AzureCluster",reason="Ready",state="Ready"}`:           3600,
				`capz_objects_drifted{kind="AzureMachine"}`:                                                        1,
				`capz_objects_drifted{kind="AzureCluster"}`:                                                        0,
			}},
			{"an object that is gone leaves no series behind", []metrics.ObjectState{
				{Kind: "AzureCluster", State: "Deleting", Reason: "Deleting", Since: begun.Add(59 * time.Minute)},
			}, map[string]float64{
				`capz_objects{kind="AzureCluster",reason="Deleting",state="Deleting"}`:                         1,
				`capz_object_state_oldest_age_seconds{kind="AzureCluster",reason="Deleting",state="Deleting"}`: 60,
				`capz_objects_drifted{kind="AzureCluster"}`:                                                    0,
			}},
			{"an object of which the time is not known has no age", []metrics.ObjectState{
				{Kind: "AzureCluster", State: "Reconciling", Reason: "Ready"},
			}, map[string]float64{
				`capz_objects{kind="AzureCluster",reason="Ready",state="Reconciling"}`:                         1,
				`capz_object_state_oldest_age_seconds{kind="AzureCluster",reason="Ready",state="Reconciling"}`: 0,
				`capz_objects_drifted{kind="AzureCluster"}`:                                                    0,
			}},
			{"nothing is left", nil, map[string]float64{}},
		} {
			objects = step.objects
			if diff := cmp.Diff(step.want, servedFigures(t, "capz_object")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.reason, diff)
			}
		}
	})
}

// TestReadAges records reads of two objects, and serves the age of the older one.
func TestReadAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := metrics.NewReads()
		metrics.WatchReads(reads)
		t.Cleanup(func() { metrics.WatchReads(nil) })
		const kind = "AzureMachine"
		for _, step := range []struct {
			reason string
			do     func(now time.Time)
			want   map[string]float64
		}{
			{"nothing was read", func(time.Time) {}, map[string]float64{}},
			{"both were just read", func(now time.Time) {
				reads.RecordSuccess(kind, "n/a", now)
				reads.RecordSuccess(kind, "n/b", now)
			}, map[string]float64{kind: 0}},
			{"one could not be read", func(now time.Time) {
				reads.RecordSuccess(kind, "n/a", now)
				reads.RecordFailure(kind, "n/b", now)
			}, map[string]float64{kind: 60}},
			{"its age grows", func(now time.Time) { reads.RecordSuccess(kind, "n/a", now) }, map[string]float64{kind: 120}},
			{"an object that was never read has the age of the first attempt",
				func(now time.Time) { reads.RecordFailure("AzureCluster", "n/c", now) }, map[string]float64{kind: 180, "AzureCluster": 0}},
			{"it is read again", func(now time.Time) { reads.RecordSuccess(kind, "n/b", now) }, map[string]float64{kind: 120, "AzureCluster": 60}},
			{"objects that are gone do not count", func(time.Time) {
				reads.Forget(kind, "n/a")
				reads.Forget("AzureCluster", "n/c")
			}, map[string]float64{kind: 60, "AzureCluster": 0}},
		} {
			step.do(time.Now())
			want := map[string]float64{}
			for of, age := range step.want {
				want[fmt.Sprintf("capz_azure_read_oldest_age_seconds{kind=%q}", of)] = age
			}
			if diff := cmp.Diff(want, servedFigures(t, "capz_azure_read")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.reason, diff)
			}
			<-time.After(time.Minute)
		}
	})
}

// TestBudgetShares sends requests in two subscriptions, and serves the shares of the budgets that are left.
func TestBudgetShares(t *testing.T) {
	clock := time.Now()
	budgets := client.NewBudgets(func() time.Time { return clock }, 1)
	metrics.WatchBudgets(budgets)
	t.Cleanup(func() { metrics.WatchBudgets(nil) })
	w := newWorld(t, budgets)
	for range 9 {
		if _, err := w.client.Get(context.Background(), arm.ResourceGroupID(sub, "rg"), "2024-03-01", nil); err == nil {
			t.Fatal("the group exists")
		}
	}
	want := map[string]float64{
		fmt.Sprintf(`capz_azure_request_budget_remaining_ratio{class="reads",subscription=%q}`, strings.ToLower(server.DefaultSubscription)): 216. / 225,
	}
	if diff := cmp.Diff(want, servedFigures(t, "capz_azure_request_budget")); diff != "" {
		t.Errorf("after nine reads (-want +got):\n%s", diff)
	}
	if got := slices.Collect(maps.Keys(servedFigures(t, "capz_azure_request_budget"))); len(got) != 1 {
		t.Errorf("series: %v", got)
	}
}
