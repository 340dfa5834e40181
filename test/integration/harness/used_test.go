package harness

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRightOf(t *testing.T) {
	for request, want := range map[string]string{
		"GET /api/v1/namespaces":                            "list namespaces",
		"GET /api/v1/namespaces/a":                          "get namespaces",
		"GET /api/v1/namespaces/a/secrets/b":                "get secrets",
		"GET /api/v1/secrets?watch=true":                    "watch secrets",
		"POST /api/v1/namespaces/a/serviceaccounts/b/token": "create serviceaccounts/token",
		"PATCH /apis/g.io/v1/namespaces/a/things/b/status":  "patch things.g.io/status",
		"POST /apis/events.k8s.io/v1/namespaces/a/events":   "create events.events.k8s.io",
		"DELETE /apis/g.io/v1/things/b":                     "delete things.g.io",
		"GET /apis/g.io/v1":                                 "",
		"GET /version":                                      "",
	} {
		method, path, _ := strings.Cut(request, " ")
		if got, _ := rightOf(httptest.NewRequestWithContext(t.Context(), method, path, nil)); got != want {
			t.Errorf("%s takes %q, want %q", request, got, want)
		}
	}
}
