package status_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

var (
	vnet   = arm.NewID("s", "g", "Microsoft.Network/virtualNetworks", "v")
	subnet = vnet.Child("subnets", "n")
	vm     = arm.NewID("s", "g", "Microsoft.Compute/virtualMachines", "m")
)

func TestGroups(t *testing.T) {
	quota := &arm.Error{Method: "PUT", ID: vm, Status: 409, Code: "OperationNotAllowed",
		Message: "exceeding approved Total Regional Cores quota", RequestID: "r"}
	outage := &arm.Error{Method: "GET", ID: vm, Status: 503, Code: "ServiceUnavailable"}
	refused := &arm.Error{Method: "GET", ID: vm, Status: 401, Code: "CredentialsInvalid"}
	unwritten := &arm.Error{Method: "PUT", ID: vm, Status: 503, Code: "ServiceUnavailable"}
	tests := map[string]struct {
		reason  string
		results []arm.Result
		want    []metav1.Condition
	}{
		"nothing planned": {
			reason: "a group without resources has no condition",
		},
		"done": {
			reason:  "a foreign network is as good as an own one",
			results: []arm.Result{{ID: vnet, Group: "A", State: arm.Foreign}, {ID: subnet, Group: "B", State: arm.Ready}},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionTrue, Reason: "Ready"},
				{Type: "B", Status: metav1.ConditionTrue, Reason: "Ready"},
			},
		},
		"failure before progress": {
			reason: "the cause is shown, not the resource that waits for it",
			results: []arm.Result{
				{ID: vnet, Group: "A", State: arm.Creating},
				{ID: vm, Group: "A", State: arm.Failed, Err: quota, Message: "tried again every 5m0s"},
				{ID: subnet, Group: "B", State: arm.Blocked, BlockedBy: vnet},
			},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionFalse, Reason: "QuotaExceeded", Message: quota.Error() + "; tried again every 5m0s"},
				{Type: "B", Status: metav1.ConditionFalse, Reason: "WaitingForDependency", Message: "subnets/n waits for virtualNetworks/v"},
			},
		},
		"drift": {
			reason:  "drift that is not repaired is reported and does not make the object unready",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Ready, UnrepairedDrift: []string{"properties.hardwareProfile.vmSize"}}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Drifted",
				Message: "virtualMachines/m differs from the spec: properties.hardwareProfile.vmSize"}},
		},
		"drift beside a repair": {
			reason: "the tags were written and the rest was not, and no look may come for long",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Ready, SentMethod: "PATCH", Drift: []string{"tags.x", "a", "b"},
				UnrepairedDrift: []string{"a", "b"}, UnappliedChanges: []string{"a"}}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Drifted",
				Message: "virtualMachines/m cannot be changed, and the spec has other values: a; replace it to apply the spec; virtualMachines/m " +
					"differs from the spec: b"}},
		},
		"drift by whom": {
			reason: "each path has its own cause",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Ready, UnrepairedDrift: []string{"a", "b", "c"}, OutsideChanges: []string{"b"},
				UnappliedChanges: []string{"a", "c"}}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Drifted",
				Message: "virtualMachines/m was changed in Azure by another program or user: b; virtualMachines/m cannot be changed, and the spec has other values: a, c; " +
					"replace it to apply the spec"}},
		},
		"role of a former identity": {
			reason: "neither Azure nor the provider changes it, so a person has to",
			results: []arm.Result{{ID: "/subscriptions/s/providers/Microsoft.Authorization/roleAssignments/r", Group: "A", State: arm.Ready,
				UnrepairedDrift: []string{"properties.principalId"}, UnappliedChanges: []string{"properties.principalId"}}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Drifted",
				Message: "roleAssignments/r assigns the role to a former or other identity, so the current identity does not have the role. Azure cannot change the identity of an assignment, " +
					"and the provider does not delete it, because nothing in Azure proves who created it. If the other identity is a former one of this object, delete the assignment: " +
					"az role assignment delete --ids /subscriptions/s/providers/Microsoft.Authorization/roleAssignments/r. The provider creates it again"}},
		},
		"stays": {
			reason:  "values that Azure keeps are reported, whichever plan had them",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Ready, UnremovablePaths: []string{"/properties/a", "/properties/b"}}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Drifted",
				Message: "virtualMachines/m: Azure cannot unset these fields, which the spec no longer sets, so they stay as they are until they are " +
					"set again: /properties/a, /properties/b"}},
		},
		"unplanned": {
			reason: "a resource that no plan has any more reports in its old condition why it is not gone",
			results: []arm.Result{
				{ID: vm, Group: "A", State: arm.Ready},
				{ID: subnet, State: arm.Deleting},
				{ID: vnet, State: arm.Deleting},
			},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionTrue, Reason: "Ready"},
				{Type: "B", Status: metav1.ConditionFalse, Reason: "Deleting", Message: "deleting subnets/n"},
			},
		},
		"not seen": {
			reason: "a resource that could not be read is Unknown, and known failures of a group come first",
			results: []arm.Result{
				{ID: vm, Group: "A", State: arm.Waiting, Err: outage, ReadFailed: true, Message: "tried again"},
				{ID: vnet, Group: "B", State: arm.Waiting, Err: outage, ReadFailed: true},
				{ID: subnet, Group: "B", State: arm.Failed, Err: quota},
			},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionUnknown, Reason: "Waiting", Message: outage.Error() + "; tried again"},
				{Type: "B", Status: metav1.ConditionFalse, Reason: "QuotaExceeded", Message: quota.Error()},
			},
		},
		"not asked": {
			reason: "a resource that was not read because the first request had no answer has the first one's error",
			results: []arm.Result{
				{ID: vm, Group: "A", State: arm.Failed, Err: refused, ReadFailed: true},
				{ID: vnet, Group: "B", State: arm.Blocked, BlockedBy: vm, ReadFailed: true},
			},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionUnknown, Reason: "CredentialsInvalid", Message: refused.Error()},
				{Type: "B", Status: metav1.ConditionUnknown, Reason: "CredentialsInvalid", Message: refused.Error()},
			},
		},
		"waits for a resource that was not read": {
			reason: "a pending change does not make an existing resource unavailable; a missing resource is unavailable",
			results: []arm.Result{
				{ID: subnet, Group: "A", State: arm.Blocked, BlockedBy: vnet, Observed: []byte("{}")},
				{ID: vm, Group: "B", State: arm.Blocked, BlockedBy: vnet},
				{ID: vnet, Group: "C", State: arm.Waiting, Err: outage, ReadFailed: true},
			},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionUnknown, Reason: "Waiting", Message: outage.Error()},
				{Type: "B", Status: metav1.ConditionFalse, Reason: "WaitingForDependency", Message: "virtualMachines/m waits for virtualNetworks/v"},
			},
		},
		"write without an answer": {
			reason: "an existing resource keeps its state; a missing one is known to be missing",
			results: []arm.Result{
				{ID: vm, Group: "A", State: arm.Waiting, Err: unwritten, Observed: []byte("{}")},
				{ID: vnet, Group: "B", State: arm.Waiting, Err: unwritten},
			},
			want: []metav1.Condition{
				{Type: "A", Status: metav1.ConditionUnknown, Reason: "Waiting", Message: unwritten.Error()},
				{Type: "B", Status: metav1.ConditionFalse, Reason: "Waiting", Message: unwritten.Error()},
			},
		},
		"made with another": {
			reason:  "a disk that is created with the VM names the VM",
			results: []arm.Result{{ID: subnet, Group: "A", State: arm.Blocked, BlockedBy: vnet, Message: "is created with virtualMachines/m"}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionFalse, Reason: "WaitingForDependency",
				Message: "subnets/n is created with virtualMachines/m"}},
		},
		"deletion refused": {
			reason: "a failed deletion has another reason than a failed creation",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Failed,
				Err: &arm.Error{Method: "DELETE", ID: vm, Status: 403, Code: "AuthorizationFailed", Message: "no"}}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionFalse, Reason: infrav1.DeletionFailedReason,
				Message: "DELETE virtualMachines/m: AuthorizationFailed: no"}},
		},
		"refused by the plan": {
			reason:  "the input is wrong, and Azure was not asked",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Failed, Err: arm.Refusal("MachinePool.spec.replicas: must not be 0")}},
			want: []metav1.Condition{{Type: "A", Status: metav1.ConditionFalse, Reason: infrav1.InvalidConfigurationReason,
				Message: "MachinePool.spec.replicas: must not be 0"}},
		},
		"deleted": {
			reason:  "a deletion ends in False, because nothing exists",
			results: []arm.Result{{ID: vm, Group: "A", State: arm.Gone}},
			want:    []metav1.Condition{{Type: "A", Status: metav1.ConditionFalse, Reason: "Deleted", Message: "deleted"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := status.GroupConditions(arm.Outcome{Results: test.results}, []string{"A", "B"}, groupOfPruned)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

// groupOfPruned returns the groups of a plan that had subnets.
func groupOfPruned(id arm.ID) string {
	if id.Equal(subnet) {
		return "B"
	}
	return ""
}

// TestConnections reports private endpoints in place whose connection is not approved.
func TestConnections(t *testing.T) {
	const id, service = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateEndpoints/pe", "/subscriptions/o/resourceGroups/x/providers/Microsoft.Network/privateLinkServices/data"
	const pending = "privateEndpoints/pe: the connection to " + service + " is in the state Pending. Ask the owner of the service to approve it"
	const command = ", because the owner of the service rejected or removed it. A new private endpoint can request it again: az network private-endpoint delete --ids " + id
	for name, test := range map[string]struct {
		reason string
		result arm.Result
		want   metav1.Condition
	}{
		"approved": {"it is connected", arm.Result{State: arm.Ready}, metav1.Condition{Status: "True", Reason: "Ready"}},
		"pending": {"the owner has not answered", arm.Result{State: arm.Ready, Managed: true, UnapprovedConnections: []arm.Connection{{Service: service, State: "Pending", Description: "Awaiting approval"}}},
			metav1.Condition{Status: "False", Reason: "WaitingForApproval", Message: pending}},
		"drifted": {"the connection matters more", arm.Result{State: arm.Ready, UnrepairedDrift: []string{"tags.a"}, UnapprovedConnections: []arm.Connection{{Service: service, State: "pending"}}},
			metav1.Condition{Status: "False", Reason: "WaitingForApproval", Message: strings.Replace(pending, "Pending", "pending", 1)}},
		"rejected": {"the owner gave a reason", arm.Result{State: arm.Ready, Managed: true, UnapprovedConnections: []arm.Connection{{Service: service, State: "Rejected", Description: "not this team"}}},
			metav1.Condition{Status: "False", Reason: "NotConnected", Message: "privateEndpoints/pe: the connection to " + service + " is in the state Rejected (not this team)" + command +
				". The provider then creates the private endpoint again"}},
		"long reason": {"it is a text of another party, which may have a signature", arm.Result{State: arm.Ready,
			UnapprovedConnections: []arm.Connection{{Service: service, State: "Rejected", Description: "https://x.example/?sig=secret " + strings.Repeat("a", 10000)}}},
			metav1.Condition{Status: "False", Reason: "NotConnected", Message: "privateEndpoints/pe: the connection to " + service + " is in the state Rejected (" +
				text.Truncate("https://x.example/?sig=(left out) "+strings.Repeat("a", 10000), 560) + ")" + command}},
		"of others": {"the provider does not create it", arm.Result{State: arm.Foreign, UnapprovedConnections: []arm.Connection{{Service: service, State: "Disconnected"}}},
			metav1.Condition{Status: "False", Reason: "NotConnected", Message: "privateEndpoints/pe: the connection to " + service + " is in the state Disconnected" + command}},
		"updating": {"work under way comes first", arm.Result{State: arm.Updating}, metav1.Condition{Status: "False", Reason: "Updating", Message: "updating privateEndpoints/pe"}},
		"several": {"the one that needs an action decides", arm.Result{State: arm.Ready, UnapprovedConnections: []arm.Connection{{Service: service, State: "Pending"}, {Service: service, State: "Disconnected"}}},
			metav1.Condition{Status: "False", Reason: "NotConnected", Message: "privateEndpoints/pe: the connection to " + service + " is in the state Disconnected" + command + "; " + pending}},
	} {
		t.Run(name, func(t *testing.T) {
			test.result.ID, test.result.Group, test.want.Type = id, "PrivateEndpointsReady", "PrivateEndpointsReady"
			got := status.GroupConditions(arm.Outcome{Results: []arm.Result{test.result}}, []string{"PrivateEndpointsReady"}, func(arm.ID) string { return "" })
			if diff := cmp.Diff([]metav1.Condition{test.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestAwaitsOnlyServiceOwner has objects in which a private endpoint is not connected, alone and with other problems.
func TestAwaitsOnlyServiceOwner(t *testing.T) {
	for name, test := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"in order":           {[]metav1.Condition{{Type: "PrivateEndpointsReady", Status: "True", Reason: "Ready"}}, false},
		"pending":            {[]metav1.Condition{{Type: "PrivateEndpointsReady", Status: "False", Reason: "WaitingForApproval"}, {Type: "Paused", Status: "False", Reason: "NotPaused"}}, true},
		"rejected":           {[]metav1.Condition{{Type: "PrivateEndpointsReady", Status: "False", Reason: "NotConnected"}}, true},
		"and work under way": {[]metav1.Condition{{Type: "PrivateEndpointsReady", Status: "False", Reason: "WaitingForApproval"}, {Type: "VNetReady", Status: "False", Reason: "Updating"}}, false},
		"and a stopped VM":   {[]metav1.Condition{{Type: "PrivateEndpointsReady", Status: "False", Reason: "WaitingForApproval"}, {Type: "VMRunning", Status: "False", Reason: "VMStopped"}}, false},
	} {
		cluster := &infrav1.AzureCluster{}
		cluster.SetConditions(test.conditions)
		if got := status.AwaitsOnlyServiceOwner(cluster); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSet(t *testing.T) {
	obj := &infrav1.AzureMachine{}
	for _, conditionType := range []string{"A", "B", "Paused"} {
		conditions.Set(obj, metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: "Old"})
	}
	for _, conditionType := range []string{"C", "OnlyThere", "Ready"} {
		conditions.Set(obj, metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: infrav1.NotCheckedYetReason})
	}
	status.SetConditions(obj, []string{"A", "B", "C"}, []metav1.Condition{
		{Type: "B", Status: metav1.ConditionFalse, Reason: "New"}, {Type: "C", Status: metav1.ConditionTrue, Reason: "New"},
	})
	got := map[string]string{}
	for _, condition := range obj.GetConditions() {
		got[condition.Type] = condition.Reason
	}
	if diff := cmp.Diff(map[string]string{"B": "New", "C": "New", "Paused": "Old", "Ready": "NotCheckedYet"}, got); diff != "" {
		t.Errorf("conditions of groups without resources and of the established provider go; other conditions stay (-want +got):\n%s", diff)
	}
}

func TestGroupsBoundsMessages(t *testing.T) {
	var results []arm.Result
	for i := range 50 {
		results = append(results, arm.Result{ID: arm.ID(fmt.Sprintf("%s%d", vm, i)), Group: "A", State: arm.Creating})
	}
	got := status.GroupConditions(arm.Outcome{Results: results}, []string{"A"}, groupOfPruned)
	if message := got[0].Message; strings.Count(message, ";") != 4 || !strings.HasSuffix(message, "and 46 more") {
		t.Errorf("fifty resources are summed up, got %q", message)
	}
}

// TestEqualMessagesAreJoined reports two addresses that one list reads, which fails.
func TestEqualMessagesAreJoined(t *testing.T) {
	lost := errors.New("GET publicIPAddresses: ServerBusy: try again later")
	var results []arm.Result
	for i := range 2 {
		results = append(results, arm.Result{ID: arm.ID(fmt.Sprintf("%s%d", vm, i)), Group: "A", State: arm.Failed, Err: lost})
	}
	got := status.GroupConditions(arm.Outcome{Results: results}, []string{"A"}, groupOfPruned)
	if message := got[0].Message; strings.Count(message, "ServerBusy") != 1 {
		t.Errorf("the request is named once, got %q", message)
	}
}

// TestResultsShareAFailedRequest reports resources of each unfinished state that wait for one request, which failed; it expects that all
// are named, and the request once.
func TestResultsShareAFailedRequest(t *testing.T) {
	for _, state := range []arm.State{arm.Failed, arm.Waiting, arm.Absent, arm.Deleting, arm.Creating, arm.Updating, arm.Blocked} {
		var results []arm.Result
		for i := range 6 {
			results = append(results, arm.Result{ID: arm.ID(fmt.Sprintf("%s%d", vm, i)), Group: "A", State: state,
				Message: "sizes are being looked up, again after: GET skus/skus: TokenUnavailable"})
		}
		message := status.GroupConditions(arm.Outcome{Results: results}, []string{"A"}, groupOfPruned)[0].Message
		if strings.Count(message, "GET skus/skus") != 1 || strings.Count(message, "virtualMachines/m") != len(results) {
			t.Errorf("%s: the condition must name each resource, and the request once: %s", state, message)
		}
	}
}

func TestSummary(t *testing.T) {
	blocked := metav1.Condition{Type: "A", Status: metav1.ConditionFalse, Reason: infrav1.WaitingForDependencyReason, Message: "a"}
	creating := metav1.Condition{Type: "B", Status: metav1.ConditionFalse, Reason: infrav1.CreatingReason, Message: "b"}
	failed := metav1.Condition{Type: "C", Status: metav1.ConditionFalse, Reason: infrav1.QuotaExceededReason, Message: "c"}
	ready := metav1.Condition{Type: "D", Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	old := metav1.Condition{Type: "E", Status: metav1.ConditionTrue, Reason: infrav1.LastSeenReason, Message: "e"}
	unknown := metav1.Condition{Type: "F", Status: metav1.ConditionUnknown, Reason: infrav1.WaitingReason, Message: "f"}
	gone := metav1.Condition{Type: "G", Status: metav1.ConditionFalse, Reason: infrav1.DeletedReason, Message: "deleted"}
	waiting := metav1.Condition{Type: "H", Status: metav1.ConditionFalse, Reason: infrav1.WaitingReason, Message: "h"}

	tests := map[string]struct {
		reason     string
		conditions []metav1.Condition
		want       metav1.Condition
	}{
		"all true": {"nothing is missing", []metav1.Condition{ready},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"}},
		"failure first": {"the root cause wins", []metav1.Condition{blocked, creating, failed, ready},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "QuotaExceeded", Message: "C: c"}},
		"progress second": {"the running operation explains the blocked resource", []metav1.Condition{blocked, creating},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Creating", Message: "B: b"}},
		"as old as a part": {"a part that was not read is named", []metav1.Condition{ready, old},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "LastSeen", Message: "E: e"}},
		"unknown": {"unknown is no failure", []metav1.Condition{ready, old, unknown},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionUnknown, Reason: "Waiting", Message: "F: f"}},
		"known to be bad": {"one bad part is enough", []metav1.Condition{unknown, blocked},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "WaitingForDependency", Message: "A: a"}},
		"VM in progress": {"a VM has its own reasons",
			[]metav1.Condition{blocked, {Type: "B", Status: metav1.ConditionFalse, Reason: infrav1.VMCreatingReason, Message: "b"}},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "VMCreating", Message: "B: b"}},
		"gone": {"a deleted resource that was to be deleted delays no other", []metav1.Condition{gone, waiting, blocked},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "H: h"}},
		"blocked, gone": {"a deleted resource does not explain the state of the others", []metav1.Condition{gone, blocked},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "WaitingForDependency", Message: "A: a"}},
		"all gone": {"the last word of a deletion", []metav1.Condition{gone},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Deleted", Message: "G: deleted"}},
		"blocked at least": {"the message is never empty", []metav1.Condition{blocked},
			metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "WaitingForDependency", Message: "A: a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, status.SummaryCondition("Ready", test.conditions)); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

// TestResultReason checks that the reason follows from the code that the class follows from.
func TestResultReason(t *testing.T) {
	wrapped := func(own, detail string) error {
		return &arm.Error{Method: "PUT", ID: vm, Status: 200, Code: own, Message: "the operation failed", Details: []arm.Detail{{Code: detail, Message: "m"}}}
	}
	tests := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"capacity in details": {"AKS wraps the cause", wrapped("ResourceOperationFailure", "OverconstrainedZonalAllocationRequest"), "CapacityUnavailable"},
		"quota in details":    {"the cancelled operation names the cause", wrapped("Canceled", "QuotaExceeded"), "QuotaExceeded"},
		"cores in details":    {"AKS has a code of its own", wrapped("ResourceOperationFailure", "ErrCode_InsufficientVCPUQuota"), "QuotaExceeded"},
		"throttling in details": {"it passes", wrapped("ResourceOperationFailure", "TooManyRequests"),
			"Throttled"},
		"other letters":    {"Azure does not keep to one spelling", &arm.Error{ID: vm, Status: 409, Code: "quotaexceeded"}, "QuotaExceeded"},
		"quota of Compute": {"the message names it", &arm.Error{ID: vm, Status: 409, Code: "OperationNotAllowed", Message: "exceeding approved Cores quota"}, "QuotaExceeded"},
		"throttled":        {"the status decides", &arm.Error{ID: vm, Status: 429, Code: "OperationNotAllowed"}, "Throttled"},
		"own code":         {"the table knows it", wrapped("AllocationFailed", "QuotaExceeded"), "CapacityUnavailable"},
		"unknown code":     {"no detail is known either", wrapped("Unheard", "Unheard2"), "Failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := status.ResultReason(arm.Result{ID: vm, State: arm.Failed, Err: test.err}); got != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	path := field.NewPath("spec", "vmSize")
	got := status.RefusalCondition("VMRunning", field.ErrorList{field.Invalid(path, "Standard_X", "the region has no such size")})
	if got.Reason != infrav1.InvalidConfigurationReason || !strings.Contains(got.Message, "spec.vmSize") ||
		!strings.Contains(got.Message, "Standard_X") {
		t.Errorf("the condition names field and value, got %+v", got)
	}
	got = status.RefusalCondition("VMRunning", field.ErrorList{field.Forbidden(path, "not implemented")})
	if got.Reason != infrav1.NotSupportedReason {
		t.Errorf("a setting that is only not implemented is NotSupported, got %s", got.Reason)
	}
}

func TestProblem(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"identity": {"the identity's own code is the reason", &identity.Error{Code: identity.SecretKeyMissing, Message: "no key"},
			"SecretKeyMissing"},
		"subscription": {"Azure's code has its own reason", &arm.Error{Method: "GET", ID: vnet, Status: 404, Code: "SubscriptionNotFound"},
			"SubscriptionNotFound"},
		"credentials": {"a refused token is about the credentials", &arm.Error{Method: "GET", ID: vnet, Status: 401, Code: "CredentialsInvalid"},
			"CredentialsInvalid"},
		"server error": {"a temporary error is waited for", &arm.Error{Method: "GET", ID: vnet, Status: 503, Code: "ServiceUnavailable"},
			"Waiting"},
		"throttled": {"a limit of Azure has a reason of its own, for reads like for writes",
			&arm.Error{Method: "GET", ID: vnet, Status: 429, Code: "TooManyRequests"}, "Throttled"},
		"subscription throttled": {"as above", &arm.Error{Method: "GET", ID: vnet, Status: 429, Code: "SubscriptionRequestsThrottled"}, "Throttled"},
		"own budget":             {"no request was sent", &arm.Error{Method: "GET", ID: vnet, Status: 429, Code: arm.CodeBudgetEmpty}, "Waiting"},
		"in use":                 {"a deletion waits for another resource", &arm.Error{Method: "DELETE", ID: vnet, Status: 400, Code: "NicInUse"}, "Waiting"},
		"other":                  {"an unknown error is a failure", errors.New("broken"), "InternalError"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			condition, after := status.ProblemCondition("Ready", test.err)
			if condition.Reason != test.want || after <= 0 || !strings.Contains(condition.Message, after.String()) {
				t.Errorf("%s: got %s after %s: %s", test.reason, condition.Reason, after, condition.Message)
			}
		})
	}
}
