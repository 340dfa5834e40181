package rollout_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var quietVMs = flag.Int("quiet-vms", 40, "how many VMs the larger of the pools has that are left alone")

// TestQuiet counts what pools cost of which nothing changes for an hour: a large one costs what one of three VMs does, but for the
// pages of the list of its VMs. Nothing is written, to Azure or to Kubernetes.
//
//	go test ./test/integration/rollout -run Quiet -quiet-vms 1000
func TestQuiet(t *testing.T) {
	small, large := countQuietHour(t, 3), countQuietHour(t, *quietVMs)
	// The catalog of VM sizes is read for all pools of a region, and its pages here are as small as those of VMs.
	delete(small, "GET skus")
	delete(large, "GET skus")
	t.Logf("in an hour, 3 VMs: %s; %d VMs: %s", formatFigures(small), *quietVMs, formatFigures(large))
	resyncs, pages := small["GET virtualMachines"], (*quietVMs+pageSize()-1)/pageSize()
	if resyncs < 5 || resyncs > 7 {
		t.Errorf("%d lists of VMs in an hour of looks every ten minutes", resyncs)
	}
	want := small
	want["GET virtualMachines"] = resyncs * pages
	// Each VM has two disks, and the list of all resources has pages of the same size.
	want["GET resources"] = resyncs * (2 * pages)
	if diff := cmp.Diff(want, large); diff != "" {
		t.Errorf("a large pool costs what a small one does, but for %d pages (-want +got):\n%s", pages, diff)
	}
}

// pageSize is such that a list of the larger pool has three pages; Azure's own pages are not documented.
func pageSize() int { return *quietVMs*2/5 + 1 }

// countQuietHour makes a pool and counts the requests to Azure in an hour in which nothing happens.
func countQuietHour(t *testing.T, replicas int) (asked map[string]int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := three
		s.replicas, s.pageSize = int32(replicas), pageSize()
		w := newWorld(t, s)
		m := w.startWhole()
		// The events that made the last VM Ready may still wake the pool.
		virtual.WaitForSignal(nil, time.Minute)
		mark, acts := w.Azure.MarkRequests(), m.CountCalls()
		virtual.WaitForSignal(nil, time.Hour)
		asked = countCalls(w.Azure, mark)
		sum := 0
		for _, n := range asked {
			sum += n
		}
		// A token is renewed within the hour, which is no request to Resource Manager.
		if acts = m.CountCalls() - acts - sum; acts > 1 {
			t.Errorf("%d writes to Kubernetes in an hour in which nothing happened", acts)
		}
		if slices.ContainsFunc(slices.Collect(maps.Keys(asked)), func(what string) bool { return !strings.HasPrefix(what, "GET ") }) {
			t.Errorf("nothing happened, but Azure was written to: %s", formatFigures(asked))
		}
	})
	return asked
}
