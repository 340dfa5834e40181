package client

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// RequestRecord describes a request that has ended, for metrics.
type RequestRecord struct {
	// Operation is the method in lower case, "list" for a page of a collection, or "poll" for the URL of a long-running operation.
	Operation string
	// ID is the resource or collection.
	ID arm.ID
	// Status is the HTTP status, 0 if there was no answer.
	Status int
	// Throttled means that Azure answered that there were too many requests. BudgetEmpty means that the request was not sent for that
	// reason, or because its budget is used up.
	Throttled, BudgetEmpty bool
	// Duration is the time until the answer.
	Duration time.Duration
}

func newRequestRecord(request Request, response *Response, err error, duration time.Duration) RequestRecord {
	out := RequestRecord{Operation: strings.ToLower(request.Method), ID: request.ID, Duration: duration}
	switch {
	case request.page:
		out.Operation = "list"
	case request.Method == http.MethodGet && request.URL != "":
		out.Operation = "poll"
	}
	var failure *arm.Error
	switch {
	case response != nil:
		out.Status = response.Status
	case arm.IsBudgetEmpty(err):
		out.BudgetEmpty = true
	case errors.As(err, &failure) && failure.Code != CodeCredentialsInvalid:
		out.Status = failure.Status
		out.Throttled = isThrottling(failure.Status, failure.Code)
	}
	return out
}
