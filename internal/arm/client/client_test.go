package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

var (
	now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	id  = arm.NewID("s", "g", "Microsoft.Network/virtualNetworks", "a b")
)

// serveClient starts a server and returns a client for it.
func serveClient(t *testing.T, credential azcore.TokenCredential, budgets *client.Budgets, handler http.HandlerFunc) *client.Client {
	t.Helper()
	listener := httptest.NewTLSServer(handler)
	t.Cleanup(listener.Close)
	c, err := client.New(credential, newConfiguration(listener.URL),
		client.Options{Principal: "p", Version: "v1.2.3", Transport: listener.Client(), Budgets: budgets,
			Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newConfiguration(endpoint string) cloud.Configuration {
	return cloud.Configuration{ActiveDirectoryAuthorityHost: endpoint + "/",
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: endpoint,
			Audience: "https://management.azure.com"}}}
}

func TestRequest(t *testing.T) {
	type seen struct{ Method, URI, Agent, Auth, IfMatch, Type, Body string }
	var got seen
	c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		agent := r.UserAgent()
		got = seen{r.Method, r.RequestURI, agent[strings.LastIndex(agent, " ")+1:],
			r.Header.Get("Authorization"), r.Header.Get("If-Match"), r.Header.Get("Content-Type"), string(body)}
		w.Header().Set("ETag", `"2"`)
		w.Header().Set("Azure-AsyncOperation", "https://x/op")
		w.Header().Set("Location", "https://x/loc")
		w.Header().Set("Retry-After", "7")
		w.Header().Set("x-ms-request-id", "r")
		w.Header().Set("x-ms-correlation-request-id", "c")
		w.WriteHeader(201)
		fmt.Fprint(w, `{"a":1}`)
	})
	ctx := context.Background()
	response, err := c.Put(ctx, id, "2025-05-01", map[string]int{"x": 1}, `"1"`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seen{"PUT",
		"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/a%20b?api-version=2025-05-01",
		"cluster-api-provider-azure/v1.2.3", "Bearer t", `"1"`, "application/json", `{"x":1}`}, got); diff != "" {
		t.Error(diff)
	}
	want := &client.Response{Status: 201, ETag: `"2"`, RetryAfter: 7 * time.Second, AsyncOperation: "https://x/op",
		Location: "https://x/loc", RequestID: "r", CorrelationID: "c", Body: json.RawMessage(`{"a":1}`)}
	if diff := cmp.Diff(want, response); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Get(ctx, id, "v", url.Values{"$filter": {"resourceType eq 'x'"}}); err != nil ||
		!strings.HasSuffix(got.URI, "?%24filter=resourceType%20eq%20%27x%27&api-version=v") {
		t.Errorf("%s, %v", got.URI, err)
	}
	if _, err := c.Post(ctx, id, "deallocate", "v", nil); err != nil || got.Body != "" || !strings.Contains(got.URI, "/a%20b/deallocate?") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRetryAfter(t *testing.T) {
	tests := map[string]struct {
		name, value string
		want        time.Duration
		exact       bool
	}{
		"seconds":      {"Retry-After", "10", 10 * time.Second, false},
		"date":         {"Retry-After", now.Add(42 * time.Second).Format(http.TimeFormat), 42 * time.Second, false},
		"milliseconds": {"retry-after-ms", "250", 250 * time.Millisecond, true},
		"x-ms":         {"x-ms-retry-after-ms", "1500", 1500 * time.Millisecond, true},
		"past":         {"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0, false},
		"nonsense":     {"Retry-After", "soon", 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set(test.name, test.value)
				w.WriteHeader(202)
			})
			response, err := c.Delete(context.Background(), id, "v", nil)
			if err != nil || response.RetryAfter != test.want || response.RetryAfterExact != test.exact || response.Body != nil {
				t.Errorf("%+v, %v", response, err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		reason string
		status int
		header map[string]string
		body   string
		want   arm.Error
	}{
		"wrapped": {
			reason: "Resource Manager and most providers",
			status: 400, body: `{"error":{"code":"InvalidX","message":"No.","target":"t","details":[{"code":"Inner","message":"why","target":"u"}]}}`,
			want: arm.Error{Code: "InvalidX", Message: "No.", Target: "t",
				Details: []arm.Detail{{Code: "Inner", Message: "why", Target: "u"}}},
		},
		"bare": {reason: "AKS", status: 404, body: `{"code":"NotFound","details":null,"message":"no pool","subcode":"x"}`,
			want: arm.Error{Code: "NotFound", Message: "no pool"}},
		"empty": {reason: "HEAD has no body", status: 404, header: map[string]string{"x-ms-error-code": "ResourceNotFound"},
			want: arm.Error{Code: "ResourceNotFound"}},
		"not JSON": {reason: "proxies answer HTML", status: 502, body: "<html>" + strings.Repeat("x", 300),
			want: arm.Error{Message: "<html>" + strings.Repeat("x", 191) + "..."}},
		"throttled": {reason: "the error has the Retry-After", status: 429, header: map[string]string{"Retry-After": "9"},
			body: `{"error":{"code":"TooManyRequests","message":"m"}}`,
			want: arm.Error{Code: "TooManyRequests", Message: "m", RetryAfter: 9 * time.Second}},
		"nested text": {
			reason: "the error of a blocked group deletion has whole errors as text",
			status: 409, body: `{"error":{"code":"ResourceGroupDeletionBlocked","message":"m","details":[{"code":null,"target":"/nic","message":"{\"error\":{\"code\":\"NicInUse\",\"message\":\"used\",\"details\":[]}}"}]}}`,
			want: arm.Error{Code: "ResourceGroupDeletionBlocked", Message: "m",
				Details: []arm.Detail{{Code: "NicInUse", Message: "used", Target: "/nic"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
				for key, value := range test.header {
					w.Header().Set(key, value)
				}
				w.Header().Set("x-ms-request-id", "r")
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			})
			_, err := c.Get(context.Background(), id, "v", nil)
			var got *arm.Error
			if !errors.As(err, &got) {
				t.Fatalf("%s: got %v", test.reason, err)
			}
			want := test.want
			want.Method, want.ID, want.Status, want.RequestID = "GET", id, test.status, "r"
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

func TestNothingIsRetried(t *testing.T) {
	calls := 0
	c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.WriteHeader(503)
	})
	if _, err := c.Get(context.Background(), id, "v", nil); err == nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestConnectionFailures(t *testing.T) {
	c := serveClient(t, credential.Token("secret-token"), nil, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	_, err := c.Put(context.Background(), id, "v", map[string]string{"password": "secret-body"}, "")
	var got *arm.Error
	if !errors.As(err, &got) || got.Code != client.CodeConnectionFailed || got.Status != 0 || arm.Classify(err) != arm.ClassRetry {
		t.Errorf("%v", err)
	}
	if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "https://") {
		t.Errorf("the message has more than the description: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Get(ctx, id, "v", nil); !errors.As(err, &got) || got.Code != client.CodeCanceled {
		t.Errorf("%v", err)
	}
}

func TestList(t *testing.T) {
	var base string
	c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("page") {
		case "":
			fmt.Fprintf(w, `{"value":[{"name":"a"},{"name":"b"}],"nextLink":"https://%s/x?page=2&api-version=v"}`, r.Host)
		case "2":
			fmt.Fprintf(w, `{"value":[],"nextLink":"https://%s/x?page=3&api-version=v"}`, r.Host)
		default:
			fmt.Fprint(w, `{"value":[{"name":"c"}],"nextLink":""}`)
		}
		base = r.Host
	})
	items, err := c.List(context.Background(), "/subscriptions/s/providers/Microsoft.Compute/skus", "v", nil)
	if err != nil {
		t.Fatalf("%s: %v", base, err)
	}
	var got []string
	for _, item := range items {
		got = append(got, string(item))
	}
	if diff := cmp.Diff([]string{`{"name":"a"}`, `{"name":"b"}`, `{"name":"c"}`}, got); diff != "" {
		t.Error(diff)
	}
}

// TestListWithoutEnd: a list whose last page links to an earlier one is an error after one round.
func TestListWithoutEnd(t *testing.T) {
	served := 0
	c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
		served++
		next := "a"
		if r.URL.Query().Get("page") == "a" {
			next = "b"
		}
		fmt.Fprintf(w, `{"value":[{"name":"x"}],"nextLink":"https://%s/x?page=%s"}`, r.Host, next)
	})
	_, err := c.List(context.Background(), "/subscriptions/s/providers/Microsoft.Compute/skus", "v", nil)
	var got *arm.Error
	if !errors.As(err, &got) || got.Code != client.CodeInvalidAnswer || !strings.Contains(got.Message, "page 3 links to a page that was read before") {
		t.Errorf("%v", err)
	}
	if served != 3 {
		t.Errorf("%d pages were read, the third links to the second", served)
	}
}

// TestRefusedCredentials uses azidentity, for the real texts of its errors.
func TestRefusedCredentials(t *testing.T) {
	tests := map[string]struct {
		reason     string
		status     int
		body       string
		header     string // Retry-After
		code       string
		class      arm.Class
		message    string
		retryAfter time.Duration
	}{
		"wrong secret": {
			reason: "the user has to correct the secret",
			status: 401, body: `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app 'x'. Trace ID: abc Correlation ID: def Timestamp: 2026-01-01 00:00:00Z","error_codes":[7000215]}`,
			code: client.CodeCredentialsInvalid, class: arm.ClassStalled, message: "AADSTS7000215: Invalid client secret provided.",
		},
		"unknown application": {
			reason: "400 is a refusal, too",
			status: 400, body: `{"error":"unauthorized_client","error_description":"AADSTS700016: Application with identifier 'x' was not found in the directory 't'.\r\nTrace ID: abc","error_codes":[700016]}`,
			code: client.CodeCredentialsInvalid, class: arm.ClassStalled,
			message: "AADSTS700016: Application with identifier 'x' was not found in the directory 't'.",
		},
		"identity of the machine": {
			reason: "the metadata endpoint refuses without a code of Entra ID",
			status: 400, body: `{"error":"invalid_request","error_description":"Identity not found"}`,
			code: client.CodeCredentialsInvalid, class: arm.ClassStalled, message: "invalid_request: Identity not found",
		},
		"outage": {reason: "a failure of Entra ID is transient", status: 503, body: `busy`, code: client.CodeTokenUnavailable,
			class: arm.ClassRetry, message: "no token from Entra ID: 127.0.0.1 answers with status 503"},
		"outage with a code": {
			reason: "the status decides, as recorded in Azure/azure-sdk-for-python#14241",
			status: 503, body: `{"error":"temporarily_unavailable","error_description":"AADSTS90033: A transient error has occurred. Please try again.\r\nTrace ID: abc","error_codes":[90033]}`,
			code: client.CodeTokenUnavailable, class: arm.ClassRetry,
			message: "127.0.0.1 answers with status 503: AADSTS90033: A transient error has occurred. Please try again.",
		},
		"transient code with a status of a refusal": {
			reason: "OAuth 2.0 has a code for it",
			status: 400, body: `{"error":"temporarily_unavailable","error_description":"AADSTS90033: A transient error has occurred. Please try again."}`,
			code: client.CodeTokenUnavailable, class: arm.ClassRetry, message: "127.0.0.1 answers with status 400: AADSTS90033",
		},
		"throttling": {
			reason: "many identities sign in at once, as in AzureAD/microsoft-authentication-library-for-dotnet#2855",
			status: 429, body: `Too Many Requests`, header: "17", code: client.CodeTokenUnavailable, class: arm.ClassRetry,
			message: "127.0.0.1 answers with status 429", retryAfter: 17 * time.Second,
		},
		"throttling with a code": {
			reason: "Entra ID's code does not make it a refusal",
			status: 429, body: `{"error":"invalid_request","error_description":"AADSTS90055: There are too many incoming requests."}`, header: "9",
			code: client.CodeTokenUnavailable, class: arm.ClassRetry, message: "status 429: AADSTS90055", retryAfter: 9 * time.Second,
		},
		"timeout": {reason: "the request took too long", status: 408, body: ``, code: client.CodeTokenUnavailable, class: arm.ClassRetry,
			message: "127.0.0.1 answers with status 408"},
		"proxy": {reason: "a proxy that answers in place of Entra ID says nothing about the credential", status: 403,
			body: `<html>Access denied by proxy.corp</html>`, code: client.CodeTokenUnavailable, class: arm.ClassRetry,
			message: "127.0.0.1 answers with status 403"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			manager := 0
			listener := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
					base := "https://" + r.Host + "/tenant"
					_ = json.NewEncoder(w).Encode(map[string]string{"issuer": base + "/v2.0",
						"authorization_endpoint": base + "/oauth2/v2.0/authorize", "token_endpoint": base + "/oauth2/v2.0/token"})
				case strings.HasSuffix(r.URL.Path, "/token"):
					if test.header != "" {
						w.Header().Set("Retry-After", test.header)
					}
					w.WriteHeader(test.status)
					fmt.Fprint(w, test.body)
				default:
					manager++
				}
			}))
			defer listener.Close()
			credential, err := azidentity.NewClientSecretCredential("tenant", "client", "hunter2",
				&azidentity.ClientSecretCredentialOptions{
					ClientOptions: policy.ClientOptions{Cloud: newConfiguration(listener.URL), Transport: listener.Client(),
						Retry: policy.RetryOptions{MaxRetries: -1}},
					DisableInstanceDiscovery: true,
				})
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.New(credential, newConfiguration(listener.URL), client.Options{Transport: listener.Client()})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Get(context.Background(), id, "v", nil)
			var got *arm.Error
			if !errors.As(err, &got) || got.Code != test.code || arm.Classify(err) != test.class || got.ID != id {
				t.Fatalf("%s: got %#v", test.reason, err)
			}
			if !strings.Contains(got.Message, test.message) || strings.Contains(err.Error(), "hunter2") ||
				strings.Contains(err.Error(), "Trace ID") || len(err.Error()) > 400 {
				t.Errorf("%s: %s", test.reason, err)
			}
			if got.RetryAfter != test.retryAfter {
				t.Errorf("%s: the next try is after %s, want %s", test.reason, got.RetryAfter, test.retryAfter)
			}
			if unanswered := arm.IsUnanswered(err); unanswered != (test.code == client.CodeTokenUnavailable) {
				t.Errorf("%s: IsUnanswered is %t", test.reason, unanswered)
			}
			if _, refused := client.EntraRefusal(err); refused != (test.code == client.CodeCredentialsInvalid) {
				t.Errorf("%s: EntraRefusal is %t", test.reason, refused)
			}
			if manager != 0 {
				t.Error("Resource Manager got a request without a token")
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := client.New(nil, newConfiguration("https://x"), client.Options{}); err == nil {
		t.Error("no credential must be an error")
	}
	if _, err := client.New(credential.Token("t"), cloud.Configuration{}, client.Options{}); err == nil ||
		!strings.Contains(err.Error(), "endpoint") {
		t.Errorf("got %v", err)
	}
}
