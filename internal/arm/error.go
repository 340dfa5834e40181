package arm

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Error is an error answer of Azure, from a request or from a long-running operation that failed.
type Error struct {
	// Method and ID say what was tried.
	Method string
	ID     ID

	// Status is the HTTP status, 200 for an operation that ended as failed.
	Status int
	// Code is Azure's error code, as in "AllocationFailed".
	Code string
	// Message is Azure's text.
	Message string
	// Target is the property or resource that Azure blames, if it names one.
	Target string
	// Details are the errors below, innermost cause last.
	Details []Detail

	// RequestID is x-ms-request-id, which Azure's support asks for.
	RequestID string
	// RetryAfter is what Azure asked to wait; 0 when it named nothing.
	RetryAfter time.Duration
}

// Detail is one entry of the details of an Azure error.
type Detail struct {
	Code    string
	Message string
	Target  string
}

// Error gives code, message, what was tried and what Azure blames, as a condition shows it. It is the same for every answer
// to the same request: what differs from answer to answer, as the request ID, is left to RequestID.
func (e *Error) Error() string {
	var b strings.Builder
	code, message := e.Code, e.Message
	if code == "" {
		code = fmt.Sprintf("HTTP %d", e.Status)
	}
	fmt.Fprintf(&b, "%s %s: %s", e.Method, e.ID.ShortName(), code)
	if message != "" {
		fmt.Fprintf(&b, ": %s", strings.TrimSpace(message))
	}
	for _, detail := range e.Details {
		if detail.Message != "" && !strings.Contains(message, detail.Message) {
			fmt.Fprintf(&b, " [%s: %s]", detail.Code, strings.TrimSpace(detail.Message))
		}
	}
	if e.Target != "" && !ID(e.Target).Equal(e.ID) && !strings.Contains(strings.ToLower(b.String()), strings.ToLower(e.Target)) {
		// Compute says of what is missing no more than that.
		fmt.Fprintf(&b, " (about %s)", e.Target)
	}
	return withoutVariableParts(b.String())
}

// RequestID is the request ID of the Azure error in err's chain, for logs and events; "" when there is none.
func RequestID(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.RequestID
	}
	return ""
}

// variableParts are the parts of Azure's texts that differ from answer to answer: IDs of the request, by their many names, when it
// was, and how long to wait.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/request-limits-and-throttling
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/error-codes/aks-error-code-page
var variableParts = regexp.MustCompile(`(?i)[\s,;(]*(?:please )?(?:(?:the |use |with )*(?:trace|correlation|operation|request|tracking|activity|client[ -]?request)[ -]?id(?: is)?[:=]?\s*['"]?[0-9a-f]{8}-[0-9a-f-]{27,}['"]?|` +
	`timestamp[:=]?\s*['"]?\d{4}-\d\d-\d\d[t ][\d:.]+z?['"]?|` +
	`(?:re)?try again (?:after|in) ['"]?\d+['"]? (?:milli)?(?:second|minute)s?)[)]?\.?`)

// withoutVariableParts is a text without what varies.
func withoutVariableParts(text string) string { return variableParts.ReplaceAllString(text, "") }

// Refusal is why a plan refuses its input: a person has to correct the field that it names.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// IsNotFound tells whether err is Azure's answer that a resource, its parent or its group does not exist. Azure answers with
// status 404 also that it does not know the subscription or the type, which says nothing about the resource.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && Classify(err) == ClassNotFound
}

// IsForbidden tells whether err is Azure's answer that the identity lacks a right.
func IsForbidden(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 403
}

// CodeBudgetEmpty is the code of a request that was not sent, because its budget is used up or Azure has asked to wait.
const CodeBudgetEmpty = "RequestBudgetEmpty"

// IsBudgetEmpty tells whether err is that of a request that was not sent, so that nothing has changed in Azure.
func IsBudgetEmpty(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeBudgetEmpty
}

// IsThrottled tells whether err is Azure's answer that there were too many requests.
func IsThrottled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 429 && e.Code != CodeBudgetEmpty
}

// Class says what happens next after an error.
type Class string

const (
	// ClassWaiting is not a failure: come back when Azure says or when the other operation ends.
	ClassWaiting Class = "Waiting"
	// ClassRetry is transient: try again with back-off.
	ClassRetry Class = "Retry"
	// ClassStalled needs a person to change something: try again slowly, and say so.
	ClassStalled Class = "Stalled"
	// ClassNotFound means that the resource, its parent or its group does not exist.
	ClassNotFound Class = "NotFound"
)
