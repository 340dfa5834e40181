package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

// TestLogsWithoutTheirPods lists the Pods of the providers from an API server that refuses it: a bundle has no logs of them only where the
// user may not list Pods.
func TestLogsWithoutTheirPods(t *testing.T) {
	for reason, test := range map[string]struct {
		code  int
		fails bool
	}{
		"Forbidden":     {http.StatusForbidden, false},
		"Unauthorized":  {http.StatusUnauthorized, true},
		"InternalError": {http.StatusInternalServerError, true},
	} {
		t.Run(reason, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.code)
				fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, test.code)
			}))
			defer server.Close()
			logs, err := listLogs(t.Context(), &rest.Config{Host: server.URL})
			if (err != nil) != test.fails || len(logs) > 0 {
				t.Errorf("%d logs, %v", len(logs), err)
			}
		})
	}
}
