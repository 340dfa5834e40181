package reliability_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// lease is how long a manager may go on that has lost its lease and does not know: the lease duration of the manager.
const lease = 15 * time.Second

// playWithTwoManagers is a life in which a second manager takes over at the begin of each stage, while the first goes on for a lease.
func playWithTwoManagers(t *testing.T, stages []stage, want []ended) {
	w := newWorld(t, 0)
	former, until := w.manager, time.Time{}
	look := w.Meanwhile
	w.Meanwhile = func() {
		if former != w.manager && time.Now().After(until) {
			former.StopManager()
			former = w.manager
		}
		look()
	}
	for i, stage := range stages {
		mark := w.Azure.MarkRequests()
		w.manager, until = w.startNextManager(), time.Now().Add(lease)
		stage.play(w)
		w.waitUntilStable()
		// The last conditions of the former manager stay until the object is reconciled again.
		for end := time.Now().Add(w.Resync + quiet); time.Now().Before(end) && len(listDifferences(want[i].State, w.ReadState())) > 0; {
			w.waitUntilStable()
		}
		for _, difference := range listDifferences(want[i].State, w.ReadState()) {
			t.Errorf("%s: %s", stage.name, difference)
		}
		for write, often := range w.countAccepted(mark) {
			if most := 2 * max(1, want[i].Writes[write]); often > most {
				t.Errorf("%s: Azure took %s %d times, and two managers may at most %d times", stage.name, write, often, most)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// listDifferences returns the differences between the results of two managers and of one, or of a fault and of none.
// Specs have more generations: both managers write what they see, and the spec of a pool lists its VMs as they come and
// go.
func listDifferences(want, is virtual.State) []string {
	return slices.DeleteFunc(want.ListDifferences(is),
		func(difference string) bool { return strings.Contains(strings.ToLower(difference), "generation: ") })
}

// TestTwoManagers lets two managers work at the begin of each stage, as long as a manager may not know that it has lost its lease; it
// expects the same result as with one.
func TestTwoManagers(t *testing.T) {
	for name, story := range allStories() {
		if name != "AKS" && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, story.stages, nil, 0, nil) })
			synctest.Test(t, func(t *testing.T) { playWithTwoManagers(t, story.stages, undisturbed) })
		})
	}
}

// TestLaggingView lets the manager see changes in Kubernetes, its own included, up to ten seconds late, and once for an object that changed
// several times in between. It expects the same result, with the same writes.
func TestLaggingView(t *testing.T) {
	for name, story := range allStories() {
		if !story.sample && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, story.stages, nil, 0, nil) })
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 10*time.Second)
				for i, stage := range story.stages {
					if w.playAlike(stage, undisturbed[i]); t.Failed() {
						return
					}
				}
			})
		})
	}
}

// clock is one of Azure, which may be ahead of the manager's.
type clock struct {
	store.Real
	ahead atomic.Int64
}

func (c *clock) Now() time.Time { return c.Real.Now().Add(time.Duration(c.ahead.Load())) }

// TestClocks lets the clocks of Azure and of Kubernetes jump by hours against the manager's at the begin of each stage, ahead and back.
// Tokens expire by Azure's clock, so the manager's are refused after a jump ahead. It expects the same result, with the same writes.
func TestClocks(t *testing.T) {
	for name, story := range allStories() {
		if !story.sample && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, story.stages, nil, 0, nil) })
			synctest.Test(t, func(t *testing.T) {
				azure := &clock{}
				w := withManager(virtual.NewWith(t, server.Options{Seed: 7, Clock: azure}))
				for i, stage := range story.stages {
					ahead := []time.Duration{0, 2 * time.Hour, -time.Hour}[i%3]
					if name == "pool" {
						ahead = time.Duration(i) * 2 * time.Hour // Which of its instances is the oldest is by Azure's clock.
					}
					azure.ahead.Store(int64(ahead))
					w.Kubernetes.Ahead.Store(int64(-ahead))
					w.playAlike(stage, undisturbed[i])
					if t.Failed() {
						return
					}
				}
			})
		})
	}
}

// playAlike plays a stage, of which the same has to come with the same writes.
func (w *world) playAlike(stage stage, want ended) {
	w.T.Helper()
	mark := w.Azure.MarkRequests()
	stage.play(w)
	w.waitUntilStable()
	for _, difference := range listDifferences(want.State, w.ReadState()) {
		w.T.Errorf("%s: %s", stage.name, difference)
	}
	if diff := cmp.Diff(want.Writes, w.countAccepted(mark)); diff != "" {
		w.T.Errorf("%s (-want +got):\n%s", stage.name, diff)
	}
}

// restorable are stages in which a user does nothing after the first seconds, so that a backup of that time has all of it.
var restorable = []string{"machine c1-control-plane-0", "machine c1-md-0", "tags and rules", "tags of a machine", "no tags and rules",
	"create", "change"}

// TestRestored restores the objects that Kubernetes held 20 s after the begin of a stage, once the stage is over: the
// manager's later records are lost, and Azure has all resources. Azure reaches the same state, nothing is created
// twice, and every object is Ready.
func TestRestored(t *testing.T) {
	for name, story := range allStories() {
		if name != "AKS" && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { playRestore(t, story.stages) }) })
	}
}

func playRestore(t *testing.T, stages []stage) {
	w, tried := newWorld(t, 0), 0
	defer func() { t.Logf("%d backups put back", tried) }()
	for _, stage := range stages {
		var held virtual.Snapshot
		begin, look := time.Now(), w.Meanwhile
		w.Meanwhile = func() {
			if held == nil && time.Since(begin) >= 20*time.Second {
				held = w.TakeSnapshot()
			}
			look()
		}
		stage.play(w)
		w.waitUntilStable()
		w.Meanwhile = look
		if !slices.Contains(restorable, stage.name) || held == nil {
			continue
		}
		tried++
		now, want, mark := w.TakeSnapshot(), w.ReadAzureState(), w.Azure.MarkRequests()
		w.manager.StopManager()
		w.restoreSnapshot(held)
		w.manager = w.startNextManager()
		for end := time.Now().Add(time.Hour); time.Now().Before(end) && (!w.allReady() || len(want.ListDifferences(w.ReadAzureState())) > 0); {
			virtual.WaitForSignal(w.Kubernetes.Changed, time.Second)
			w.Meanwhile()
		}
		w.waitUntilStable()
		if !w.allReady() {
			t.Errorf("%s: not all objects are Ready an hour after the backup was put back", stage.name)
		}
		for _, difference := range want.ListDifferences(w.ReadAzureState()) {
			t.Errorf("%s: %s", stage.name, difference)
		}
		for write, often := range w.countAccepted(mark) {
			t.Logf("%s: %s %d times", stage.name, write, often)
		}
		if t.Failed() {
			return
		}
		// What Cluster API notes comes again; the story goes on from where it was.
		w.manager.StopManager()
		w.restoreSnapshot(now)
		w.manager = w.startNextManager()
		w.waitUntilStable()
	}
}

func (w *world) restoreSnapshot(held virtual.Snapshot) {
	w.T.Helper()
	w.RestoreSnapshot(held)
	if w.player != nil {
		w.player.Client = w.Kubernetes
	}
}

// allReady reports whether every object of the clusters is Ready as it is stored.
func (w *world) allReady() bool {
	w.T.Helper()
	for _, object := range w.TakeSnapshot() {
		switch of := object.(type) {
		case *clusterv1.Cluster, *clusterv1.Machine, *clusterv1.MachinePool, *infrav1.AzureClusterIdentity:
		case harness.Conditioned:
			if !isCurrent(of) {
				return false
			}
		}
	}
	return true
}
