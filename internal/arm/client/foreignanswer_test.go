package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestForeignAnswers sends all kinds of requests to a server that answers in place of Resource Manager. Nothing follows from such an answer.
func TestForeignAnswers(t *testing.T) {
	ctx := context.Background()
	body := func(response *client.Response, err error) error {
		if err == nil && response.Body != nil && !json.Valid(response.Body) {
			t.Errorf("the body is %q", response.Body)
		}
		return err
	}
	requests := map[string]func(*client.Client) error{
		"GET":    func(c *client.Client) error { return body(c.Get(ctx, id, "v", nil)) },
		"PUT":    func(c *client.Client) error { return body(c.Put(ctx, id, "v", map[string]any{}, "")) },
		"PATCH":  func(c *client.Client) error { return body(c.Patch(ctx, id, "v", map[string]any{})) },
		"DELETE": func(c *client.Client) error { return body(c.Delete(ctx, id, "v", nil)) },
		"POST":   func(c *client.Client) error { return body(c.Post(ctx, id, "start", "v", nil)) },
		"list": func(c *client.Client) error {
			_, err := c.List(ctx, "/subscriptions/s/resourceGroups", "v", nil)
			return err
		},
	}
	all, writes := []string{"GET", "PUT", "PATCH", "DELETE", "POST", "list"}, []string{"PUT", "PATCH", "DELETE", "POST"}
	for name, test := range map[string]struct {
		reason string
		status int
		header string // x-ms-error-code
		body   string
		// foreign are the requests that fail, azure those that end as Azure's answer says.
		foreign, azure []string
		class          arm.Class // of the error of azure, "" for success
		message        string
	}{
		"404 with HTML": {reason: "a front door has no healthy backend", status: 404, body: `<html>Our services aren't available right now</html>`,
			foreign: all, message: "the answer with status 404 has no error code, so it is not from Azure Resource Manager. " +
				"Check the proxy and the endpoint that the manager uses: <html>Our services aren't available right now</html>"},
		"404 with long HTML": {reason: "the message stays short", status: 404, body: "<html>" + strings.Repeat("x", 5000), foreign: all,
			message: strings.Repeat("x", 191) + "..."},
		"404 without a body": {reason: "a gateway has no route", status: 404, foreign: all, message: "has no error code"},
		"404 of a gateway": {reason: "API Management has no codes", status: 404, body: `{"statusCode":404,"message":"Resource not found"}`, foreign: all,
			message: "Resource not found"},
		"404 with an empty error": {reason: "it names no reason", status: 404, body: `{"error":{}}`, foreign: all, message: "has no error code"},
		"404 with a code": {reason: "the resource does not exist", status: 404, body: `{"error":{"code":"ResourceNotFound","message":"m"}}`,
			azure: all, class: arm.ClassNotFound},
		"404 with an unknown code": {reason: "providers have codes of their own", status: 404, body: `{"code":"SomethingNotFound"}`, azure: all,
			class: arm.ClassNotFound},
		"404 with a code in the header": {reason: "answers without a body have it there", status: 404, header: "ResourceNotFound", azure: all,
			class: arm.ClassNotFound},
		"403 with HTML":  {reason: "no absence follows from it", status: 403, body: `<html>`, azure: all, class: arm.ClassStalled},
		"200 with HTML":  {reason: "a proxy asks for a sign-in", status: 200, body: `<html>Sign in</html>`, foreign: all},
		"200 with text":  {reason: "a health page", status: 200, body: `"ok"`, foreign: []string{"GET", "PUT", "list"}, azure: []string{"DELETE", "POST", "PATCH"}},
		"200 with null":  {reason: "it has no resource", status: 200, body: `null`, foreign: []string{"GET", "PUT", "list"}, azure: []string{"DELETE", "POST"}},
		"200 with array": {reason: "actions may return one", status: 200, body: `[]`, foreign: []string{"GET", "PUT", "list"}, azure: []string{"POST"}},
		"200 with half an object": {reason: "a proxy cut it", status: 200, body: `{"id":"x"`,
			foreign: writes},
		"200 without a body": {reason: "a resource has one, and writes need none", status: 200, foreign: []string{"GET", "list"}, azure: writes},
		"202 without a body": {reason: "Azure has accepted the write", status: 202, azure: writes},
		"204":                {reason: "a deletion of an absent resource", status: 204, foreign: []string{"GET"}, azure: writes},
		"200 with an object": {reason: "Azure's own", status: 200, body: "\n{\"value\":[]}\n", azure: all},
		"202 with an object": {reason: "Azure DNS accepts a write", status: 202, body: `{}`, azure: writes},
	} {
		t.Run(name, func(t *testing.T) {
			c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, _ *http.Request) {
				if test.header != "" {
					w.Header().Set("x-ms-error-code", test.header)
				}
				w.Header().Set("x-ms-request-id", "r")
				w.WriteHeader(test.status)
				if test.status != http.StatusNoContent {
					fmt.Fprint(w, test.body)
				}
			})
			for _, request := range test.foreign {
				err := requests[request](c)
				var got *arm.Error
				if !errors.As(err, &got) || got.Code != client.CodeInvalidAnswer || arm.Classify(err) != arm.ClassRetry || arm.IsNotFound(err) {
					t.Errorf("%s, %s: got %v of class %s", request, test.reason, err, arm.Classify(err))
					continue
				}
				if !strings.Contains(err.Error(), test.message) || len(err.Error()) > 500 {
					t.Errorf("%s, %s: the message is %q", request, test.reason, err)
				}
			}
			for _, request := range test.azure {
				if err := requests[request](c); (err != nil) != (test.class != "") || err != nil && arm.Classify(err) != test.class {
					t.Errorf("%s, %s: got %v, want class %q", request, test.reason, err, test.class)
				}
			}
		})
	}
}

// TestForeignAnswersOfOperations polls the URL of an operation: a 404 means only that the URL has no operation, and bodies have other forms
// there.
func TestForeignAnswersOfOperations(t *testing.T) {
	status, body := 404, `<html>`
	c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	var got *arm.Error
	if _, err := c.PollURL(context.Background(), id, "/operations/1"); !errors.As(err, &got) || got.Status != 404 {
		t.Errorf("got %v", err)
	}
	status, body = 200, ""
	if _, err := c.PollURL(context.Background(), id, "/operations/1"); err != nil {
		t.Error(err)
	}
}
