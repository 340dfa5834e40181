package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// failingTransport fails every request.
type failingTransport struct{}

func (failingTransport) Do(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }

func TestRequestRecords(t *testing.T) {
	const collection = arm.ID("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks")
	tests := map[string]struct {
		reason string
		status int
		body   string
		ask    func(c *client.Client) error
		want   []client.RequestRecord
	}{
		"get": {"the operation of a read is its method",
			200, `{}`, getResource(id), []client.RequestRecord{{Operation: "get", ID: id, Status: 200}}},
		"put": {"the operation of a write is its method", 201, `{}`, func(c *client.Client) error {
			_, err := c.Put(t.Context(), id, "1", map[string]any{}, "")
			return err
		}, []client.RequestRecord{{Operation: "put", ID: id, Status: 201}}},
		"list": {"each page is a request", 200, `{"value":[]}`, func(c *client.Client) error {
			_, err := c.List(t.Context(), string(collection), "1", nil)
			return err
		}, []client.RequestRecord{{Operation: "list", ID: collection, Status: 200}}},
		"poll": {"polls are the most frequent requests", 200, `{}`, func(c *client.Client) error {
			_, err := c.PollURL(t.Context(), id, "operations/1")
			return err
		}, []client.RequestRecord{{Operation: "poll", ID: id, Status: 200}}},
		"refused": {"the status is that of the refusal", 403, `{"error":{"code":"AuthorizationFailed"}}`, getResource(id),
			[]client.RequestRecord{{Operation: "get", ID: id, Status: 403}}},
		"throttled": {"there were too many requests", 429, `{"error":{"code":"TooManyRequests"}}`, getResource(id),
			[]client.RequestRecord{{Operation: "get", ID: id, Status: 429, Throttled: true}}},
		"busy": {"the network provider's 429 is about a single resource", 429, `{"error":{"code":"RetryableError"}}`, getResource(id),
			[]client.RequestRecord{{Operation: "get", ID: id, Status: 429}}},
		"held back": {"an unsent request has no status", 429, `{"error":{"code":"TooManyRequests"}}`, func(c *client.Client) error {
			return errors.Join(getResource(id)(c), getResource(id)(c))
		}, []client.RequestRecord{{Operation: "get", ID: id, Status: 429, Throttled: true}, {Operation: "get", ID: id, BudgetEmpty: true}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			listener := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			t.Cleanup(listener.Close)
			var got []client.RequestRecord
			c, err := client.New(credential.Token("t"), newConfiguration(listener.URL),
				client.Options{Principal: "p", Transport: listener.Client(), Budgets: client.NewBudgets(nil, 1),
					OnRequestEnd: func(answered client.RequestRecord) {
						if answered.Duration < 0 || answered.Duration > time.Minute {
							t.Errorf("it took %s", answered.Duration)
						}
						answered.Duration = 0
						got = append(got, answered)
					}})
			if err != nil {
				t.Fatal(err)
			}
			if err := test.ask(c); (err != nil) != (test.status >= 400) {
				t.Error(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestConnectionAndTokenFailures lets the connection and the request for a token fail; it expects that neither counts as an answer of
// Resource Manager.
func TestConnectionAndTokenFailures(t *testing.T) {
	for name, credential := range map[string]azcore.TokenCredential{"no route": credential.Token("t"), "no token": refusedCredential{}} {
		var got []client.RequestRecord
		c, err := client.New(credential, newConfiguration("https://azure.example"),
			client.Options{Transport: failingTransport{}, OnRequestEnd: func(answered client.RequestRecord) {
				answered.Duration = 0
				got = append(got, answered)
			}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), id, "1", nil); err == nil {
			t.Error("it got an answer")
		}
		if diff := cmp.Diff([]client.RequestRecord{{Operation: "get", ID: id}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// refusedCredential is a credential that Entra ID refuses.
type refusedCredential struct{}

func (refusedCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("RESPONSE 401: AADSTS7000215: Invalid client secret provided.")
}

func getResource(id arm.ID) func(*client.Client) error {
	return func(c *client.Client) error {
		_, err := c.Get(context.Background(), id, "1", nil)
		return err
	}
}
