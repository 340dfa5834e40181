package status_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

func TestConditionsWithoutAnswer(t *testing.T) {
	var (
		outage      = fmt.Errorf("zones: %w", &arm.Error{Method: "GET", ID: vm, Status: 503, Code: "ServiceUnavailable"})
		throttled   = &arm.Error{Method: "GET", ID: vm, Status: 429, Code: "TooManyRequests"}
		noToken     = &arm.Error{Method: "GET", ID: vm, Code: "TokenUnavailable", Message: "no token from Entra ID"}
		credentials = &arm.Error{Method: "POST", ID: vm, Status: 401, Code: "CredentialsInvalid"}
		permission  = &arm.Error{Method: "GET", ID: vm, Status: 403, Code: "AuthorizationFailed"}
		noSecret    = &identity.Error{Code: identity.SecretNotFound, Message: "no Secret"}
		revoked     = &identity.Error{Code: identity.NamespaceNotAllowedByIdentity, Message: "not in the list"}
		tenancy     = &identity.Error{Code: identity.NotAllowedByTenancy, Message: "not listed"}
		refused     = &arm.Error{Method: "POST", ID: vm, Status: 403, Code: "AuthorizationFailed"}
		invalid     = field.Invalid(field.NewPath("spec", "location"), "mars", "no region")
	)
	ready := &metav1.Condition{Status: metav1.ConditionTrue, Reason: "Ready"}
	drifted := &metav1.Condition{Status: metav1.ConditionTrue, Reason: "Drifted", Message: "m was changed"}
	stopped := &metav1.Condition{Status: metav1.ConditionFalse, Reason: "VMStopped", Message: "the VM is stopped"}
	waited := &metav1.Condition{Status: metav1.ConditionFalse, Reason: "SecretNotFound", Message: "no Secret"}
	ownerless := &metav1.Condition{Status: metav1.ConditionFalse, Reason: "OwnerRefNotSet", Message: "no Machine owns the AzureMachine"}
	tests := map[string]struct {
		reason string
		last   *metav1.Condition
		err    error
		want   metav1.Condition
	}{
		"outage, True": {"an outage proves nothing about the machine", ready, outage,
			newCondition("True", "LastSeen",
				"as last seen; Azure does not answer: zones: GET virtualMachines/m: ServiceUnavailable; next try in 15s")},
		"outage, drifted": {"the last condition stays", drifted, outage,
			newCondition("True", "LastSeen",
				"m was changed; as last seen; Azure does not answer: zones: GET virtualMachines/m: ServiceUnavailable; next try in 15s")},
		"outage, stopped": {"a stopped machine stays one", stopped, outage,
			newCondition("False", "VMStopped",
				"the VM is stopped; as last seen; Azure does not answer: zones: GET virtualMachines/m: ServiceUnavailable; next try in 15s")},
		"outage, never seen": {"the condition of a missing Secret shows no state of the machine", waited, outage,
			newCondition("Unknown", "Waiting", "zones: GET virtualMachines/m: ServiceUnavailable; next try in 15s")},
		"outage, no owner yet": {"a missing owner is no state of a resource, and is no longer missing", ownerless, outage,
			newCondition("Unknown", "Waiting", "zones: GET virtualMachines/m: ServiceUnavailable; next try in 15s")},
		"outage, first": {"nothing is known", nil, outage,
			newCondition("Unknown", "Waiting", "zones: GET virtualMachines/m: ServiceUnavailable; next try in 15s")},
		"throttled, True": {"throttling proves nothing about the machine", ready, throttled,
			newCondition("True", "LastSeen", "as last seen; Azure does not answer: GET virtualMachines/m: TooManyRequests; next try in 15s")},
		"no token, True": {"Entra ID is down", ready, noToken,
			newCondition("True", "LastSeen",
				"as last seen; Azure does not answer: GET virtualMachines/m: TokenUnavailable: no token from Entra ID; next try in 15s")},
		"credentials, True": {"an expired secret proves nothing about the machine", ready, credentials,
			newCondition("True", "LastSeen",
				"as last seen; Azure cannot be asked: CredentialsInvalid; next try in 1m0s")},
		"credentials, first": {"a person has to correct them", nil, credentials,
			newCondition("False", "CredentialsInvalid", "CredentialsInvalid; next try in 1m0s")},
		"permission, True": {"a removed role proves nothing about the machine", ready, permission,
			newCondition("True", "LastSeen",
				"as last seen; Azure cannot be asked: GET virtualMachines/m: AuthorizationFailed; next try in 1m0s")},
		"no secret, True": {"a missing Secret proves nothing about the machine", ready, noSecret,
			newCondition("True", "LastSeen", "as last seen; Azure cannot be asked: no Secret; next try in 1m0s")},
		"no secret, stopped": {"the action that users have to take comes first", stopped, noSecret,
			newCondition("False", "SecretNotFound", "no Secret; next try in 1m0s")},
		"revoked, True": {"the owner of the identity decided it", ready, revoked,
			newCondition("Unknown", "NamespaceNotAllowedByIdentity", "not in the list; next try in 1m0s")},
		"revoked, stopped": {"the action that users have to take comes first", stopped, revoked,
			newCondition("False", "NamespaceNotAllowedByIdentity", "not in the list; next try in 1m0s")},
		"revoked, first": {"nothing is known", nil, revoked,
			newCondition("False", "NamespaceNotAllowedByIdentity", "not in the list; next try in 1m0s")},
		"tenancy, True": {"the owner of the manager decided it", ready, tenancy,
			newCondition("Unknown", "NotAllowedByTenancy", "not listed; next try in 1m0s")},
		"refused, True": {"a refused write is an answer of Azure", ready, refused,
			newCondition("False", "Failed", "POST virtualMachines/m: AuthorizationFailed; next try in 1m0s")},
		"invalid, True": {"the spec is known to be wrong", ready, invalid,
			newCondition("False", "InvalidConfiguration", invalid.Error()+"; next try in 1m0s")},
		"error of Kubernetes, True": {"an error of the API server proves nothing about the machine", ready, errors.New("broken"),
			newCondition("True", "LastSeen", "as last seen; the last reconciliation failed: broken; next try in 15s")},
		"error of Kubernetes, stopped": {"the error is shown", stopped, errors.New("broken"),
			newCondition("False", "InternalError", "broken; next try in 15s")},
		"error of Kubernetes, first": {"nothing is known", nil, errors.New("broken"),
			newCondition("False", "InternalError", "broken; next try in 15s")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &infrav1.AzureMachine{}
			if test.last != nil {
				test.last.Type = "A"
				conditions.Set(obj, *test.last)
			}
			// The second time, the condition is already that of the former failure.
			for range 2 {
				status.SetReadError(obj, test.err, "A")
				test.want.Type = "A"
				if diff := cmp.Diff(&test.want, conditions.Get(obj, "A"), cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			}
		})
	}
}

// TestIdentityProblemsDoNotOutliveOutages simulates an outage of Azure after each problem of an identity was solved; it expects that the
// condition no longer shows that problem.
func TestIdentityProblemsDoNotOutliveOutages(t *testing.T) {
	outage := &arm.Error{Method: "GET", ID: vm, Status: 503, Code: "ServiceUnavailable"}
	for name, reason := range readReasons(t, "../identity") {
		obj := &infrav1.AzureMachine{}
		conditions.Set(obj, metav1.Condition{Type: "A", Status: metav1.ConditionFalse, Reason: reason, Message: "earlier"})
		status.SetReadError(obj, outage, "A")
		if got := conditions.Get(obj, "A"); got.Status != metav1.ConditionUnknown || got.Reason != infrav1.WaitingReason {
			t.Errorf("%s: the condition is %s %s, want Unknown %s", name, got.Status, got.Reason, infrav1.WaitingReason)
		}
	}
}

// TestConditionsNameARequestOnce lets the same request fail again with an answer that shows nothing, after conditions of each earlier
// failure; it expects that the message has the last failure only.
func TestConditionsNameARequestOnce(t *testing.T) {
	outage := func(method string) error {
		return &arm.Error{Method: method, ID: vm, Status: 503, Code: "ServiceUnavailable"}
	}
	for name, test := range map[string]struct {
		reason string
		last   metav1.Condition
		err    error
		want   string
	}{
		"write again": {"the earlier failure of the write is no longer the last one",
			newCondition("False", "Updating", "virtualMachines/m: new try after the error: PUT virtualMachines/m: RetryableError; as last seen; other"), outage("PUT"),
			"as last seen; Azure does not answer: PUT virtualMachines/m: ServiceUnavailable; retried"},
		"read after a write": {"another request failed", newCondition("False", "Failed", "PUT virtualMachines/m: BadRequest"), outage("GET"),
			"PUT virtualMachines/m: BadRequest; as last seen; Azure does not answer: GET virtualMachines/m: ServiceUnavailable; retried"},
		"no request": {"the state of a resource names no request", newCondition("False", "VMStopped", "the VM is stopped"), outage("PUT"),
			"the VM is stopped; as last seen; Azure does not answer: PUT virtualMachines/m: ServiceUnavailable; retried"},
	} {
		obj := &infrav1.AzureMachine{}
		test.last.Type = "A"
		conditions.Set(obj, test.last)
		outcome := arm.Outcome{Results: []arm.Result{{ID: vm, Group: "A", State: arm.Waiting, Err: test.err, Message: "retried", Observed: []byte("{}")}}}
		status.SetConditions(obj, []string{"A"}, status.GroupConditions(outcome, []string{"A"}, groupOfPruned))
		if got := conditions.Get(obj, "A"); got.Message != test.want || got.Status != metav1.ConditionFalse {
			t.Errorf("%s: %s: got %s %q, want False %q", name, test.reason, got.Status, got.Message, test.want)
		}
	}
}

// TestConditionsOfADeletionWithoutAnswer reports a machine that is being deleted and cannot be deleted.
func TestConditionsOfADeletionWithoutAnswer(t *testing.T) {
	obj := &infrav1.AzureMachine{}
	obj.DeletionTimestamp = new(metav1.Now())
	conditions.Set(obj, metav1.Condition{Type: "A", Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	status.SetReadError(obj, &identity.Error{Code: identity.SecretNotFound, Message: "no Secret"}, "A")
	if got := conditions.Get(obj, "A"); got.Status != metav1.ConditionFalse || got.Reason != "SecretNotFound" {
		t.Errorf("the condition must name the blocker, and not that the object was ready once: %+v", got)
	}
}

func newCondition(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Status: status, Reason: reason, Message: message}
}
