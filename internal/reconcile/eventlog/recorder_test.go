package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

var (
	vnet = arm.NewID("s", "g", "Microsoft.Network/virtualNetworks", "v")
	vm   = arm.NewID("s", "g", "Microsoft.Compute/virtualMachines", "m")
)

// reconciliation is one reconciliation of a machine, and the events that it emits.
type reconciliation struct {
	reason string
	// restart means that another process reconciles.
	restart bool
	results []arm.Result
	changes []arm.Change
	// failed is an error from before anything was planned.
	failed error
	// condition is the reason of VMRunning that the kind sets itself; "" follows from the results.
	condition, message string
	// drifted are the writes that an observed object waits with, observed is set for an observed object.
	observed bool
	drifted  []string
	want     []string
}

func newRefusedResult(code, requestID string) arm.Result {
	return arm.Result{ID: vm, Group: infrav1.VMRunningCondition, State: arm.Failed, Message: "tried again",
		Err: &arm.Error{Method: "PUT", ID: vm, Status: 400, Code: code, Message: "No.", RequestID: requestID}}
}

// newForbidden returns the result of a resource that the identity may not write. Azure's text names the resource.
func newForbidden(id arm.ID) arm.Result {
	return arm.Result{ID: id, Group: infrav1.VMRunningCondition, State: arm.Failed, Err: &arm.Error{Method: "PUT", ID: id, Status: 403,
		Code: "AuthorizationFailed", Message: "No write over scope '" + string(id) + "'."}}
}

func TestEventsOfReconciliations(t *testing.T) {
	ready := arm.Result{ID: vm, Group: infrav1.VMRunningCondition, State: arm.Ready}
	creating := arm.Result{ID: vm, Group: infrav1.VMRunningCondition, State: arm.Creating}
	for name, reconciliations := range map[string][]reconciliation{
		"life": {
			{reason: "the begin of a creation has no event", results: []arm.Result{creating}},
			{reason: "a created resource has an event", results: []arm.Result{ready},
				changes: []arm.Change{{ID: vm, Kind: arm.Created, Duration: 42 * time.Second}},
				want:    []string{"Normal Created created virtualMachines/m (42s)", "Normal Ready everything is in place"}},
			{reason: "nothing happened", results: []arm.Result{ready}},
			{reason: "a repaired resource has an event", results: []arm.Result{ready},
				changes: []arm.Change{{ID: vm, Kind: arm.Repaired, Paths: []string{"tags.a", "tags.b"}}},
				want:    []string{"Normal Repaired repaired virtualMachines/m: tags.a, tags.b"}},
			{reason: "two of a kind are two", results: []arm.Result{ready},
				changes: []arm.Change{{ID: vm, Kind: arm.Adopted}, {ID: vnet, Kind: arm.Adopted}},
				want:    []string{"Normal Adopted adopted virtualMachines/m", "Normal Adopted adopted virtualNetworks/v"}},
			{reason: "the end", results: []arm.Result{{ID: vm, Group: infrav1.VMRunningCondition, State: arm.Gone}},
				changes: []arm.Change{{ID: vm, Kind: arm.Deleted}},
				want:    []string{"Normal Deleted deleted virtualMachines/m"}},
		},
		"refusal": {
			{reason: "a cause, with Azure's code and the request", results: []arm.Result{newRefusedResult("InvalidParameter", "r-1")},
				want: []string{"Warning Failed PUT virtualMachines/m: InvalidParameter: No. (Azure request r-1)"}},
			{reason: "the same cause with another request", results: []arm.Result{newRefusedResult("InvalidParameter", "r-2")}},
			{reason: "the next try is under way", results: []arm.Result{creating}},
			{reason: "and refused again", results: []arm.Result{newRefusedResult("InvalidParameter", "r-3")}},
			{reason: "an earlier process has reported it", restart: true, results: []arm.Result{newRefusedResult("InvalidParameter", "r-4")}},
			{reason: "another cause", results: []arm.Result{newRefusedResult("QuotaExceeded", "r-5")},
				want: []string{"Warning QuotaExceeded PUT virtualMachines/m: QuotaExceeded: No. (Azure request r-5)"}},
			{reason: "it is over", results: []arm.Result{ready}, want: []string{"Normal Ready everything is in place"}},
			{reason: "and comes back", results: []arm.Result{newRefusedResult("QuotaExceeded", "r-6")},
				want: []string{"Warning QuotaExceeded PUT virtualMachines/m: QuotaExceeded: No. (Azure request r-6)"}},
		},
		"waiting": {
			{reason: "another operation ends by itself", results: []arm.Result{{ID: vm, Group: infrav1.VMRunningCondition, State: arm.Waiting,
				Err: &arm.Error{Method: "PUT", ID: vm, Status: 409, Code: "AnotherOperationInProgress", RequestID: "r"}}}},
			{reason: "throttling is reported", results: []arm.Result{{ID: vm, Group: infrav1.VMRunningCondition, State: arm.Waiting,
				Err: &arm.Error{Method: "PUT", ID: vm, Status: 429, Code: "TooManyRequests", RequestID: "r"}}},
				want: []string{"Warning Throttled PUT virtualMachines/m: TooManyRequests (Azure request r)"}},
		},
		"many resources": {
			{reason: "one Warning for one cause", results: []arm.Result{newForbidden(vnet), newForbidden(vm), newForbidden(vnet.Child("subnets", "a"))},
				want: []string{"Warning Failed PUT virtualNetworks/v: AuthorizationFailed: No write over scope '" + string(vnet) +
					"'.; the same for virtualMachines/m, subnets/a"}},
			{reason: "another resource with the cause has no Warning of its own",
				results: []arm.Result{newForbidden(vnet), newForbidden(vm), newForbidden(vnet.Child("subnets", "b"))}},
			{reason: "an error before the plan is the same cause", failed: fmt.Errorf("list VMs: %w", newForbidden(vm).Err)},
			{reason: "two causes that alternate have one Warning each", results: []arm.Result{newRefusedResult("QuotaExceeded", "r-1")},
				want: []string{"Warning QuotaExceeded PUT virtualMachines/m: QuotaExceeded: No. (Azure request r-1)"}},
			{reason: "the first returns", results: []arm.Result{newForbidden(vm)}},
			{reason: "the second returns", results: []arm.Result{newRefusedResult("QuotaExceeded", "r-2")}},
			{reason: "only three resources are named", restart: true, results: []arm.Result{newForbidden(vnet), newForbidden(vm),
				newForbidden(vnet.Child("subnets", "a")), newForbidden(vnet.Child("subnets", "b")), newForbidden(vnet.Child("subnets", "c"))},
				want: []string{"Warning Failed PUT virtualNetworks/v: AuthorizationFailed: No write over scope '" + string(vnet) +
					"'.; the same for virtualMachines/m, subnets/a, subnets/b and 1 more"}},
		},
		"before the plan": {
			{reason: "Azure could not be asked",
				failed: &arm.Error{Method: "GET", ID: vnet, Status: 403, Code: "AuthorizationFailed", RequestID: "r-1"},
				want:   []string{"Warning Failed GET virtualNetworks/v: AuthorizationFailed (Azure request r-1)"}},
			{reason: "again", failed: &arm.Error{Method: "GET", ID: vnet, Status: 403, Code: "AuthorizationFailed", RequestID: "r-2"}},
			{reason: "errors from before the plan have events, too", failed: errors.New("no Secret"), want: []string{"Warning InternalError no Secret"}},
			{reason: "it could be asked", results: []arm.Result{ready}, want: []string{"Normal Ready everything is in place"}},
			{reason: "a new failure is reported", failed: errors.New("no Secret"), want: []string{"Warning InternalError no Secret"}},
		},
		"conditions": {
			{reason: "waiting for another controller has no event", condition: infrav1.WaitingForClusterInfrastructureReason,
				message: "the network is not there"},
			{reason: "a finding of the controller has an event", condition: infrav1.VMDeletedReason, message: "the VM does not exist any more",
				want: []string{"Warning VMDeleted the VM does not exist any more"}},
			{reason: "once", condition: infrav1.VMDeletedReason, message: "the VM does not exist any more"},
			{reason: "also after a restart", restart: true, condition: infrav1.VMDeletedReason, message: "the VM does not exist any more"},
		},
		"observed": {
			{reason: "an object as planned waits with nothing", observed: true, results: []arm.Result{ready},
				want: []string{"Normal Ready everything is in place"}},
			{reason: "a list of writes has an event", observed: true, drifted: []string{"update virtualMachines/m (tags.a)"},
				results: []arm.Result{ready},
				want:    []string{"Normal Drifted The object is observed because of a test. When that ends, the manager will: update virtualMachines/m (tags.a)"}},
			{reason: "the same list has none", observed: true, drifted: []string{"update virtualMachines/m (tags.a)"}, results: []arm.Result{ready}},
			{reason: "an earlier process has reported it", restart: true, observed: true, drifted: []string{"update virtualMachines/m (tags.a)"},
				results: []arm.Result{ready}},
			{reason: "another list has an event", observed: true, drifted: []string{"delete disks/d", "update virtualMachines/m (tags.a)"},
				results: []arm.Result{ready},
				want: []string{"Normal Drifted The object is observed because of a test. When that ends, the manager will: delete disks/d; " +
					"update virtualMachines/m (tags.a)"}},
			{reason: "an empty list has none", observed: true, results: []arm.Result{ready}},
			{reason: "the end of observing has none", results: []arm.Result{ready}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(100)
			teller := eventlog.NewRecorder(recorder)
			machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m", UID: "1", Finalizers: []string{"a/b"}}}
			for _, p := range reconciliations {
				if p.restart {
					teller = eventlog.NewRecorder(recorder)
				}
				if diff := cmp.Diff(p.want, reconcileOnce(teller, recorder, machine, p)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", p.reason, diff)
				}
			}
		})
	}
}

// reconcileOnce reconciles a machine as controllers do, and returns the events.
func reconcileOnce(teller *eventlog.Recorder, recorder *events.FakeRecorder, machine *infrav1.AzureMachine, p reconciliation) []string {
	following := teller.StartRecording(context.Background(), machine)
	condition := metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: p.condition, Message: p.message}
	switch {
	case p.failed != nil:
		following.AddError(p.failed)
		condition, _ = status.ProblemCondition(infrav1.VMRunningCondition, p.failed)
	case p.condition == "":
		outcome := arm.Outcome{Results: p.results, Changes: p.changes}
		following.AddOutcome(outcome)
		condition = status.GroupConditions(outcome, []string{infrav1.VMRunningCondition}, nil)[0]
	}
	conditions.Set(machine, condition)
	conditions.Set(machine, status.SummaryCondition(infrav1.ReadyCondition, []metav1.Condition{condition}))
	conditions.Delete(machine, infrav1.DriftedCondition)
	if p.observed {
		conditions.Set(machine, status.DriftedCondition("a test", p.drifted))
	}
	following.EmitEvents()
	var out []string
	for len(recorder.Events) > 0 {
		out = append(out, <-recorder.Events)
	}
	return out
}

func TestLongNotesKeepTheRequest(t *testing.T) {
	recorder := events.NewFakeRecorder(1)
	teller := eventlog.NewRecorder(recorder)
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m", UID: "1"}}
	failure := &arm.Error{Method: "PUT", ID: vm, Status: 400, Code: "Long", Message: strings.Repeat("ä", 2000), RequestID: "r-1"}
	teller.WarnOnce(context.Background(), machine, "azure.json", "Failed", failure.Error(), failure)
	_, note, _ := strings.Cut(<-recorder.Events, "Warning Failed ")
	if len(note) > 1024 || !strings.HasSuffix(note, "... (Azure request r-1)") {
		t.Errorf("the API server takes 1024 bytes, and the request must be among them: %d: %s", len(note), note)
	}
	teller.WarnOnce(context.Background(), machine, "azure.json", "Failed", failure.Error(), failure)
	teller.MarkResolved(machine, "azure.json")
	if len(recorder.Events) > 0 {
		t.Error("it was reported already")
	}
	teller.WarnOnce(context.Background(), machine, "azure.json", "Failed", failure.Error(), failure)
	if len(recorder.Events) == 0 {
		t.Error("it came back")
	}
}
