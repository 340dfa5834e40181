package requests_test

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestDefaultCluster is the default flavor: three control plane machines and two workers.
func TestDefaultCluster(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		begun := time.Now()
		w.cluster("c1", 2)
		made := w.since(0)
		w.T.Logf("Ready after %s: %s", time.Since(begun), made)
		virtual.Wait(nil, time.Minute)
		mark := w.Azure.Mark()
		virtual.Wait(nil, time.Hour)
		w.T.Logf("an hour: %s", w.since(mark))
	})
}
