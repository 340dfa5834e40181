package requests_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var (
	workers = flag.Int("quiet-workers", 8, "how many workers the larger of the clusters has that are left alone")
	page    = flag.Int("quiet-page", 1000,
		"how many resources a page of Azure's lists has; with fewer there are as many pages as of larger clusters")
	many = flag.Int("quiet-clusters", 3, "how many clusters of three machines there are where there are many")
)

// TestQuietHour leaves a self-managed and an AKS cluster alone. Resources that the list of all resources shows completely, disks and the
// scale sets of pools, were read in the hour before.
func TestQuietHour(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.BuildCluster("c1", 2)
		w.BuildAKSCluster("aks1", 2)
		w.countHour()
		w.checkQuiet(map[string]int{
			"resources list": 6, "virtualMachines list": 6,
			"resourceGroups list": 1, "virtualNetworks list": 1, "networkSecurityGroups list": 1, "routeTables": 1, "natGateways": 1,
			"publicIPAddresses list": 1, "loadBalancers": 1, "networkInterfaces list": 1,
			"managedClusters": 6, "virtualMachineScaleSets/virtualMachines list": 2, "managedClusters/listClusterAdminCredential": 1,
		})
	})
}

// TestManyWorkers leaves a cluster with many workers alone for an hour, like a cluster with two: the number of reads does not grow with
// the machines, but for pages of a thousand.
//
//	go test ./test/integration/requests -run ManyWorkers -quiet-workers 27 -quiet-page 15 -v
func TestManyWorkers(t *testing.T) {
	playPaged(t, func(w *world) {
		w.StartProvider()
		w.BuildCluster("c1", *workers)
		w.countHour()
		if *page < 1000 {
			w.T.Logf("%d workers: %s", *workers, w.countHour())
			return
		}
		w.checkQuiet(map[string]int{
			"resources list": 6, "virtualMachines list": 6,
			"resourceGroups": 1, "virtualNetworks": 1, "networkSecurityGroups list": 1, "routeTables": 1, "natGateways": 1,
			"publicIPAddresses list": 1, "loadBalancers": 1, "networkInterfaces list": 1,
		})
	})
}

// TestManyClusters is left alone for an hour like one cluster, but for pages, and so is it after a restart: what all of them have is read
// in lists of the subscription.
//
//	go test ./test/integration/requests -run ManyClusters -quiet-clusters 10 -quiet-page 50 -v
func TestManyClusters(t *testing.T) {
	playPaged(t, func(w *world) {
		manager := w.StartProvider()
		w.createSmallClusters(*many)
		w.countHour()
		hour := func() {
			if *page < 1000 {
				w.T.Logf("%d clusters: %s", *many, w.countHour())
				return
			}
			w.checkQuiet(map[string]int{
				"resources list": 6, "virtualMachines list": 6,
				"resourceGroups list": 1, "virtualNetworks list": 1, "networkSecurityGroups list": 1, "routeTables list": 1, "natGateways list": 1,
				"publicIPAddresses list": 1, "loadBalancers list": 1, "networkInterfaces list": 1,
			})
		}
		hour()
		manager.StopManager()
		mark := w.Azure.MarkRequests()
		w.StartProvider()
		virtual.WaitForSignal(nil, 30*time.Second)
		restarted := w.countSince(mark)
		w.T.Logf("after a restart: %s", restarted)
		// Everything is read once, in lists of the subscription; those of the first cluster came before there was a second one.
		if restarted.writes > 0 || restarted.reads-restarted.of["skus list"] > 30 {
			w.T.Errorf("%d writes and %d reads after a restart with %d clusters", restarted.writes, restarted.reads, *many)
		}
		// Resources that were read while the first list of all resources was under way are read once more.
		if first := w.countHour(); first.writes > 0 || first.of["disks list"] > 1 || first.of["disks"] > 0 {
			w.T.Errorf("the hour after a restart: %s", first)
		}
		hour()
	})
}

// playPaged is unmanaged with pages of their size.
func playPaged(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(&world{Scenario: virtual.NewWith(t, server.Options{Seed: 7, PageSize: *page})})
	})
}

// createSmallClusters makes so many clusters of a control plane machine and two workers, all at once.
func (w *world) createSmallClusters(count int) {
	w.T.Helper()
	name := func(i int) string { return fmt.Sprintf("c%d", i) }
	for i := range count {
		azureCluster := w.AzureCluster(name(i))
		defaults.FillAzureCluster(azureCluster)
		w.CreateCluster(azureCluster)
	}
	var machines []string
	for i := range count {
		w.WaitReady(&infrav1.AzureCluster{}, name(i))
		w.CopyInfrastructure(name(i))
		for j, role := range []harness.Role{harness.ControlPlane, harness.Worker, harness.Worker} {
			machine := fmt.Sprintf("%s-%d", name(i), j)
			w.ApplyMachine(name(i), machine, role)
			machines = append(machines, machine)
		}
	}
	for _, machine := range machines {
		w.WaitMachineProvisioned(machine)
	}
}

// countHour returns the requests of an hour in which nothing happens.
func (w *world) countHour() cost {
	w.T.Helper()
	// The events that made the last object Ready may still wake others.
	virtual.WaitForSignal(nil, time.Minute)
	mark := w.Azure.MarkRequests()
	virtual.WaitForSignal(nil, time.Hour)
	asked := w.countSince(mark)
	// The catalogs of a subscription are read for all of its clusters, when they are too old.
	for _, catalog := range []string{"locations list", "skus list"} {
		if *page == 1000 && asked.of[catalog] > 6 {
			w.T.Errorf("%s is read %d times in an hour", catalog, asked.of[catalog])
		}
		asked.reads -= asked.of[catalog]
		delete(asked.of, catalog)
	}
	return asked
}

// checkQuiet compares the requests of an hour in which nothing happens with the wanted reads.
func (w *world) checkQuiet(want map[string]int) {
	w.T.Helper()
	got := w.countHour()
	if diff := cmp.Diff(want, got.of); diff != "" || got.writes > 0 {
		w.T.Errorf("%d writes and these reads in an hour in which nothing happens (-want +got):\n%s", got.writes, diff)
	}
}
