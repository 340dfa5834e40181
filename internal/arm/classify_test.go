package arm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClassify(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		want   Class
	}{
		"plain error": {"a bug or the network, not Azure", errors.New("x"), ClassRetry},
		"wrapped":     {"callers add context", fmt.Errorf("x: %w", &Error{Status: 404}), ClassNotFound},
		"throttled compute": {"the code is that of a used-up quota, the status is not",
			&Error{Status: 429, Code: "OperationNotAllowed"}, ClassWaiting},
		"quota": {"more quota has to be requested", &Error{Status: 409, Code: "OperationNotAllowed"}, ClassStalled},
		"pending operation": {"AKS uses the code also for permanent refusals",
			&Error{Status: 409, Code: "OperationNotAllowed",
				Message: "Operation is not allowed: Another operation is in progress, https://aka.ms/aks-pending-operation"}, ClassWaiting},
		"capacity": {"arrives in an operation, with status 200", &Error{Status: 200, Code: "AllocationFailed"}, ClassStalled},
		"busy":     {"ends by itself", &Error{Status: 409, Code: "AnotherOperationInProgress"}, ClassWaiting},
		"superseded": {"the operation of another client goes on", &Error{Status: 200, Code: "Canceled",
			Details: []Detail{{Code: "CanceledAndSupersededDueToAnotherOperation"}}}, ClassWaiting},
		"cancelled":    {"arrives in an operation, with status 200", &Error{Status: 200, Code: "Canceled"}, ClassRetry},
		"disconnected": {"the other peering is updated meanwhile", &Error{Status: 400, Code: "RemotePeeringIsDisconnected"}, ClassWaiting},
		"code in details": {"network wraps the cause",
			&Error{Status: 412, Code: "Whatever", Details: []Detail{{Code: "PreconditionFailedEtagMismatch"}}}, ClassWaiting},
		"not found in details": {"a missing reference does not mean that the resource is gone",
			&Error{Status: 400, Code: "X", Details: []Detail{{Code: "NotFound"}}}, ClassStalled},
		"subscription not found": {"404, but the resource may well exist", &Error{Status: 404, Code: "SubscriptionNotFound"},
			ClassStalled},
		"image of the Marketplace": {"404, but it is the image that does not exist", &Error{Method: "PUT", Status: 404, Code: "PlatformImageNotFound"},
			ClassStalled},
		"managed image": {"404, but it is the image that does not exist", &Error{Method: "PUT", Status: 404, Code: "ImageNotFound"}, ClassStalled},
		"pending operation in details": {"AKS wraps the cause", &Error{Status: 200, Code: "ResourceOperationFailure",
			Details: []Detail{{Code: "OperationNotAllowed", Message: "Another operation is in progress"}}}, ClassWaiting},
		"unknown 400": {"the request is wrong", &Error{Status: 400, Code: "Unheard"}, ClassStalled},
		"unknown 409": {"conflicts end by themselves", &Error{Status: 409, Code: "Unheard"}, ClassRetry},
		"unknown 500": {"Azure's own", &Error{Status: 502}, ClassRetry},
		"no answer":   {"connection reset", &Error{Code: "ConnectionFailed"}, ClassRetry},
		"credentials": {"only the user can correct them", &Error{Status: 401, Code: "CredentialsInvalid"}, ClassStalled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Classify(test.err); got != test.want {
				t.Errorf("%s: got %s (%s), want %s", test.reason, got, ClassReason(test.err), test.want)
			}
		})
	}
}

func TestCodeRules(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range codeRules {
		if seen[strings.ToLower(rule.code)] {
			t.Errorf("%s is in the table twice", rule.code)
		}
		seen[strings.ToLower(rule.code)] = true
		if rule.reason == "" {
			t.Errorf("%s has no reason", rule.code)
		}
		if _, ok := backOffs[rule.class]; !ok {
			t.Errorf("%s: class %q has no back-off", rule.code, rule.class)
		}
	}
}

func TestBackOff(t *testing.T) {
	var got []time.Duration
	for attempt := range 9 {
		got = append(got, BackOff(ClassRetry, attempt, 0))
	}
	s := time.Second
	if diff := cmp.Diff([]time.Duration{s, s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 120 * s}, got); diff != "" {
		t.Error(diff)
	}
	if got := BackOff(ClassStalled, 100, 0.5); got != 9*time.Minute {
		t.Errorf("jitter reduces the longest delay by a tenth here, got %s", got)
	}
	if got := RetryDelay(&Error{Status: 429, RetryAfter: 17 * s}, 5, 0); got != 17*s {
		t.Errorf("a throttled request waits as long as Azure asks, got %s", got)
	}
	for _, test := range []struct {
		err  *Error
		want time.Duration
	}{
		{&Error{Status: 400, Code: "InvalidParameter", RetryAfter: time.Millisecond}, BackOff(ClassStalled, 3, 0)},
		{&Error{Status: 503, RetryAfter: time.Millisecond}, BackOff(ClassRetry, 3, 0)},
		{&Error{Status: 503, RetryAfter: 10 * time.Minute}, 10 * time.Minute},
		{&Error{Status: 429, RetryAfter: time.Millisecond}, minRetryDelay},
	} {
		if got := RetryDelay(test.err, 3, 0); got != test.want {
			t.Errorf("%d after a third failure: got %s, want %s", test.err.Status, got, test.want)
		}
	}
}

func TestReadRetryDelay(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		err    error
		want   time.Duration
	}{
		"no answer":            {"another try is a request", errors.New("connection refused"), 15 * time.Second},
		"throttled by Azure":   {"Azure may name a short time", &Error{Status: 429, RetryAfter: time.Second}, 15 * time.Second},
		"throttled for longer": {"Azure's time", &Error{Status: 429, RetryAfter: time.Minute}, time.Minute},
		"refused":              {"a user has to act", &Error{Status: 403, Code: "AuthorizationFailed", RetryAfter: time.Second}, time.Minute},
		"budget is empty": {"the queue keeps the place for five seconds after its time, and no request was sent",
			&Error{Status: 429, Code: CodeBudgetEmpty, RetryAfter: time.Second}, time.Second},
		"budget is empty for an instant": {"a worker does nothing else otherwise",
			&Error{Status: 429, Code: CodeBudgetEmpty, RetryAfter: time.Millisecond}, 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ReadRetryDelay(test.err); got != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

// TestDecisiveCode checks the code that class and reason of an error follow from.
func TestDecisiveCode(t *testing.T) {
	detail := func(codes ...string) (out []Detail) {
		for _, code := range codes {
			out = append(out, Detail{Code: code})
		}
		return out
	}
	tests := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"no answer of Azure": {"it has no code", errors.New("x"), ""},
		"own":                {"the table has it", &Error{Status: 409, Code: "ScopeLocked", Details: detail("QuotaExceeded")}, "ScopeLocked"},
		"other letters":      {"Azure does not keep to one spelling", &Error{Status: 409, Code: "scopelocked"}, "ScopeLocked"},
		"unknown":            {"there is no better one", &Error{Status: 400, Code: "Unheard", Details: detail("Unheard2")}, "Unheard"},
		"detail of an unknown code": {"the cause is in it, jenkins-infra/helpdesk#3584",
			&Error{Status: 200, Code: "ResourceOperationFailure", Details: detail("Unheard", "overconstrainedzonalallocationrequest")},
			"OverconstrainedZonalAllocationRequest"},
		"budget of Pods":               {"AKS wraps the cause", &Error{Status: 200, Code: "ReconcileAgentPoolFailed", Details: detail("UnsatisfiablePDB")}, "UnsatisfiablePDB"},
		"detail of Canceled":           {"the cause is in it", &Error{Status: 200, Code: "Canceled", Details: detail("QuotaExceeded")}, "QuotaExceeded"},
		"Canceled alone":               {"there is no cause", &Error{Status: 200, Code: "Canceled"}, "Canceled"},
		"missing reference in details": {"it is not about the resource", &Error{Status: 400, Code: "X", Details: detail("NotFound")}, "X"},
		"status 429":                   {"the code has another meaning with other statuses", &Error{Status: 429, Code: "OperationNotAllowed"}, "TooManyRequests"},
		"empty budget":                 {"Azure did not answer", &Error{Status: 429, Code: CodeBudgetEmpty}, CodeBudgetEmpty},
		"quota of Compute": {"the message has the cause", &Error{Status: 409, Code: "OperationNotAllowed",
			Message: "exceeding approved Total Regional Cores quota"}, "QuotaExceeded"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := DecisiveCode(test.err); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

// TestReasonOfOperationNotAllowed tells a used-up quota from a change that Azure does not allow.
func TestReasonOfOperationNotAllowed(t *testing.T) {
	for message, want := range map[string]string{
		"Operation could not be completed as it results in exceeding approved Total Regional Cores quota.": "the quota of Compute is used up",
		"The Image type for a Virtual Machine Scale Set may not be changed.":                               "the state or kind of the resource does not allow the operation",
		"": "the state or kind of the resource does not allow the operation",
	} {
		if got := ClassReason(&Error{Status: 409, Code: "OperationNotAllowed", Message: message}); got != want {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
}
