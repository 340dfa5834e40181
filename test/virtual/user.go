package virtual

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// SendAsUser sends a request to Azure that is not the provider's. The path starts with "resourceGroups/"; nil is no body. It does not wait
// until the operation has ended.
func (s *Scenario) SendAsUser(method, path, apiVersion string, body map[string]any) (status int, answer []byte) {
	s.T.Helper()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			s.T.Fatal(err)
		}
	}
	return s.Azure.SendRequest(method, path, apiVersion, raw)
}

// WaitAzureIdle waits until no operation of Azure is under way.
func (s *Scenario) WaitAzureIdle() {
	for slices.ContainsFunc(s.Sim.Operations(), func(op *store.Operation) bool { return op.Ended.IsZero() }) {
		WaitForSignal(nil, time.Second)
	}
}

// PutAsUser creates a resource in Azure as a user outside the provider does, and waits until it exists. The path starts with
// "resourceGroups/".
func (s *Scenario) PutAsUser(path, apiVersion string, body map[string]any) {
	s.T.Helper()
	if status, answer := s.SendAsUser(http.MethodPut, path, apiVersion, body); status > 299 {
		s.T.Fatalf("PUT %s: %d %s", path, status, answer)
	}
	s.WaitAzureIdle()
}

// UserTransport sends requests of a program that a user runs to Azure.
type UserTransport struct{ *Scenario }

// Do implements policy.Transporter.
func (t UserTransport) Do(request *http.Request) (*http.Response, error) {
	return t.serveAzure(request)
}

// GetToken implements azcore.TokenCredential with the credential of the scenario.
func (t UserTransport) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: t.Sim.Token(t.Azure.ClientID), ExpiresOn: time.Now().Add(time.Hour)}, nil
}
