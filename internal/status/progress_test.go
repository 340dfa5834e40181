package status_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

func TestSetProgress(t *testing.T) {
	const none = ""
	condition := func(conditionType string, value metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: value, Reason: reason, Message: message}
	}
	ready := func(value metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{condition("Ready", value, reason, "cause")}
	}
	reconciling, stalled := condition("Reconciling", "True", "Creating", "m"), condition("Stalled", "True", "Failed", "m")
	expired := &arm.Error{Method: "GET", ID: vm, Status: 401, Code: "CredentialsInvalid"}
	outage := &arm.Error{Method: "GET", ID: vm, Status: 503, Code: "ServiceUnavailable"}
	tests := map[string]struct {
		reason string
		stored []metav1.Condition
		// unread is an error of reading Azure in this reconciliation, or nil.
		unread error
		unseen bool
		want   string
	}{
		"nothing known":       {"the first write has the Paused condition only", nil, nil, true, "Reconciling"},
		"in order":            {"neither condition is kept", append(ready("True", "Ready"), reconciling, stalled), nil, false, none},
		"creating":            {"something is under way", ready("False", "Creating"), nil, true, "Reconciling"},
		"unknown":             {"Azure does not answer: that ends by itself", ready("Unknown", "Waiting"), nil, true, "Reconciling"},
		"manager's own error": {"the manager tries again", ready("False", infrav1.InternalErrorReason), nil, false, "Reconciling"},
		"refused":             {"the spec has to be corrected", append(ready("False", "InvalidConfiguration"), reconciling), nil, false, "Stalled"},
		"corrected":           {"it is cleared when the cause is gone", append(ready("False", "Creating"), stalled), nil, true, "Reconciling"},
		"no right":            {"the owner of the identity forbids its use", ready("Unknown", "NamespaceNotAllowedByIdentity"), nil, false, "Stalled"},
		"paused":              {"nothing is under way", append(ready("False", "Failed"), condition("Paused", "True", "Paused", ""), reconciling), nil, false, none},
		"paused in an outage": {"no condition shows a change of the spec", append(ready("True", infrav1.LastSeenReason), condition("Paused", "True", "Paused", "")), nil,
			false, none},
		"paused with a spec that is not applied": {"the observed generation is that of the spec",
			append(ready("True", infrav1.LastSeenReason), condition("Paused", "True", "Paused", ""), reconciling), nil, false, "Reconciling"},
		"expired credential": {"the machine runs, and a person has to renew the credential", ready("True", "Ready"), expired, false, "Stalled"},
		"outage":             {"a running machine is what it was", ready("True", "Ready"), outage, false, none},
		"outage after a change of the spec": {
			"the new spec is not applied yet", ready("True", "Ready"), outage, true, "Reconciling"},
		"outage goes on": {"that stays so until Azure answers", append(ready("True", "Ready"), reconciling), outage, false, "Reconciling"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			machine := &infrav1.AzureMachine{}
			machine.SetConditions(test.stored)
			if test.unread != nil {
				status.SetReadError(machine, test.unread, infrav1.ReadyCondition)
			}
			status.SetProgress(machine, test.unseen)
			got := ""
			for _, conditionType := range infrav1.ProgressConditions {
				if conditions.IsTrue(machine, conditionType) {
					got += conditionType
				}
			}
			if got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
			if got == none {
				return
			}
			ready, shown := conditions.Get(machine, infrav1.ReadyCondition), conditions.Get(machine, got)
			if ready != nil && (shown.Reason != ready.Reason || shown.Message != ready.Message) {
				t.Errorf("%s: it shows %s %q, and Ready %s %q", test.reason, shown.Reason, shown.Message, ready.Reason, ready.Message)
			}
			before := slices.Clone(machine.GetConditions())
			status.SetProgress(machine, test.unseen)
			if diff := cmp.Diff(before, machine.GetConditions()); diff != "" {
				t.Errorf("%s: a second call changes it (-before +after):\n%s", test.reason, diff)
			}
		})
	}
}

// TestTimeOfWork starts VMs that were stopped for a day: the time since which the object is not in order begins with the start.
func TestTimeOfWork(t *testing.T) {
	long := metav1.NewTime(time.Now().Add(-24 * time.Hour).Truncate(time.Second))
	for name, test := range map[string]struct {
		reason, before, after string
		kept                  bool
	}{
		"started":          {"the start is work", "StoppedAsRequested", "Starting", false},
		"stops":            {"the stop has ended", "Stopping", "StoppedAsRequested", false},
		"stays stopped":    {"nothing happened", "StoppedAsRequested", "StoppedAsRequested", true},
		"end of observing": {"the creation is work", "Observing", "Creating", false},
		"work goes on":     {"other reasons are of the same work", "Creating", "Updating", true},
	} {
		machine := &infrav1.AzureMachine{}
		machine.SetConditions([]metav1.Condition{
			{Type: "Ready", Status: "False", Reason: test.after, LastTransitionTime: long},
			{Type: "Reconciling", Status: "True", Reason: test.before, LastTransitionTime: long},
		})
		status.SetProgress(machine, false)
		if got := conditions.Get(machine, "Reconciling").LastTransitionTime; got.Equal(&long) != test.kept {
			t.Errorf("%s: %s: since %s, kept is %t", name, test.reason, got, test.kept)
		}
	}
}

// TestStalledReasons requires a decision for every reason of a condition: either a person has to act, or the reason is listed here.
func TestStalledReasons(t *testing.T) {
	goesOn := []string{
		"Ready", "Drifted", "NotCheckedYet", "LastSeen", // The condition is True.
		"Creating", "Updating", "Deleting", "Deleted", "Waiting", "WaitingForClusterInfrastructure", "WaitingForBootstrapData",
		"WaitingForControlPlane", "WaitingForMachinePools", "WaitingForMachines", "ScaleSetScalingUp", "ScaleSetScalingDown",
		"ScaleSetModelOutOfDate", "ScaleSetModelLimit", "NodeProvisioning", "NodeConditionsFailed", "InUse", "WaitingForDependency",
		"Throttled", "AzureResourceUnavailable", "Observing", "VMCreating", "VMUpdating", "VMDeleting", "WorkloadClusterUnreachable", "OwnerRefNotSet", "ClusterNotFound",
		"AzureClusterNotFound", "ControlPlaneNotFound", clusterv1.InternalErrorReason,
		"Starting", "Stopping", "StoppedAsRequested", // A user asked for it.
		"UserAssignedIdentityMissing",                    // Azure is assigning it. A refused assignment has another reason.
		"Ignored", "CloudConfigFailed", "VMIdentityNone", // Only events have them.
		"TenantsTrusted", "UsedBeforeUpgrade", "DefinitionMissing", "WorkloadClusterRefused", // Ready does not summarize the condition.
		"WaitingForApproval",   // The owner of the service of a private endpoint acts.
		"NamespaceTerminating", // The objects of the namespace are deleted.
	}
	found := 0
	for _, directory := range []string{"../../api/v1beta1", "../identity"} {
		for name, reason := range readReasons(t, directory) {
			found++
			if status.NeedsAction(reason) == slices.Contains(goesOn, reason) {
				t.Errorf("%s %q has to be either a reason for which a person acts or in the list of this test", name, reason)
			}
		}
	}
	if found < 60 {
		t.Errorf("found only %d reasons", found)
	}
}

// TestWarningReasons has the reasons of Warnings that need no action of a person. All other reasons without an action have no Warning.
func TestWarningReasons(t *testing.T) {
	want := []string{"AzureResourceUnavailable", "CloudConfigFailed", "Drifted", "Ignored", "NamespaceTerminating", "Throttled", "UsedBeforeUpgrade", "VMIdentityNone",
		"Waiting", "WaitingForApproval", "WorkloadClusterRefused"}
	var got []string
	for _, directory := range []string{"../../api/v1beta1", "../identity"} {
		for _, reason := range readReasons(t, directory) { // InternalError is a constant of Cluster API.
			if status.HasWarnings(reason) && !status.NeedsAction(reason) {
				got = append(got, reason)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// readReasons returns the values of the constants in a directory that are reasons of conditions, by their names.
func readReasons(t *testing.T, directory string) map[string]string {
	t.Helper()
	out := map[string]string{}
	packages, err := parser.ParseDir(token.NewFileSet(), directory, nil, 0) //nolint:staticcheck // One directory of plain files.
	if err != nil {
		t.Fatal(err)
	}
	for _, parsed := range packages {
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			declared, _ := spec.Type.(*ast.Ident)
			for i, name := range spec.Names {
				if i < len(spec.Values) && (strings.HasSuffix(name.Name, "Reason") || declared != nil && declared.Name == "Code") {
					if value, ok := spec.Values[i].(*ast.BasicLit); ok {
						out[name.Name] = strings.Trim(value.Value, `"`)
					}
				}
			}
			return true
		})
	}
	return out
}
