package requests_test

import (
	"testing"
	"time"
)

// TestDefaultCluster is the default flavor: three control plane machines and two workers. How many reads it takes depends a little on
// which of its operations got which of Azure's durations: 102 to 126 were seen.
func TestDefaultCluster(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		begun := time.Now()
		w.Cluster("c1", 2)
		made := w.since(0)
		w.T.Logf("Ready after %s: %s", time.Since(begun).Round(time.Second), made)
		if made.writes != 24 || made.reads > 160 {
			w.T.Errorf("%d writes and %d reads, want 24 and at most 160", made.writes, made.reads)
		}
	})
}

// TestManagedCluster is AKS with a system pool and another one.
func TestManagedCluster(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		begun := time.Now()
		w.Managed("aks1", 2)
		made := w.since(0)
		w.T.Logf("Ready after %s: %s", time.Since(begun).Round(time.Second), made)
		if made.writes != 4 || made.reads > 40 {
			w.T.Errorf("%d writes and %d reads, want 4 and at most 40", made.writes, made.reads)
		}
	})
}
