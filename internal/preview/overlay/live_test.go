package overlay_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

type transport func(*http.Request) string

// Do implements policy.Transporter.
func (f transport) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(f(request)))}, nil
}

type token struct{}

// GetToken implements azcore.TokenCredential.
func (token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// TestPages reads lists of several pages. Pages at another address would get the token.
func TestPages(t *testing.T) {
	const first = "https://azure.test/subscriptions/a/resources?page=0"
	tests := map[string]struct {
		reason string
		next   func(page int) string
		err    string
		pages  int
	}{
		"pages":         {"all pages are one list", func(n int) string { return fmt.Sprint("https://azure.test/list?page=", n) }, "", 3},
		"another host":  {"the token is of this Azure", func(int) string { return "https://other.test/list" }, "not of https://azure.test", 1},
		"no encryption": {"the token is not sent in clear text", func(int) string { return "http://azure.test/list" }, "not of https://azure.test", 1},
		"no end":        {"a list that names itself has no end", nil, "more than 1000 pages", 1000},
		"large pages":   {"all pages are in memory", nil, "67108864 bytes", 8},
		"large answer":  {"an answer that was cut is not complete", nil, "more than 67108864 bytes", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read := 0
			live := &overlay.Live{Credential: token{}, Audience: "https://azure.test", Transport: transport(func(*http.Request) string {
				read++
				next, padding := first, ""
				switch {
				case name == "large pages":
					padding = strings.Repeat(" ", 8<<20)
				case name == "large answer":
					padding = strings.Repeat(" ", 65<<20)
				case test.next != nil && read < 3:
					next = test.next(read)
				case test.next != nil:
					next = ""
				}
				return fmt.Sprintf(`{"value":[{"id":"%d"}],"nextLink":%q}%s`, read, next, padding)
			})}
			at, err := url.Parse(first)
			if err != nil {
				t.Fatal(err)
			}
			status, body, err := live.Get(t.Context(), at)
			switch {
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("%s: got %v, want %q", test.reason, err, test.err)
			case test.err == "" && (err != nil || status != http.StatusOK || strings.Count(string(body), `"id"`) != test.pages):
				t.Errorf("%s: status %d, %v: %s", test.reason, status, err, body)
			}
			if read != test.pages || live.Reads() != test.pages {
				t.Errorf("%s: %d pages were read, want %d", test.reason, read, test.pages)
			}
		})
	}
}

// TestForeignAnswers gives an error for answers of proxies: neither a plan nor an import may take them for Azure's.
func TestForeignAnswers(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		err    string
	}{
		"resource":            {http.StatusOK, `{"id":"/subscriptions/a/resourceGroups/g"}`, ""},
		"no resource":         {http.StatusNotFound, `{"error":{"code":"ResourceGroupNotFound","message":"none"}}`, ""},
		"404 page of a proxy": {http.StatusNotFound, "<html>no such site</html>", "not from Azure Resource Manager"},
		"empty 404":           {http.StatusNotFound, "", "not from Azure Resource Manager"},
		"login page":          {http.StatusOK, "<html>sign in</html>", "not from Azure Resource Manager"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := &overlay.Live{Credential: token{}, Audience: "https://azure.test", Transport: answering{test.status, test.body}}
			at, err := url.Parse("https://azure.test/subscriptions/a/resourceGroups/g")
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = live.Get(t.Context(), at)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("the error is %v, want %q", err, test.err)
			}
		})
	}
}

// answering is a transport with one answer.
type answering struct {
	status int
	body   string
}

// Do implements policy.Transporter.
func (a answering) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}
