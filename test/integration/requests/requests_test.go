package requests_test

import (
	"flag"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var workers = flag.Int("workers", 10, "how many workers the larger of the clusters has that are left alone")

// TestDefaultCluster is the default flavor: three control plane machines and two workers. How many reads it takes depends a little on
// which of its operations got which of Azure's durations: 102 to 126 were seen.
func TestDefaultCluster(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		begun := time.Now()
		w.cluster("c1", 2)
		made := w.since(0)
		w.T.Logf("Ready after %s: %s", time.Since(begun).Round(time.Second), made)
		if made.writes != 24 || made.reads > 160 {
			w.T.Errorf("%d writes and %d reads, want 24 and at most 160", made.writes, made.reads)
		}
		w.quiet(map[string]int{
			"resourceGroups": 6, "virtualNetworks": 6, "virtualNetworks/subnets list": 6, "networkSecurityGroups list": 6, "routeTables": 6, "natGateways": 6,
			"publicIPAddresses list": 6, "loadBalancers": 6, "loadBalancers/inboundNatRules list": 6, "networkInterfaces list": 6,
			"virtualMachines list": 6, "disks list": 6,
		})
	})
}

// TestManyWorkers is left alone for an hour like a cluster with two: what is read does not grow with the machines.
//
//	go test ./test/integration/requests -run Many -workers 200 -v
func TestManyWorkers(t *testing.T) {
	var two, many map[string]int
	for _, test := range []struct {
		workers int
		hour    *map[string]int
	}{{2, &two}, {*workers, &many}} {
		inVirtualTime(t, func(w *world) {
			w.cluster("c1", test.workers)
			*test.hour = w.hour().of
		})
	}
	if diff := cmp.Diff(two, many); diff != "" {
		t.Errorf("reads in an hour with two workers and with %d (-two +many):\n%s", *workers, diff)
	}
}

// TestManagedCluster is AKS with a system pool and another one.
func TestManagedCluster(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		begun := time.Now()
		w.managed("aks1", 2)
		made := w.since(0)
		w.T.Logf("Ready after %s: %s", time.Since(begun).Round(time.Second), made)
		if made.writes != 4 || made.reads > 40 {
			w.T.Errorf("%d writes and %d reads, want 4 and at most 40", made.writes, made.reads)
		}
		w.quiet(map[string]int{
			"resourceGroups": 6, "virtualNetworks": 6, "virtualNetworks/subnets": 6, "managedClusters": 6, "managedClusters/agentPools list": 6,
			"virtualMachineScaleSets list": 6, "virtualMachineScaleSets/virtualMachines list": 12, "managedClusters/listClusterAdminCredential": 6,
		})
	})
}

// hour is what is asked in an hour in which nothing happens.
func (w *world) hour() cost {
	w.T.Helper()
	// What made the last object Ready may still wake others.
	virtual.Wait(nil, time.Minute)
	mark := w.Azure.Mark()
	virtual.Wait(nil, time.Hour)
	asked := w.since(mark)
	// The catalogs of a subscription are read for all of its clusters, when they are too old.
	for _, catalog := range []string{"locations list", "skus list"} {
		if asked.of[catalog] > 6 {
			w.T.Errorf("%s is read %d times in an hour", catalog, asked.of[catalog])
		}
		delete(asked.of, catalog)
	}
	return asked
}

// quiet holds an hour in which nothing happens against what is to be read in it.
func (w *world) quiet(want map[string]int) {
	w.T.Helper()
	got := w.hour()
	if diff := cmp.Diff(want, got.of); diff != "" || got.writes > 0 {
		w.T.Errorf("%d writes and these reads in an hour in which nothing happens (-want +got):\n%s", got.writes, diff)
	}
}
