package scenario

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// Moments at which the manager is killed are numbers of PUTs, so a seed names the same moments every time.
const (
	killSeed = 20260101
	kills    = 5
)

// TestManagerKilled ends our manager with SIGKILL at five moments of a cluster's creation. What Azure was doing goes on
// without it; the manager that comes back must find it, and make nothing a second time.
func TestManagerKilled(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")

	// A few PUTs of the last workers come after these.
	const putsOfFlavor = 16
	random := rand.New(rand.NewPCG(killSeed, 0))
	moments := random.Perm(putsOfFlavor)[:kills]
	slices.Sort(moments)

	created := l.startCreate("survivor", "--control-plane-machines", "1", "--worker-machines", "3")
	for _, moment := range moments {
		l.awaitPuts(moment+1, created)
		l.killManager()
		seen := len(l.clusterPUTs())
		l.runProgram("lab", "up", "--bare")
		t.Logf("killed after PUT %d (wanted %d)", seen, moment+1)
	}
	if err := <-created; err != nil {
		t.Fatal(err)
	}
	l.awaitNodes("survivor", l.workloadKubeconfig("survivor"), 4)
	l.expectMachinesOnly()
	l.expectNoRepeats()

	// Coming back to a cluster that is Ready, the manager reads everything once and finds nothing to do.
	before := l.awaitEndOfWrites(isAny)
	l.killManager()
	l.runProgram("lab", "up", "--bare")
	l.expectQuietSince(before)
	l.runProgram("kubectl", "wait", "azureclusters,azuremachines", "--all", "--for=condition=Ready", "--timeout", patience.String())

	l.deleteCluster("survivor")
	l.expectNothingLeft()
}

// startCreate creates a cluster without waiting for it; the channel gets the outcome.
func (l *lab) startCreate(name string, args ...string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := l.tryProgram("lab", append([]string{"create", name}, args...)...)
		done <- err
	}()
	return done
}

// awaitPuts waits for the n-th PUT, closely, because the moment counts.
func (l *lab) awaitPuts(n int, created <-chan error) {
	l.t.Helper()
	deadline, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(l.clusterPUTs()) < n {
		select {
		case err := <-created:
			l.t.Fatalf("the cluster was created with %d PUTs, before PUT %d: %v", len(l.clusterPUTs()), n, err)
		case <-deadline.Done():
			l.t.Fatalf("PUT %d was not sent within %s, only %d", n, patience, len(l.clusterPUTs()))
		case <-tick.C:
		}
	}
}

// expectNoRepeats compares the PUTs of the request log with those of a creation without disturbance: each resource is
// written once. A kill can interrupt a PUT whose answer is lost, and an accepted request may be sent once more.
func (l *lab) expectNoRepeats() {
	l.t.Helper()
	count := map[string]int{}
	for _, r := range l.clusterPUTs() {
		count[r.resourceID()]++
	}
	repeated := 0
	for id, n := range count {
		if n > 1 {
			repeated += n - 1
			l.t.Logf("%d PUTs of %s", n, id)
		}
		if n > 1 && strings.Contains(id, "/virtualmachines/") {
			l.t.Errorf("%d PUTs of the virtual machine %s, want 1", n, id)
		}
	}
	if repeated > kills {
		l.t.Errorf("%d PUTs were repeated after %d kills, want at most one for each kill", repeated, kills)
	}
	l.t.Logf("%d resources, %d PUTs", len(count), len(count)+repeated)
}
