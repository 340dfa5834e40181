// Package fleet_test measures fleets in virtual time: many clusters in several subscriptions. Counts of requests are exact.
// Processor time counts nothing, so queues show only what waits for Azure.
package fleet_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/queue"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var (
	clusters      = flag.Int("clusters", 12, "how many clusters the fleet has")
	machines      = flag.Int("machines", 1, "how many machines each cluster has, of which the first is of the control plane")
	subscriptions = flag.Int("subscriptions", 4, "in how many subscriptions the clusters are")
	workers       = flag.Int("workers", 10, "how many objects of each kind the manager reconciles at once")
)

// fleet is a scenario whose requests are counted when they end, because the simulator does not keep those of large fleets.
type fleet struct {
	*virtual.Scenario
	subscriptions []string
	// namespaces are those of the teams, one for each subscription.
	namespaces []string
	requests   counter
}

// play plays a story with a fleet.
func play(t *testing.T, subscriptions int, story func(f *fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{}
		for i := range subscriptions {
			f.subscriptions = append(f.subscriptions, fmt.Sprintf("00000000-0000-0000-0000-%012d", i+1))
		}
		f.Scenario = virtual.NewWith(t, server.Options{Seed: 7, Subscriptions: f.subscriptions, RequestLog: &f.requests})
		f.addTeams()
		story(f)
	})
}

// addTeams makes a namespace with an identity for the team of each subscription. The first team has those of the scenario.
func (f *fleet) addTeams() {
	f.T.Helper()
	f.namespaces = []string{f.Namespace}
	for i := range f.subscriptions[1:] {
		f.namespaces = append(f.namespaces, fmt.Sprintf("team-%d", i+1))
		f.enterTeam(i + 1)
		f.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}})
		f.CreateIdentity()
	}
	f.enterTeam(0)
}

// enterTeam lets the test create and read objects in the namespace of the team that has a cluster. The teams take turns.
func (f *fleet) enterTeam(cluster int) { f.Namespace = f.namespaces[cluster%len(f.namespaces)] }

// startManager starts a manager with the queues of a release and as many workers for each kind as the flag sets. It reconciles the objects
// with this value of the watch label, "" for all, and uses a share of Azure's limits.
func (f *fleet) startManager(watchFilter string, share float64) *virtual.Manager {
	f.T.Helper()
	f.RequestShare = share
	return f.StartManager(func(ctx context.Context, m *virtual.Manager) error {
		m.Services.WatchFilter = watchFilter
		return virtual.RegisterControllersWith(ctx, m, controller.Options{MaxConcurrentReconciles: *workers, NewQueue: queue.New(engine.SystemClock{})})
	})
}

// createCluster applies a cluster. The subscriptions take turns.
func (f *fleet) createCluster(i int, name string) {
	f.T.Helper()
	f.ApplyNetwork(name, func(c *infrav1.AzureCluster) {
		c.Spec.SubscriptionID = f.subscriptions[i%len(f.subscriptions)]
	})
}

// addMachines waits for the network of a cluster and applies its machines.
func (f *fleet) addMachines(name string, count int) {
	f.T.Helper()
	f.waitEach(&infrav1.AzureCluster{}, name)
	f.CopyInfrastructure(name)
	for i := range count {
		role := harness.Worker
		if i == 0 {
			role = harness.ControlPlane
		}
		f.ApplyMachine(name, fmt.Sprintf("%s-%d", name, i), role)
	}
}

// waitEach waits until an object is Ready. It looks every second: after each event of a fleet it would look all the time.
func (f *fleet) waitEach(object harness.Conditioned, name string) {
	f.T.Helper()
	ready := virtual.ObjectMatches(f.Scenario, object, name, func(o harness.Conditioned) bool { return harness.IsReady(o) })
	for end := time.Now().Add(6 * time.Hour); !ready(); virtual.WaitForSignal(nil, time.Second) {
		if time.Now().After(end) {
			f.T.Fatalf("%T %s is not Ready after 6 hours: %v", object, name, object.GetConditions())
		}
	}
}

// TestFleet makes a fleet, and leaves it alone for an hour: nothing is refused, nothing is written then, and clusters of one subscription
// share their reads.
//
//	go test ./test/virtual/fleet -run TestFleet -clusters 40 -v
func TestFleet(t *testing.T) {
	play(t, *subscriptions, func(f *fleet) {
		f.startManager("", 1)
		before := readQueueMetrics(t)
		begun, used := time.Now(), processorTime()
		for i := range *clusters {
			f.enterTeam(i)
			f.createCluster(i, clusterName(i))
		}
		for i := range *clusters {
			f.enterTeam(i)
			f.addMachines(clusterName(i), *machines)
		}
		for i := range *clusters {
			f.enterTeam(i)
			for j := range *machines {
				f.waitEach(&infrav1.AzureMachine{}, fmt.Sprintf("%s-%d", clusterName(i), j))
			}
		}
		made := f.requests.take()
		t.Logf("%d clusters of %d machines in %d subscriptions: all Ready after %s, with %s; %s; %s of processor time, heap %d MiB",
			*clusters, *machines, *subscriptions, time.Since(begun), made, readQueueMetrics(t).difference(before), processorTime()-used, heapMiB())
		// The hour before reads what has not been read since the creation.
		virtual.WaitForSignal(nil, time.Hour)
		f.requests.take()
		before = readQueueMetrics(t)
		virtual.WaitForSignal(nil, time.Hour)
		quiet := f.requests.take()
		t.Logf("an hour without changes: %s; %s; heap %d MiB", quiet, readQueueMetrics(t).difference(before), heapMiB())
		if made.throttled > 0 || quiet.throttled > 0 || quiet.writes > 0 {
			t.Errorf("%d and %d answers 429, and %d writes in an hour without changes; want none", made.throttled, quiet.throttled, quiet.writes)
		}
		// In each subscription two lists every ten minutes, and eight once in the hour. With more clusters or machines, lists have several
		// pages. An answer about sizes or regions serves for ten minutes, to the next reconciliation that needs it: whether that is the
		// next one of the same object depends on how long the answer took.
		onePage := *clusters <= 100 && *clusters**machines <= 200**subscriptions
		if want := 20 * *subscriptions; onePage && quiet.reads-quiet.offers != want {
			t.Errorf("%d reads in an hour without changes besides sizes and regions, want %d in %d subscriptions",
				quiet.reads-quiet.offers, want, *subscriptions)
		}
		if most := 2 * 6 * *subscriptions; onePage && (quiet.offers == 0 || quiet.offers > most) {
			t.Errorf("%d reads of sizes and regions in an hour without changes, want at most %d: one of each in ten minutes", quiet.offers, most)
		}
	})
}

func clusterName(i int) string { return fmt.Sprintf("c%04d", i) }

func heapMiB() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc >> 20
}
