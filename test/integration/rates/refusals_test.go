package rates_test

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// refusal is one way in which Azure refuses a request permanently.
type refusal struct {
	reason string
	// rule is the fault without the resource it is for.
	rule fault.Rule
	// retried means that the cause may pass by itself, so that it is tried again within seconds at first.
	retried bool
}

// refusals are the answers to a PUT, by the class of the error.
var refusals = map[string]refusal{
	"parameter": {"the spec has a value that Azure refuses", statusFault(400, "InvalidParameter", "The value of parameter x is invalid."), false},
	"forbidden": {"the identity lacks a role", statusFault(403, "AuthorizationFailed", "The client does not have authorization to perform action."),
		false},
	"policy": {"a policy of the company forbids it", statusFault(403, "RequestDisallowedByPolicy", "Resource was disallowed by policy."), false},
	"quota": {"the quota is used up",
		statusFault(409, "QuotaExceeded", "Operation could not be completed as it results in exceeding approved quota."), false},
	"size": {"the size is not offered",
		statusFault(409, "SkuNotAvailable", "The requested size is currently not available in location eastus."), false},
	"token": {"the token is not taken", statusFault(401, "InvalidAuthenticationToken", "The access token is invalid."), false},
	"failed": {"the operation is accepted and fails",
		fault.Rule{Kind: fault.Fail, Code: "AllocationFailed", Message: "We do not have sufficient capacity."}, false},
	"broken": {"the operation is accepted and fails for a reason that may pass",
		fault.Rule{Kind: fault.Fail, Code: "InternalExecutionError", Message: "An internal execution error occurred."}, true},
	"conflict": {"another client changes the resource",
		statusFault(409, "AnotherOperationInProgress", "Another operation on this or dependent resource is in progress."), true},
	"error": {"a failure of Azure",
		statusFault(500, "InternalServerError", "Encountered internal server error. Tracking ID: 0b0c3d1e-11aa-4c5e-9f00-1234567890ab."), true},
	"waits": {"too many requests, and Azure sets the time to wait", fault.Rule{Kind: fault.Throttle, RetryAfter: 7}, true},
	"throttled": {"too many requests, and Azure does not set the time to wait",
		statusFault(429, "TooManyRequests", "The request is being throttled."), true},
}

// unreadable are the answers to a GET.
var unreadable = map[string]refusal{
	"forbidden": refusals["forbidden"], "token": refusals["token"], "error": refusals["error"], "waits": refusals["waits"],
}

// locked are the answers to a DELETE.
var locked = map[string]refusal{
	"lock": {"a lock forbids it",
		statusFault(409, "ScopeLocked", "The scope cannot perform delete operation because following scope(s) are locked."), false},
	"forbidden": refusals["forbidden"],
	"error":     refusals["error"],
	"conflict":  refusals["conflict"],
	"failed": {"the operation is accepted and fails",
		fault.Rule{Kind: fault.Fail, Code: "OperationNotAllowed", Message: "It cannot be deleted."}, false},
}

func statusFault(code int, name, message string) fault.Rule {
	return fault.Rule{Kind: fault.Status, Status: code, Code: name, Message: message}
}
