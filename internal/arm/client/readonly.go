package client

import (
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// CodeReadOnly means that a client that only reads was to send a write. The request is not sent.
const CodeReadOnly = "ReadOnlyClient"

// ReadOnly returns a copy of the client that sends only requests that change nothing in Azure.
func (c *Client) ReadOnly() *Client {
	other := *c
	other.readOnly = true
	return &other
}

// refuseWrite returns the error of a write of a client that only reads, nil for any other request.
func (c *Client) refuseWrite(request Request) error {
	if !c.readOnly || isRead(request.Method) || isListAction(request) {
		return nil
	}
	return &arm.Error{Method: request.Method, ID: request.ID, Status: http.StatusForbidden, Code: CodeReadOnly,
		Message: "the request is not sent, because nothing may be written to Azure"}
}

// isListAction reports whether a POST only returns values, as listClusterUserCredential does. Azure names such actions list...
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/templates/template-functions-resource#list
func isListAction(request Request) bool {
	return request.Method == http.MethodPost && strings.HasPrefix(request.SubPath, "list") && !strings.Contains(request.SubPath, "/")
}
