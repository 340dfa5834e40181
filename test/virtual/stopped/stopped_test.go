package stopped_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestStopAndStart stops clusters for two hours and starts them again. The MachineHealthCheck replaces no Machine, Azure is left alone
// meanwhile, and the same VMs run in the end.
func TestStopAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		warnings := w.recordWarnings()
		w.StartProvider()
		w.apply()
		mark := w.Azure.MarkRequests()
		w.AdvanceClock(2 * time.Hour)
		running := len(w.Azure.RequestsSince(mark))
		before, vms := w.machineNames(), w.vms()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		for _, machine := range w.machines() {
			if power := w.power(machine); power != "deallocated" {
				t.Errorf("the VM of Machine %s is %s", machine.Name, power)
			}
		}
		for _, object := range w.objects() {
			ready := harness.FindCondition(object, infrav1.ReadyCondition)
			if ready.Status != metav1.ConditionFalse || ready.Reason != infrav1.StoppedAsRequestedReason ||
				!strings.Contains(ready.Message, infrav1.StopAnnotation+" on Cluster ") {
				t.Errorf("%T %s: Ready is %+v", object, object.GetName(), ready)
			}
			if stalled := harness.FindCondition(object, infrav1.StalledCondition); stalled.Type != "" {
				t.Errorf("%T %s is stalled: %+v", object, object.GetName(), stalled)
			}
		}
		mark = w.Azure.MarkRequests()
		w.AdvanceClock(2 * time.Hour)
		if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("written while everything is stopped: %v", writes)
		}
		if stopped := len(w.Azure.RequestsSince(mark)); stopped > 2*running {
			t.Errorf("%d requests in two hours while everything is stopped, %d while it runs", stopped, running)
		} else {
			t.Logf("requests in two hours: %d running, %d stopped", running, stopped)
		}
		if diff := cmp.Diff(before, w.machineNames()); diff != "" {
			t.Errorf("Machines changed (-before +stopped):\n%s", diff)
		}
		w.annotate(infrav1.StopAnnotation, "")
		w.waitReady(metav1.ConditionTrue)
		w.waitStopped("")
		w.AdvanceClock(30 * time.Minute)
		if diff := cmp.Diff(before, w.machineNames()); diff != "" {
			t.Errorf("Machines changed (-before +started):\n%s", diff)
		}
		if diff := cmp.Diff(vms, w.vms()); diff != "" {
			t.Errorf("VMs changed (-before +started):\n%s", diff)
		}
		for _, machine := range w.machines() {
			if power, value := w.power(machine), machine.Annotations[clusterv1.MachineSkipRemediationAnnotation]; power != "running" || value != "" {
				t.Errorf("the VM of Machine %s is %s, and its annotation is %q", machine.Name, power, value)
			}
		}
		if got := warnings(); len(got) > 0 {
			t.Errorf("Warnings of a creation, a stop and a start without a fault: %q", got)
		}
	})
}

// TestSchedule stops clusters by a schedule.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		before := w.machineNames()
		now := time.Now().UTC()
		stop, start := now.Add(20*time.Minute), now.Add(3*time.Hour)
		w.annotate(infrav1.StopScheduleAnnotation, fmt.Sprintf(`[{stop: "%d %d * * *", start: "%d %d * * *"}]`,
			stop.Minute(), stop.Hour(), start.Minute(), start.Hour()))
		w.AdvanceClock(10 * time.Minute)
		w.waitReady(metav1.ConditionTrue)
		w.waitStopped("")
		w.waitStopped(metav1.ConditionTrue)
		// A value counts before the schedule: someone works at night.
		w.annotate(infrav1.StopAnnotation, "false")
		w.waitStopped("")
		w.waitReady(metav1.ConditionTrue)
		w.annotate(infrav1.StopAnnotation, "")
		w.waitStopped(metav1.ConditionTrue)
		w.AdvanceClock(3 * time.Hour)
		w.waitStopped("")
		w.waitReady(metav1.ConditionTrue)
		w.AdvanceClock(20 * time.Hour)
		w.waitStopped("")
		w.AdvanceClock(2 * time.Hour)
		w.waitStopped(metav1.ConditionTrue)
		if diff := cmp.Diff(before, w.machineNames()); diff != "" {
			t.Errorf("Machines changed (-before +after):\n%s", diff)
		}
	})
}

// TestScaleToZero leaves a pool without VMs while the others run, and gives it its VMs back.
func TestScaleToZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		for _, name := range []string{"uniform", "flexible"} {
			pool := &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
			harness.ChangeObject(w.Stage, pool, func(p *infrav1.AzureMachinePool) { setAnnotation(p, infrav1.StopAnnotation, "scale-to-zero") })
			w.WaitUntil("pool "+name+" has no VMs", func() bool {
				w.ReadObject(pool, name)
				return harness.FindCondition(pool, infrav1.StoppedCondition).Status == metav1.ConditionTrue && len(pool.Spec.ProviderIDList) == 0
			}, w.describe)
			if machine := (&infrav1.AzureMachine{}); !harness.IsReady(readMachine(w, machine)) {
				t.Errorf("a machine beside the pool: %+v", machine.Status.Conditions)
			}
			harness.ChangeObject(w.Stage, pool, func(p *infrav1.AzureMachinePool) { setAnnotation(p, infrav1.StopAnnotation, "") })
			w.WaitUntil("pool "+name+" has its VMs again", func() bool {
				w.ReadObject(pool, name)
				return harness.IsReady(pool) && len(pool.Spec.ProviderIDList) == 2 && pool.Status.Replicas == 2 &&
					harness.FindCondition(pool, infrav1.StoppedCondition).Type == ""
			}, w.describe)
		}
	})
}

func readMachine(w *world, machine *infrav1.AzureMachine) *infrav1.AzureMachine {
	w.ReadObject(machine, "m2")
	return machine
}

// TestStoppedBeforeCreated applies a machine and pools to a cluster that is stopped: no VM is created. They are when it is started.
func TestStoppedBeforeCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		mark := w.Azure.MarkRequests()
		w.ApplyMachine("c1", "late", harness.Worker)
		w.ApplyPool("c1", "latepool", 2)
		late := &infrav1.AzureMachine{}
		w.WaitUntil("the machine waits", func() bool {
			w.ReadObject(late, "late")
			return harness.FindCondition(late, infrav1.ReadyCondition).Reason == infrav1.StoppedAsRequestedReason
		})
		w.AdvanceClock(time.Hour)
		for _, write := range w.Azure.WritesSince(mark) {
			if strings.Contains(write, "/virtualMachines/") {
				t.Errorf("written while the cluster is stopped: %s", write)
			}
		}
		w.annotate(infrav1.StopAnnotation, "false")
		w.waitReady(metav1.ConditionTrue)
		w.WaitReady(late, "late")
		w.WaitUntil("the late pool has its VMs", func() bool {
			pool := &infrav1.AzureMachinePool{}
			w.ReadObject(pool, "latepool")
			return harness.IsReady(pool) && len(pool.Spec.ProviderIDList) == 2
		}, w.describe)
	})
}

// TestRestartWhileStopped replaces the manager while everything is stopped, and removes the annotation before the new one starts: it starts
// what its predecessor stopped. What a user has stopped in Azure stays stopped.
func TestRestartWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		manager := w.StartProvider()
		w.apply()
		w.PostAction("Microsoft.Compute/virtualMachines/m2", "deallocate")
		w.AdvanceClock(30 * time.Minute)
		for _, machine := range w.machines() {
			if power := w.power(machine); (power == "running") == (machine.Name == "m2") {
				t.Errorf("after a user stopped m2, the VM of Machine %s is %q", machine.Name, power)
			}
		}
		w.PostAction("Microsoft.Compute/virtualMachines/m2", "start")
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		manager.StopManager()
		w.annotate(infrav1.StopAnnotation, "")
		w.StartProvider()
		w.waitReady(metav1.ConditionTrue)
		w.waitStopped("")
	})
}

// TestStartRefused lets Azure refuse to start VMs for want of capacity; it expects that the objects show the cause, that the Machines stay,
// and that everything runs once there is capacity.
func TestStartRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		before := w.machineNames()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		w.AddFault(fault.Rule{Method: "POST", Count: -1, Kind: fault.Status, Status: 409, Code: "AllocationFailed",
			Message: "Allocation failed. We do not have sufficient capacity for the requested VM size in this region."})
		w.annotate(infrav1.StopAnnotation, "")
		w.AdvanceClock(15 * time.Minute)
		for _, object := range w.objects() {
			stopped := harness.FindCondition(object, infrav1.StoppedCondition)
			if stopped.Status != metav1.ConditionFalse || !strings.Contains(stopped.Message, "AllocationFailed") {
				t.Errorf("%T %s: %+v", object, object.GetName(), stopped)
			}
		}
		w.Azure.ClearFaults()
		w.waitReady(metav1.ConditionTrue)
		w.waitStopped("")
		if diff := cmp.Diff(before, w.machineNames()); diff != "" {
			t.Errorf("Machines changed (-before +after):\n%s", diff)
		}
	})
}

// TestEphemeralDisk asks for a stop of VMs that Azure cannot deallocate: they run on, and the machine shows why.
func TestEphemeralDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		warnings := w.recordWarnings()
		w.StartProvider()
		w.apply()
		machine := w.AzureMachine("c1", "ephemeral")
		machine.Spec.OSDisk.DiffDiskSettings = &infrav1.DiffDiskSettings{Option: "Local"}
		machine.Spec.OSDisk.CachingType, machine.Spec.OSDisk.DiskSizeGB = "ReadOnly", new(int32(30))
		defaults.FillAzureMachine(machine, w.Azure.SubscriptionID)
		w.CreateMachine(machine, harness.Worker, "")
		w.WaitReady(machine, "ephemeral")
		pool := w.AzureMachinePool("c1", "ephemeralpool")
		pool.Spec.OrchestrationMode = infrav1.UniformOrchestration
		pool.Spec.Template.OSDisk.DiffDiskSettings = machine.Spec.OSDisk.DiffDiskSettings
		pool.Spec.Template.OSDisk.CachingType, pool.Spec.Template.OSDisk.DiskSizeGB = "ReadOnly", new(int32(30))
		defaults.FillAzureMachinePool(pool, "")
		w.CreatePool(pool, 1)
		w.WaitReady(pool, "ephemeralpool")
		mark := w.Azure.MarkRequests()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		w.ReadObject(machine, "ephemeral")
		stopped := harness.FindCondition(machine, infrav1.StoppedCondition)
		if stopped.Status != metav1.ConditionFalse || !strings.Contains(stopped.Message, "OS disk is ephemeral") || !harness.IsReady(machine) {
			t.Errorf("Stopped is %+v, Ready %t", stopped, harness.IsReady(machine))
		}
		w.ReadObject(pool, "ephemeralpool")
		stopped = harness.FindCondition(pool, infrav1.StoppedCondition)
		if stopped.Status != metav1.ConditionFalse || !strings.Contains(stopped.Message, "scale-to-zero") || !harness.IsReady(pool) {
			t.Errorf("Stopped of the pool is %+v, Ready %t", stopped, harness.IsReady(pool))
		}
		for _, write := range w.Azure.WritesSince(mark) {
			if strings.Contains(write, "/ephemeral") {
				t.Errorf("written: %s", write)
			}
		}
		if got := warnings(); len(got) != 2 || slices.ContainsFunc(got, func(warning string) bool {
			return !strings.Contains(warning, " ephemeral") || !strings.Contains(warning, ": NotSupported: ")
		}) {
			t.Errorf("each object has to have one Warning with the cause: %q", got)
		}
	})
}

// TestAnnotationsWithoutEffect sets the annotation on objects of the kinds that have no VMs of their own: each gets one Warning, and everything
// runs on.
func TestAnnotationsWithoutEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		warned := map[string]int{}
		w.EventRecorded = func(event virtual.Event) {
			mu.Lock()
			defer mu.Unlock()
			if event.Reason == infrav1.IgnoredReason && strings.Contains(event.Note, infrav1.StopAnnotation+" has no effect on an "+event.Kind+".") {
				warned[event.Kind]++
			}
		}
		w.StartProvider()
		w.apply()
		want := map[string]int{}
		for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureASOManagedClusterList{}} {
			if err := w.Kubernetes.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			if err := meta.EachListItem(list, func(item runtime.Object) error {
				object := item.(client.Object)
				want[reflect.TypeOf(object).Elem().Name()]++
				harness.ChangeObject(w.Stage, object, func(o client.Object) { setAnnotation(o, infrav1.StopAnnotation, "true") })
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		w.AdvanceClock(3 * time.Hour)
		w.waitReady(metav1.ConditionTrue)
		w.waitStopped("")
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff(want, warned); diff != "" || len(want) != 2 {
			t.Errorf("Warnings by kind (-want +got):\n%s", diff)
		}
	})
}

// TestRefusedAnnotations sets values that cannot be read: every object names the annotation and the values that can be, and nothing is
// stopped.
func TestRefusedAnnotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		for value, want := range map[[2]string]string{
			{infrav1.StopAnnotation, "yes"}:                                                                `Unsupported value: "yes": supported values: "true", "scale-to-zero", "false"`,
			{infrav1.StopScheduleAnnotation, "20:00"}:                                                      "Write a YAML list whose entries have stop, start",
			{infrav1.StopScheduleAnnotation, `[{stop: "0 20 * *", start: "0 7 * * *"}]`}:                   `[0].stop: "0 20 * *" is not a cron expression`,
			{infrav1.StopScheduleAnnotation, `[{stop: "0 20 * * *", start: "0 7 30 2 *"}]`}:                "[0].start: \"0 7 30 2 *\": this day does not exist",
			{infrav1.StopScheduleAnnotation, `[{stop: "0 20 * * *", start: "0 7 * * *", timeZone: Mars}]`}: `[0].timeZone: "Mars" is not a time zone`,
		} {
			mark := w.Azure.MarkRequests()
			w.annotate(value[0], value[1])
			w.WaitUntil("the annotation is refused by all objects", func() bool {
				return !slices.ContainsFunc(w.objects(), func(object harness.Conditioned) bool {
					ready := harness.FindCondition(object, infrav1.ReadyCondition)
					return !status.NeedsAction(ready.Reason) || !strings.Contains(ready.Message, value[0]) ||
						!strings.Contains(ready.Message, want)
				})
			}, w.describe)
			if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
				t.Errorf("%q: written: %v", value, writes)
			}
			w.annotate(value[0], "")
			w.waitReady(metav1.ConditionTrue)
		}
	})
}

// TestDeletedWhileStopped deletes everything while it is stopped.
func TestDeletedWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		machine := &infrav1.AzureMachine{}
		w.ReadObject(machine, "m2")
		w.DeleteObjects(machine)
		w.WaitUntilGone(machine)
		if _, exists := w.FindResource("Microsoft.Compute/virtualMachines/m2"); exists {
			t.Error("the VM of a deleted machine is left")
		}
		w.DeleteManifests(w.documents)
	})
}

// machineNames returns the names of the Machines with their UIDs.
func (w *world) machineNames() (out []string) {
	for _, machine := range w.machines() {
		if machine.DeletionTimestamp.IsZero() {
			out = append(out, machine.Name+" "+string(machine.UID))
		}
	}
	slices.Sort(out)
	return out
}

// vms returns the IDs of the VMs in Azure.
func (w *world) vms() (out []string) {
	for _, machine := range w.machines() {
		out = append(out, w.providerID(machine))
	}
	slices.Sort(out)
	return out
}
