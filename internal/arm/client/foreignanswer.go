package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// foreignAnswer returns the error of an answer that is not from Resource Manager, but from a proxy, gateway or front door on the way to it.
// Such an answer proves neither that a resource exists nor that it does not. failure is the parsed error answer, nil for a successful one.
// The error has no status, so that no caller takes it for Azure's.
//
// Resource Manager gives each error a code: https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/common-deployment-errors.
// All 286 recorded answers 404 have one (test/recordings TestAnswersHaveTheFormOfResourceManager).
// URLs of operations are exempt: providers have answers of their own there, and an operation that the URL does not have any more proves nothing
// about its resource.
func foreignAnswer(request Request, status int, body []byte, failure *arm.Error) *arm.Error {
	problem, shown := "", strings.TrimSpace(string(body[:min(len(body), maxMessage)]))
	switch {
	case request.URL != "" && !request.page:
	case failure != nil && status == http.StatusNotFound && failure.Code == "":
		problem, shown = "has no error code", failure.Message
	case failure == nil && !request.page && !isExpectedBody(request.Method, body):
		problem = "has no JSON object"
	}
	if problem == "" {
		return nil
	}
	out := &arm.Error{Method: request.Method, ID: request.ID, Code: CodeInvalidAnswer,
		Message: fmt.Sprintf("the answer with status %d %s, so it is not from Azure Resource Manager. Check the proxy and the endpoint that the manager uses",
			status, problem)}
	if shown != "" {
		out.Message += ": " + truncateText(shown, 200)
	}
	return out
}

// CheckAnswer returns an error if the answer to a GET request of a resource or list is not from Resource Manager. Readers that do not send
// their requests through a Client call it.
func CheckAnswer(path string, status int, body []byte) error {
	var failure *arm.Error
	if status < http.StatusOK || status > 299 {
		failure = ParseError(body)
	}
	if foreign := foreignAnswer(Request{Method: http.MethodGet, ID: arm.ID(path)}, status, body, failure); foreign != nil {
		return foreign
	}
	return nil
}

// isExpectedBody reports whether the body of a successful answer has the form of Resource Manager's: a resource is an object. Only reads
// need a body. Actions may return other JSON than objects.
func isExpectedBody(method string, body []byte) bool {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return method != http.MethodGet
	case (method == http.MethodGet || method == http.MethodPut) && body[0] != '{':
		return false
	}
	return json.Valid(body)
}
