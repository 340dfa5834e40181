package duplicates_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// long is longer than all retries of refused objects.
const long = 30 * time.Minute

// writes are the writes to Azure since the last call of take.
type writes struct {
	mu   sync.Mutex
	list []string
}

func (w *writes) record(request *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// AKS answers a POST with the kubeconfig, which changes nothing.
	if request.Method != http.MethodPost {
		w.list = append(w.list, request.Method+" "+request.URL.Path)
	}
}

func (w *writes) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.list
	w.list = nil
	return out
}

// play plays a story with a provider.
func play(t *testing.T, story func(s *virtual.Scenario, written *writes)) {
	t.Helper()
	virtual.PlayWith(t, virtual.Options{Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		written := &writes{}
		s.Written, s.EventRecorded = written.record, s.RecordEvent
		s.StartProvider()
		story(s, written)
	})
}

// requireNoWrites fails if there were writes to Azure.
func requireNoWrites(s *virtual.Scenario, written *writes, when string) {
	s.T.Helper()
	if list := written.take(); len(list) > 0 {
		s.T.Errorf("writes to Azure %s:\n%s", when, strings.Join(list, "\n"))
	}
}

// requireReady fails unless the condition Ready of a pool is True, or False with all texts.
func requireReady(s *virtual.Scenario, pool harness.Conditioned, name string, refused ...string) {
	s.T.Helper()
	s.ReadObject(pool, name)
	ready := harness.FindCondition(pool, infrav1.ReadyCondition)
	want := metav1.ConditionTrue
	if len(refused) > 0 {
		want = metav1.ConditionFalse
	}
	if ready.Status != want || slices.ContainsFunc(refused, func(text string) bool { return !strings.Contains(ready.Message, text) }) {
		s.T.Errorf("%s: Ready is %s, %s: %q, want %s with %q", name, ready.Status, ready.Reason, ready.Message, want, refused)
	}
}

// deletePool deletes a pool with its MachinePool, and returns its events.
func deletePool(s *virtual.Scenario, kind string, pool client.Object, name string) string {
	s.T.Helper()
	pool.SetName(name)
	s.DeleteObjects(virtual.MachinePool(name), pool)
	s.WaitUntilGone(pool)
	return strings.Join(s.ListEvents(kind, name), "\n")
}
