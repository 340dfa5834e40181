package client

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Answered is a request that has ended, for those who count.
type Answered struct {
	// Operation is what was done: the method in lower case, "list" for a page of a collection, "poll" for a URL that tells how a
	// long-running operation is doing.
	Operation string
	// ID is the resource or collection.
	ID arm.ID
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Throttled means that Azure says there were too many requests, HeldBack that the request was not sent because of that, or
	// because its budget is used up.
	Throttled, HeldBack bool
	// Took is how long the answer took.
	Took time.Duration
}

func summary(request Request, response *Response, err error, took time.Duration) Answered {
	out := Answered{Operation: strings.ToLower(request.Method), ID: request.ID, Took: took}
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
		out.HeldBack = true
	case errors.As(err, &failure) && failure.Code != CodeCredentialsInvalid:
		out.Status = failure.Status
		out.Throttled = throttles(failure.Status, failure.Code)
	}
	return out
}
