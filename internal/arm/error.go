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
	// Method and ID identify the request.
	Method string
	ID     ID

	// Status is the HTTP status, 200 for an operation that ended as failed, 0 without an answer of Azure.
	Status int
	// Code is Azure's error code, as in "AllocationFailed".
	Code string
	// Message is Azure's text.
	Message string
	// Target is the property or resource that the error is about, if Azure names one.
	Target string
	// Details are the nested errors, innermost cause last.
	Details []Detail

	// RequestID is x-ms-request-id, for Azure's support.
	RequestID string
	// RetryAfter is the wait time that Azure asked for; 0 if none.
	RetryAfter time.Duration
}

// Detail is one entry of the details of an Azure error.
type Detail struct {
	Code    string
	Message string
	Target  string
}

// Error returns code, message, request and target, as a condition shows them. It is the same for every answer to the same request:
// parts that vary, as the request ID, are left out.
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
		// For a missing resource, compute returns only the target.
		fmt.Fprintf(&b, " (about %s)", e.Target)
	}
	return withoutVariableParts(b.String())
}

// AddSubject begins the text of an error with its subject, a request or resource. An error of Azure has it already.
func AddSubject(subject string, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", subject, err)
}

// RequestID returns the request ID of the Azure error in err's chain, for logs and events; "" if there is none.
func RequestID(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.RequestID
	}
	return ""
}

// variableParts matches the parts of Azure's texts that differ between answers: IDs of the request, by their many names, timestamps,
// and wait times.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/request-limits-and-throttling
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/error-codes/aks-error-code-page
var variableParts = regexp.MustCompile(`(?i)[\s,;(]*(?:please )?(?:(?:the |use |with )*(?:trace|correlation|operation|request|tracking|activity|client[ -]?request)[ -]?id(?: is)?[:=]?\s*['"]?[0-9a-f]{8}-[0-9a-f-]{27,}['"]?|` +
	`timestamp[:=]?\s*['"]?\d{4}-\d\d-\d\d[t ][\d:.]+z?['"]?|` +
	`(?:re)?try again (?:after|in) ['"]?\d+['"]? (?:milli)?(?:second|minute)s?)[)]?\.?`)

// withoutVariableParts returns text without the parts that vary.
func withoutVariableParts(text string) string { return variableParts.ReplaceAllString(text, "") }

// Refusal is the reason why a plan refuses its input: the user has to correct the field that it names.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// IsNotFound reports whether err is Azure's answer that a resource, its parent or its group does not exist. Azure also answers 404 if
// it does not know the subscription or the type; such an error does not count.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && Classify(err) == ClassNotFound
}

// IsMissingReference reports whether Azure refused a write because a resource that it needs does not exist: the group, the parent, one that the
// body refers to, or that of an action. Azure gives the same answers for some seconds after it has created that resource:
// hashicorp/terraform-provider-azurerm#18268.
func IsMissingReference(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Method != "PUT" && e.Method != "PATCH" && e.Method != "POST" {
		return false
	}
	return Classify(err) == ClassNotFound || strings.EqualFold(e.Code, "InvalidResourceReference")
}

// IsMissingPrincipal reports whether Azure refused a role assignment because the directory does not have the principal. A new one takes minutes to
// reach all of the directory: https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting
func IsMissingPrincipal(err error) bool { return DecisiveCode(err) == "PrincipalNotFound" }

// IsForbidden reports whether err is Azure's answer that the identity lacks a right.
func IsForbidden(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 403
}

// CodeBudgetEmpty is the code of a request that was not sent, because its budget is used up or Azure asked to wait.
const CodeBudgetEmpty = "RequestBudgetEmpty"

// IsBudgetEmpty reports whether err is the error of a request that was not sent, so that Azure has not changed.
func IsBudgetEmpty(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeBudgetEmpty
}

// IsThrottled reports whether err is Azure's answer that there were too many requests.
func IsThrottled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 429 && e.Code != CodeBudgetEmpty
}

// IsTransient reports whether an error is expected to pass without a change by the user.
func IsTransient(err error) bool {
	class := Classify(err)
	return class == ClassWaiting || class == ClassRetry
}

// Class determines the reaction to an error.
type Class string

const (
	// ClassWaiting is not a failure: retry after Azure's wait time or the end of the other operation.
	ClassWaiting Class = "Waiting"
	// ClassRetry is transient: retry with back-off.
	ClassRetry Class = "Retry"
	// ClassStalled needs a change by the user: retry slowly, and report it.
	ClassStalled Class = "Stalled"
	// ClassNotFound means that the resource, its parent or its group does not exist.
	ClassNotFound Class = "NotFound"
)
