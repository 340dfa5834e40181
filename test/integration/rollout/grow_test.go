package rollout_test

import (
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestOneWriteToGrow makes a pool larger by many VMs: that is one write to Azure, however many there are and however long they take.
func TestOneWriteToGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, three)
		w.startWhole()
		w.rules.endChecks()
		mark := w.Azure.MarkRequests()
		w.settings.replicas = 12
		harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
			func(p *clusterv1.MachinePool) { p.Spec.Replicas = &w.settings.replicas })
		w.waitUntil("the pool is larger", w.isWhole)
		asked := countCalls(w.Azure, mark)
		for what, times := range asked {
			if !strings.HasPrefix(what, "GET ") && (what != "PUT" || times != 1) {
				t.Errorf("%d times %s, want one PUT and nothing else: %s", times, what, formatFigures(asked))
			}
		}
	})
}
