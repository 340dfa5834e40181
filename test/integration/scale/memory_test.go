package scale_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var (
	machinesOfOne = flag.Int("machines", 1000, "how many machines the one cluster of BenchmarkMemoryOfMachines has")
	ofThree       = flag.Int("clusters", 200, "how many clusters BenchmarkMemoryOfClusters makes, with three machines each")
	managerEnv    = flag.String("manager-env", "", "further environment variables of the manager, separated by spaces")
)

// BenchmarkMemoryOfMachines measures the manager's memory before there is anything, with one cluster, and with a hundred and all of its
// machines. Azure's operations end at once: only the memory that stays in use counts.
//
//	go test ./test/integration/scale -run '^$' -bench MemoryOfMachines -benchtime 1x
func BenchmarkMemoryOfMachines(b *testing.B) {
	for b.Loop() {
		stage := harness.NewStage(b, environment)
		m := startManager(stage)
		stage.CreateIdentity()
		m.measureAtRest("idle")
		stage.CreateCluster(stage.AzureCluster("c1"))
		stage.WaitClusterProvisioned("c1")
		m.measureAtRest("1-cluster")
		made := 0
		for _, all := range []int{100, *machinesOfOne} {
			for ; made < all; made++ {
				stage.CreateMachine(stage.AzureMachine("c1", fmt.Sprintf("c1-md-%d", made)), harness.Worker, "")
			}
			waitProvisioned(stage, all)
			m.measureAtRest(fmt.Sprintf("%d-machines", all))
		}
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkMemoryOfClusters is the same for many clusters of three machines each.
//
//	go test ./test/integration/scale -run '^$' -bench MemoryOfClusters -benchtime 1x
func BenchmarkMemoryOfClusters(b *testing.B) {
	for b.Loop() {
		stage := harness.NewStage(b, environment)
		m := startManager(stage)
		stage.CreateIdentity()
		for i := range *ofThree {
			name := fmt.Sprintf("c%d", i)
			stage.CreateCluster(stage.AzureCluster(name))
			for j := range 3 {
				role := harness.Worker
				if j == 0 {
					role = harness.ControlPlane
				}
				stage.CreateMachine(stage.AzureMachine(name, fmt.Sprintf("%s-m%d", name, j)), role, "")
			}
			stage.WaitClusterProvisioned(name)
		}
		waitProvisioned(stage, *ofThree*3)
		m.measureAtRest(fmt.Sprintf("%dx3", *ofThree))
		b.ReportMetric(0, "ns/op")
	}
}

func waitProvisioned(stage *harness.Stage, machines int) {
	stage.T.Helper()
	waitAll(stage, &infrav1.AzureMachineList{}, machines, func(list *infrav1.AzureMachineList) (done int) {
		for _, machine := range list.Items {
			if is := machine.Status.Initialization.Provisioned; is != nil && *is {
				done++
			}
		}
		return done
	})
}

// measureAtRest reports the manager's resident memory, and its heap, once it has finished its work and has given back memory that it does
// not need: when five minutes have made it no smaller, within which the engine packs the resources that it has read.
func (m *manager) measureAtRest(what string) {
	m.tb.Helper()
	b := m.tb.(*testing.B)
	least, most := m.ResidentMemory()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for since := time.Now(); time.Since(since) < 5*time.Minute; <-tick.C {
		now, _ := m.ResidentMemory()
		if now < least-0.5 {
			least, since = now, time.Now()
		}
	}
	figures := m.readFigures()
	b.ReportMetric(least, what+"-MiB")
	b.Logf("%s: resident %.0f MiB, at most %.0f MiB until now; Go heap in use %.1f MiB, from the system %.0f MiB, %.0f goroutines, %.0f s of processor time, on %d processors with a load of %s",
		what, least, most, figures.sumMetric("go_memstats_heap_inuse_bytes")/(1<<20), figures.sumMetric("go_memstats_sys_bytes")/(1<<20),
		figures.sumMetric("go_goroutines"),
		figures.sumMetric("process_cpu_seconds_total"), runtime.NumCPU(), readLoad())
}
