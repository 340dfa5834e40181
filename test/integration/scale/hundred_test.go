package scale_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// BenchmarkHundredMachines makes a hundred machines of one cluster at once: they wait for the network of their cluster, and
// the time runs from when it is in place. Azure takes its time and limits requests as the real one does. The manager is a
// process of its own with its default flags; the simulator runs in this one.
//
//	go test ./test/integration/scale -run '^$' -bench Hundred -benchtime 1x
func BenchmarkHundredMachines(b *testing.B) {
	for b.Loop() {
		hundredMachines(b, 3, 97)
	}
}

func hundredMachines(b *testing.B, controlPlanes, workers int) {
	machines := float64(controlPlanes + workers)
	stage := harness.NewRealStage(b, environment)
	m := startManager(stage)
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	waitAll(stage, &infrav1.AzureClusterList{}, 1, func(list *infrav1.AzureClusterList) (done int) {
		for _, c := range list.Items {
			if harness.IsReady(&c) {
				done++
			}
		}
		return done
	})
	idle, _ := m.ResidentMemory()
	loadBefore, before, mark := readLoad(), m.readFigures(), stage.Azure.MarkRequests()
	for i := range controlPlanes {
		stage.CreateMachine(stage.AzureMachine("c1", fmt.Sprintf("c1-cp-%d", i)), harness.ControlPlane, "")
	}
	for i := range workers {
		stage.CreateMachine(stage.AzureMachine("c1", fmt.Sprintf("c1-md-%d", i)), harness.Worker, "")
	}
	waiting := m.readFigures()
	start := time.Now()
	stage.WaitClusterProvisioned("c1")
	var busiest float64
	lasted := map[string]time.Duration{}
	waitAll(stage, &infrav1.AzureMachineList{}, controlPlanes+workers, func(list *infrav1.AzureMachineList) (done int) {
		busiest = max(busiest, m.readFigures().sumMetric("controller_runtime_active_workers", `controller="azuremachine"`))
		for _, machine := range list.Items {
			if provisioned := machine.Status.Initialization.Provisioned; provisioned != nil && *provisioned {
				done++
				if lasted[machine.Name] == 0 {
					lasted[machine.Name] = time.Since(start)
				}
			}
		}
		return done
	})
	wall := time.Since(start)

	after, asked := m.readFigures(), countRequests(stage.Azure, mark)
	now, most := m.ResidentMemory()
	stories := listStories(stage, start)
	var longest *story
	var beginning, between, noticing, over []time.Duration
	for name, one := range stories {
		if longest == nil || one.needed > longest.needed {
			longest = one
		}
		beginning = append(beginning, one.first.Sub(start))
		between = append(between, one.last.Sub(one.first)-one.needed)
		noticing = append(noticing, start.Add(lasted[name]).Sub(one.last))
		over = append(over, lasted[name]-one.needed)
	}
	critical := longest.needed
	slices.Sort(over)
	const ours = `controller="azuremachine"`
	pool := after.sumMetric("controller_runtime_max_concurrent_reconciles", ours)
	reconciliations := differenceSince(before, after, "controller_runtime_reconcile_total", ours)
	queued := differenceSince(waiting, after, "workqueue_queue_duration_seconds_sum", ours) / max(1,
		differenceSince(waiting, after, "workqueue_queue_duration_seconds_count", ours))
	kubernetes := differenceSince(before, after, "rest_client_requests_total", `method="PATCH"`) + differenceSince(before, after,
		"rest_client_requests_total",
		`method="POST"`) +
		differenceSince(before, after, "rest_client_requests_total", `method="PUT"`)

	b.ReportMetric(wall.Seconds(), "wall-s")
	b.ReportMetric(critical.Seconds(), "critical-s")
	b.ReportMetric(wall.Seconds()/critical.Seconds(), "wall/critical")
	b.ReportMetric(over[len(over)/2].Seconds(), "median-over-s")
	b.ReportMetric(over[len(over)-1].Seconds(), "most-over-s")
	b.ReportMetric(float64(asked.countReads())/machines, "reads/machine")
	b.ReportMetric(float64(sumCounts(asked.Writes))/machines, "writes/machine")
	b.ReportMetric(float64(asked.Throttled)/machines, "429s/machine")
	b.ReportMetric(kubernetes/machines, "k8s-writes/machine")
	b.ReportMetric(differenceSince(before, after, "rest_client_requests_total", `method="GET"`)/machines, "k8s-reads/machine")
	b.ReportMetric(reconciliations/machines, "reconciliations/machine")
	b.ReportMetric(100*differenceSince(waiting, after, "controller_runtime_reconcile_time_seconds_sum", ours)/(pool*wall.Seconds()),
		"%workers-busy")
	b.ReportMetric(queued*1000, "queued-ms")
	b.ReportMetric(differenceSince(waiting, after, "process_cpu_seconds_total"), "cpu-s")
	b.ReportMetric(idle, "idle-MiB")
	b.ReportMetric(most, "most-MiB")
	b.ReportMetric(0, "ns/op")
	b.Logf("load %s before and %s after, on %d processors", loadBefore, readLoad(), runtime.NumCPU())
	b.Logf("critical path %s", strings.Join(longest.steps, ", "))
	b.Logf("in the median, until the first write %s; between writes %s; from the end of the last to provisioned %s", describeSpread(beginning),
		describeSpread(between), describeSpread(noticing))
	b.Logf("Azure: gets %v, lists %v, polls %d, writes %v, 429 %d, refused %d", asked.Gets, asked.Lists, asked.Polls, asked.Writes,
		asked.Throttled, asked.Refused)
	b.Logf("at most %.0f of %.0f workers were seen busy; resident memory at the end %.0f MiB, Go heap in use %.0f MiB", busiest, pool, now,
		after.sumMetric("go_memstats_heap_inuse_bytes")/(1<<20))
}

// waitAll lists until all are as wanted.
func waitAll[L client.ObjectList](stage *harness.Stage, list L, all int, done func(L) int) {
	stage.T.Helper()
	last := 0
	err := wait.PollUntilContextTimeout(stage.T.Context(), 250*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if err := stage.Client.List(ctx, list, client.InNamespace(stage.Namespace)); err != nil {
			return false, err
		}
		last = done(list)
		return last == all, nil
	})
	if err != nil {
		stage.T.Fatalf("%d of %d in %T are as wanted after %s: %v", last, all, list, patience, err)
	}
}

// story has the times of Azure's work for one machine.
type story struct {
	// first and last are when the first write was sent and when the last one had ended.
	first, last time.Time
	// needed is the sum of the times that NAT rule, network interface and VM took, which come one after the other. A write
	// takes until it is answered or its operation ends.
	needed time.Duration
	steps  []string
}

// listStories returns those of the machines that were begun after start.
func listStories(stage *harness.Stage, start time.Time) map[string]*story {
	operations := map[string]*store.Operation{}
	for _, operation := range stage.Azure.Operations() {
		operations[operation.ID] = operation
	}
	out := map[string]*story{}
	for _, request := range stage.Azure.Requests() {
		path, _, _ := strings.Cut(request.URL, "?")
		if request.Method != "PUT" || request.Status >= 300 || request.Time.Before(start) {
			continue
		}
		end := request.Time.Add(time.Duration(request.DurationMs) * time.Millisecond)
		if operation := operations[request.OperationID]; operation != nil && operation.Ended.After(end) {
			end = operation.Ended
		}
		name := path[strings.LastIndex(path, "/")+1:]
		machine := strings.TrimSuffix(name, "-nic")
		if out[machine] == nil {
			out[machine] = &story{first: request.Time}
		}
		one := out[machine]
		if one.first.After(request.Time) {
			one.first = request.Time
		}
		if one.last.Before(end) {
			one.last = end
		}
		one.needed += end.Sub(request.Time)
		one.steps = append(one.steps, fmt.Sprintf("%s %.1f s", name, end.Sub(request.Time).Seconds()))
	}
	return out
}

// describeSpread returns the median and the most of some times in seconds, in words.
func describeSpread(lengths []time.Duration) string {
	slices.Sort(lengths)
	return fmt.Sprintf("%.1f s, at most %.1f s", lengths[len(lengths)/2].Seconds(), lengths[len(lengths)-1].Seconds())
}
