package rollout_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var vms = flag.Int("vms", 16, "how many VMs are rolled")

// TestSchedule rolls VMs with a quarter more of them, with Azure as slow as it is. The ideal schedule is the one of a controller that
// learns of every event at once: as many VMs are created as the surge allows, their nodes join, as many others are drained and deleted,
// and so on.
//
//	go test ./test/integration/rollout -run Schedule -vms 50
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{replicas: int32(*vms),
			strategy: infrav1.MachineRollingUpdateDeployment{MaxSurge: new(intstr.FromString("25%")), MaxUnavailable: new(intstr.FromInt32(0))}})
		w.startWhole()
		mark, begun := w.Azure.MarkRequests(), time.Now()
		w.rollPool()
		w.waitUntil("the pool is rolled", w.isWhole)
		took := time.Since(begun)
		w.rules.checkRollout("rollout")

		surge := w.rules.limits.MaxSurge
		waves := (*vms + surge - 1) / surge
		asked := countCalls(w.Azure, mark)
		added, removed := w.measureOperations("PUT", begun), w.measureOperations("POST", begun)
		ideal := time.Duration(waves) * (joining + draining)
		for wave := range min(waves, len(added), len(removed)) {
			ideal += added[wave] + removed[wave]
		}
		t.Logf("%d waves of %d VMs took %s, ideally %s (%.2f)", waves, surge, took, ideal, float64(took)/float64(ideal))
		t.Logf("at least %d nodes were Ready, at most %d VMs there; calls: %s", w.rules.fewest, w.rules.most, formatFigures(asked))
		if took > ideal*5/4 {
			t.Errorf("it took %s, more than a quarter longer than the ideal %s", took, ideal)
		}
		if w.rules.fewest != *vms {
			t.Errorf("%d nodes were Ready at a time, and none may be missing", w.rules.fewest)
		}
		// The first write only changes the model.
		if asked["PUT"] != waves+1 || asked["POST"] != waves {
			t.Errorf("each of %d waves adds VMs with one write and deletes others with one: %s", waves, formatFigures(asked))
		}
		// VMs are seen to be gone before the deletion is over, whose end changes the etag that the next write may carry by then.
		if asked["PUT refused"] > waves || asked["POST refused"] > 0 {
			t.Errorf("writes are refused again and again: %s", formatFigures(asked))
		}
	})
}

// measureOperations returns how long the requests of a method about the scale set took with their operations, the longest first.
func (w *world) measureOperations(method string, since time.Time) []time.Duration {
	after := map[string]time.Duration{}
	for _, o := range w.Sim.Operations() {
		after[o.ID] = o.Ended.Sub(o.Started)
	}
	var out []time.Duration
	for _, request := range w.Sim.Requests() {
		if request.Method == method && !request.Time.Before(since) && strings.Contains(request.URL, "/virtualMachineScaleSets/") {
			out = append(out, time.Duration(request.DurationMs)*time.Millisecond+after[request.OperationID])
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// countCalls counts requests to Resource Manager after a mark: writes by method, and reads by type of the resource.
func countCalls(azure *harness.Simulator, mark harness.Mark) map[string]int {
	out := map[string]int{}
	for _, line := range azure.RequestsSince(mark) {
		parts := strings.Fields(line)
		method, path := parts[0], parts[1]
		switch {
		case method != "GET" && parts[2] >= "400":
			out[method+" refused"]++
		case method != "GET":
			out[method]++
		case strings.Contains(path, "/operations/"):
			out["GET operation"]++
		default:
			out["GET "+baseName(strings.TrimSuffix(path, "/"+poolName))]++
		}
	}
	return out
}

func formatFigures(of map[string]int) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%s %d", key, of[key]))
	}
	return strings.Join(out, ", ")
}
