package rollout_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var crashes = flag.Int("crashes", 16, "at how many moments of a rollout the manager is killed")

// three is a pool that is rolled with one VM more.
var three = settings{replicas: 3,
	strategy: infrav1.MachineRollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0))}}

// perRollout is the number of times that the manager is killed in one rollout: each manager continues with the state that the one before
// has left.
const perRollout = 8

// TestKilledDuringRollout kills the manager at moments of rollouts. A moment is a request to Azure or a write to Kubernetes: every
// other time before it is done, and every other time before the manager hears that it is. From rollout to rollout the moments
// move, so that they are all over it. Each rollout ends, and no rule is broken.
//
//	go test ./test/integration/rollout -run Killed -crashes 200
func TestKilledDuringRollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, three)
		m := w.startWhole()
		before := m.CountCalls()
		w.rollPool()
		w.waitUntil("the pool is rolled", w.isWhole)
		acts := m.CountCalls() - before
		w.rules.checkRollout("undisturbed")

		rollouts := max(1, *crashes/perRollout)
		killed, longest := 0, time.Duration(0)
		for rollout := 0; killed < *crashes && rollout < 2*rollouts; rollout++ {
			life, begun := 1+rollout*acts/perRollout/rollouts, time.Now()
			w.rollPool()
			for range perRollout {
				m.KillIn(life, killed%2 == 0)
				if !w.waitDeath(m) {
					break
				}
				m.StopManager()
				m = w.StartProvider()
				killed++
				life = acts / perRollout
			}
			m.KillIn(0, false)
			w.waitUntil("the pool is rolled", w.isWhole)
			w.rules.checkRollout(fmt.Sprintf("rollout %d", rollout))
			longest = max(longest, time.Since(begun))
		}
		if killed < *crashes {
			t.Errorf("the manager was killed %d times", killed)
		}
		t.Logf("a rollout of %d VMs is %d acts, the manager was killed at %d; the longest took %s", w.settings.replicas, acts, killed, longest)
	})
}

// waitDeath waits until the manager is dead or the pool is rolled, and reports whether the manager is dead.
func (w *world) waitDeath(m *virtual.Manager) bool {
	w.t.Helper()
	dead := false
	w.waitUntil("the pool is rolled, or the manager is dead", func() bool {
		select {
		case <-m.Killed:
			dead = true
		default:
		}
		return dead || w.isWhole()
	})
	return dead
}
