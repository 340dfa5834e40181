package diagnostics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// TestFilterAnswersLikeControllerRuntimes compares the status of each answer with that of the filter that controller-runtime has for
// metrics, which would make the manager a half larger. A release that changes who is let in fails the test. The one difference is an
// unknown token, which controller-runtime reports as a failure of the server.
func TestFilterAnswersLikeControllerRuntimes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(apiServer))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	answer := func(t *testing.T, provider func(*rest.Config, *http.Client) (metricsserver.Filter, error), request *http.Request) int {
		t.Helper()
		filter, err := provider(config, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		handler, err := filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "figures") }))
		if err != nil {
			t.Fatal(err)
		}
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, request)
		return recorded.Code
	}
	for name, tc := range map[string]struct {
		reason, method, path, authorization string
		ours                                int // if it differs
	}{
		"allowed":       {"The API server knows and allows the user.", "GET", "/metrics", "Bearer collector", 0},
		"any case":      {"The scheme has no case.", "GET", "/metrics", "bearer collector", 0},
		"other path":    {"The user may not get this path.", "GET", "/debug/pprof/heap", "Bearer collector", 0},
		"other verb":    {"The user may not put.", "PUT", "/metrics", "Bearer collector", 0},
		"stranger":      {"The user has no right.", "GET", "/metrics", "Bearer stranger", 0},
		"unknown token": {"The API server does not know the token.", "GET", "/metrics", "Bearer x", http.StatusUnauthorized},
		"no token":      {"There is no user.", "GET", "/metrics", "", 0},
		"empty token":   {"There is no user.", "GET", "/metrics", "Bearer ", 0},
		"basic":         {"A password is no token.", "GET", "/metrics", "Basic Y29sbGVjdG9y", 0},
	} {
		t.Run(name, func(t *testing.T) {
			request := func() *http.Request {
				out := httptest.NewRequest(tc.method, tc.path, nil)
				if tc.authorization != "" {
					out.Header.Set("Authorization", tc.authorization)
				}
				return out
			}
			got, want := answer(t, reviewed, request()), answer(t, filters.WithAuthenticationAndAuthorization, request())
			if got != want && got != tc.ours || got == want && tc.ours != 0 {
				t.Errorf("%s The answer is %d, controller-runtime's is %d.", tc.reason, got, want)
			}
			if (got == http.StatusOK) != (want == http.StatusOK) {
				t.Errorf("%s Only one of both filters lets the user in.", tc.reason)
			}
		})
	}
}
