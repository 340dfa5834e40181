package requests_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var mass = flag.Int("mass", 100, "how many machines are made at once")

// TestMassCreation makes many machines at once: the provider never exceeds Azure's write limit of a principal, and uses it as long as
// work waits. A machine of another cluster that is created meanwhile need not wait for the many, and a machine that is deleted meanwhile
// is gone in the end.
//
//	go test ./test/integration/requests -run MassCreation -mass 1000 -v
func TestMassCreation(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		for _, name := range []string{"large", "small"} {
			azureCluster := w.AzureCluster(name)
			defaults.FillAzureCluster(azureCluster)
			w.CreateCluster(azureCluster)
			w.WaitReady(&infrav1.AzureCluster{}, name)
			w.CopyInfrastructure(name)
		}
		alone := w.measureTime(func() { w.ApplyMachine("small", "alone", harness.Worker); w.WaitMachineProvisioned("alone") })
		w.ApplyMachine("small", "goes", harness.Worker)
		w.WaitMachineProvisioned("goes")
		virtual.WaitForSignal(nil, 10*time.Minute)

		mark, begun := w.Azure.MarkRequests(), time.Now()
		for i := range *mass {
			w.ApplyMachine("large", fmt.Sprintf("large-%d", i), harness.Worker)
		}
		virtual.WaitForSignal(nil, time.Duration(*mass)*time.Second/30)
		w.ApplyMachine("small", "comes", harness.Worker)
		goes, azure := &clusterv1.Machine{}, &infrav1.AzureMachine{}
		goes.Name, azure.Name = "goes", "goes"
		w.DeleteObjects(goes, azure)
		among := w.measureTime(func() { w.WaitMachineProvisioned("comes") })
		for i := range *mass {
			w.pollUntil("the machine", virtual.ObjectMatches(w.Scenario, &infrav1.AzureMachine{}, fmt.Sprintf("large-%d", i),
				func(m *infrav1.AzureMachine) bool { return harness.IsReady(m) }))
		}
		w.WaitUntilGone(azure)
		took := time.Since(begun)
		share, throttled := w.measureShare(mark)
		t.Logf("%d machines after %s, %d answers 429; a machine of another cluster after %s, alone after %s", *mass, took, throttled, among,
			alone)
		if throttled > 0 {
			t.Errorf("%d requests were answered 429", throttled)
		}
		// Fewer are over before it matters.
		if *mass >= 500 {
			t.Logf("%.0f %% of the write budget was used while work waited", 100*share)
			if share < 0.85 {
				t.Error("want 85 %")
			}
		}
		// Azure's time for one machine is random, so the time for this one is left out.
		if own := w.sumWork("/comes"); among > own+time.Minute {
			t.Errorf("a machine of another cluster took %s among %d, of which Azure was at work for %s; one took %s alone", among, *mass, own, alone)
		}
	})
}

// sumWork returns how long Azure was at work for resources whose IDs have a text.
func (w *world) sumWork(text string) (all time.Duration) {
	for _, operation := range w.Azure.Operations() {
		if strings.Contains(operation.ResourceID, text) && !operation.Ended.IsZero() {
			all += operation.Ended.Sub(operation.Started)
		}
	}
	return all
}

// measureTime returns how long something takes.
func (w *world) measureTime(what func()) time.Duration {
	begun := time.Now()
	what()
	return time.Since(begun)
}

// measureShare is the part of Azure's write budget that was used from when the principal's bucket was empty until the last writes were sent, or
// that of Microsoft.Network in five minutes where that is more, and how many requests were answered 429.
func (w *world) measureShare(mark harness.Mark) (used float64, throttled int) {
	w.T.Helper()
	var writes []time.Time
	network := 0.0
	for _, request := range w.Azure.Requests()[mark:] {
		if request.Status == http.StatusTooManyRequests {
			throttled++
		}
		if request.Method != http.MethodPut && request.Method != http.MethodPatch {
			continue
		}
		if writes = append(writes, request.Time); strings.Contains(request.URL, "/Microsoft.Network/") &&
			request.Time.Sub(writes[0]) < 5*time.Minute {
			network++
		}
	}
	// Azure's bucket: 200, and 10 more in each second. Microsoft.Network takes 1,000.
	const bucket, rate, rest = 200, 10, 20
	if len(writes) < 180 {
		w.T.Fatalf("%d writes do not empty the provider's part of the bucket", len(writes))
	}
	if len(writes) < bucket+3*rest {
		return 0, throttled
	}
	from, to := writes[bucket], writes[len(writes)-rest]
	return max(network/1000, float64(len(writes)-rest-bucket)/(rate*to.Sub(from).Seconds())), throttled
}
