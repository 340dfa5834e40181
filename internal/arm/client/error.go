package client

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Codes of failures without an answer of Resource Manager.
const (
	// CodeConnectionFailed means that there was no answer. Azure may have accepted the request all the same.
	CodeConnectionFailed = "ConnectionFailed"
	// CodeCanceled means that the caller cancelled the request.
	CodeCanceled = "RequestCanceled"
	// CodeInvalidRequest means that the request could not be built.
	CodeInvalidRequest = "InvalidClientRequest"
	// CodeForeignURL means that an answer has a URL of a host other than Resource Manager, which is not requested.
	CodeForeignURL = "ForeignURL"
	// CodeInvalidAnswer means that a successful answer could not be read, or that an answer is not from Resource Manager.
	CodeInvalidAnswer = "InvalidAnswer"
	// CodeCredentialsInvalid means that Entra ID refused to issue a token.
	CodeCredentialsInvalid = "CredentialsInvalid"
	// CodeTokenUnavailable means that Entra ID could not be reached or failed.
	CodeTokenUnavailable = "TokenUnavailable"
)

// ParseError reads code, message, target and details from the body of a failed request or operation: wrapped in "error", as Resource
// Manager and most providers do, or bare, as AKS does. A body that is not JSON becomes the message, shortened.
func ParseError(body []byte) *arm.Error {
	cause, ok := parseErrorBody(body)
	if !ok {
		return &arm.Error{Message: truncateText(strings.TrimSpace(string(body[:min(len(body), maxMessage)])), 200)}
	}
	failure := &arm.Error{Code: truncateText(cause.Code, maxCode), Message: truncateText(cause.Message, maxMessage),
		Target: truncateText(cause.Target, maxMessage)}
	failure.Details = flattenDetails(failure.Details, cause.Details, 0)
	return failure
}

// errorBody is the shape of an error and of its details.
type errorBody struct {
	Code    string      `json:"code"`
	Message string      `json:"message"`
	Target  string      `json:"target"`
	Details []errorBody `json:"details"`
}

func parseErrorBody(body []byte) (errorBody, bool) {
	var answer struct {
		Error *json.RawMessage `json:"error"`
	}
	if len(body) > maxError || json.Unmarshal(body, &answer) != nil {
		return errorBody{}, false
	}
	inner := json.RawMessage(body)
	if answer.Error != nil {
		inner = *answer.Error
	}
	var out errorBody
	if json.Unmarshal(inner, &out) != nil || out.Code == "" && out.Message == "" {
		return errorBody{}, false
	}
	return out, true
}

// flattenDetails lists details, outermost first. Some messages of details are whole errors as JSON text.
func flattenDetails(out []arm.Detail, details []errorBody, depth int) []arm.Detail {
	if depth > 4 {
		return out
	}
	for _, detail := range details {
		if len(out) >= maxDetails {
			return out
		}
		inner, nested := errorBody{}, false
		if strings.HasPrefix(strings.TrimSpace(detail.Message), "{") {
			inner, nested = parseErrorBody([]byte(detail.Message))
		}
		if nested {
			detail.Message = inner.Message
			detail.Details = append(detail.Details, inner.Details...)
			if inner.Code != "" {
				detail.Code = inner.Code
			}
		}
		if detail.Code != "" || detail.Message != "" {
			out = append(out, arm.Detail{Code: truncateText(detail.Code, maxCode), Message: truncateText(detail.Message, maxMessage),
				Target: truncateText(detail.Target, maxMessage)})
		}
		out = flattenDetails(out, detail.Details, depth+1)
	}
	return out
}

// retryAfter returns the wait time of the headers: milliseconds, seconds or a date. exact means that it was in milliseconds.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, exact bool) {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if ms, err := strconv.Atoi(header.Get(name)); err == nil && ms > 0 {
			return time.Duration(min(ms, int(maxWait/time.Millisecond))) * time.Millisecond, true
		}
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second, false
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return min(date.Sub(now), maxWait), false
	}
	return 0, false
}
