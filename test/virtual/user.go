package virtual

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
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

// PutAsUser makes a resource in Azure as somebody else does, and waits until it is there. The path starts with "resourceGroups/".
func (s *Scenario) PutAsUser(path, apiVersion string, body map[string]any) {
	s.T.Helper()
	if status, said := s.SendAsUser(http.MethodPut, path, apiVersion, body); status > 299 {
		s.T.Fatalf("PUT %s: %d %s", path, status, said)
	}
	s.WaitAzureIdle()
}
