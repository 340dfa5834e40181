package diagnostics

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// apiServer knows the tokens "collector" and "stranger", lets the former get /metrics, and is out of order for "broken".
func apiServer(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(request.URL.Path, "/tokenreviews"):
		var review authenticationv1.TokenReview
		_ = json.NewDecoder(request.Body).Decode(&review)
		if review.Spec.Token == "broken" {
			http.Error(w, "out of order", http.StatusServiceUnavailable)
			return
		}
		review.Status.Authenticated = review.Spec.Token == "collector" || review.Spec.Token == "stranger"
		review.Status.User = authenticationv1.UserInfo{Username: "the " + review.Spec.Token, UID: "1",
			Groups: []string{"all", "system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
		_ = json.NewEncoder(w).Encode(review)
	case strings.HasSuffix(request.URL.Path, "/subjectaccessreviews"):
		var review authorizationv1.SubjectAccessReview
		_ = json.NewDecoder(request.Body).Decode(&review)
		want := authorizationv1.SubjectAccessReviewSpec{User: "the collector", UID: "1", Groups: []string{"all", "system:authenticated"},
			Extra:                 map[string]authorizationv1.ExtraValue{"k": {"v"}},
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}}
		review.Status.Allowed = cmp.Equal(want, review.Spec)
		_ = json.NewEncoder(w).Encode(review)
	default:
		http.NotFound(w, request)
	}
}

func TestMetricsNeedARight(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(apiServer))
	t.Cleanup(server.Close)
	filter, err := reviewed(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}},
		server.Client())
	if err != nil {
		t.Fatal(err)
	}
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "figures") }))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		reason, method, path, authorization string
		status                              int
		body                                string
	}{
		"may":      {"the API server authenticates and authorizes the account", "GET", "/metrics", "Bearer collector", 200, "figures"},
		"any case": {"schemes have no case: RFC 9110, section 11.1", "GET", "/metrics", "bearer collector", 200, "figures"},
		"other path": {"each path needs a right of its own", "GET", "/debug/pprof/heap", "Bearer collector", 403,
			"the collector may not get /debug/pprof/heap"},
		"other verb":      {"to set is another right than to get", "PUT", "/metrics", "Bearer collector", 403, "may not put"},
		"another account": {"a known account may lack the right", "GET", "/metrics", "Bearer stranger", 403, "the stranger may not"},
		"made up":         {"the API server does not know the token", "GET", "/metrics", "Bearer x", 401, "not valid in this cluster"},
		"no token":        {"the API server is not asked without a token", "GET", "/metrics", "", 401, "send a token"},
		"empty":           {"the API server is not asked about an empty token", "GET", "/metrics", "Bearer ", 401, "send a token"},
		"a password":      {"the API server is not asked about a password", "GET", "/metrics", "Basic Y29sbGVjdG9y", 401, "send a token"},
		"out of order": {"an account that cannot be authenticated is refused", "GET", "/metrics", "Bearer broken", 500,
			"Authentication failed"},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(test.method, test.path, nil)
			if test.authorization != "" {
				request.Header.Set("Authorization", test.authorization)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.body) {
				t.Errorf("%s: %d %q, want %d with %q", test.reason, answer.Code, answer.Body.String(), test.status, test.body)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		args   []string
		want   *tls.Config
		fails  string
	}{
		"defaults": {"at least TLS 1.2, with all of Go's default ciphers", nil, &tls.Config{MinVersion: tls.VersionTLS12}, ""},
		"all": {"the requested lines",
			[]string{"--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_AES_128_GCM_SHA256", "--tls-curve-preferences=29"},
			&tls.Config{MinVersion: tls.VersionTLS13, CipherSuites: []uint16{tls.TLS_AES_128_GCM_SHA256},
				CurvePreferences: []tls.CurveID{tls.X25519}}, ""},
		"no version":     {"the flag is named", []string{"--tls-min-version=TLS9"}, nil, "--tls-min-version"},
		"no suite":       {"the flag is named", []string{"--tls-cipher-suites=ROT13"}, nil, "--tls-cipher-suites"},
		"no such number": {"the flag is named", []string{"--tls-curve-preferences=7"}, nil, "--tls-curve-preferences"},
	} {
		t.Run(name, func(t *testing.T) {
			var o Options
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			spoken, err := o.TLS()
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%s: %v, want an error with %q", test.reason, err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got tls.Config
			for _, set := range spoken {
				set(&got)
			}
			of := func(c *tls.Config) []any {
				return []any{c.MinVersion, c.CipherSuites, c.CurvePreferences, c.NextProtos}
			}
			test.want.NextProtos = []string{"http/1.1"}
			if diff := cmp.Diff(of(test.want), of(&got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	open := (&Options{Address: ":1", Insecure: true}).Metrics(nil)
	if open.SecureServing || open.FilterProvider != nil || len(open.ExtraHandlers) != 0 {
		t.Error("more than metrics is readable by all accounts")
	}
	closed := (&Options{Address: ":1"}).Metrics(nil)
	if !closed.SecureServing || closed.FilterProvider == nil || closed.ExtraHandlers["/debug/flags/v"] == nil ||
		len(closed.ExtraHandlers) != 1 {
		t.Error("metrics and the log level must be served over TLS to authorized accounts, and nothing else")
	}
}

func TestSetLogLevel(t *testing.T) {
	for name, test := range map[string]struct {
		reason, method, body string
		status               int
		answered             string
	}{
		"a number":      {"that is the level", "PUT", "0\n", 200, "0"},
		"a word":        {"levels are numbers", "PUT", "loud", 400, "number"},
		"a long number": {"the request body is bounded", "PUT", strings.Repeat("1", 1000), 400, "number"},
		"a question":    {"the level can be set and not read", "GET", "", 405, "PUT"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			setLogLevel(answer, httptest.NewRequest(test.method, "/debug/flags/v", strings.NewReader(test.body)))
			if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.answered) {
				t.Errorf("%s: %d %q, want %d with %q", test.reason, answer.Code, answer.Body.String(), test.status, test.answered)
			}
		})
	}
}
