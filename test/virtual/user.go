package virtual

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// UserAgent marks the requests of whoever is not the provider, as the harness does.
const UserAgent = "integration-test"

// SendAsUser has somebody else ask Azure for something. The path starts with "resourceGroups/"; nil is no body. It does not wait until what was
// asked for is done.
func (w *World) SendAsUser(method, path, apiVersion string, body map[string]any) (status int, answer []byte) {
	w.T.Helper()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			w.T.Fatal(err)
		}
	}
	url := endpoint + "/subscriptions/" + w.Azure.SubscriptionID + "/" + path + "?api-version=" + apiVersion
	request, err := http.NewRequestWithContext(w.T.Context(), method, url, bytes.NewReader(raw))
	if err != nil {
		w.T.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.Sim.Token(w.Azure.ClientID))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", UserAgent)
	response, err := w.serveAzure(request)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err != nil {
		w.T.Fatal(err)
	}
	return response.StatusCode, answer
}

// WaitAzureIdle waits until Azure is at nothing.
func (w *World) WaitAzureIdle() {
	for slices.ContainsFunc(w.Sim.Operations(), func(op *store.Operation) bool { return op.Ended.IsZero() }) {
		WaitForSignal(nil, time.Second)
	}
}

// PutAsUser makes a resource in Azure as somebody else does, and waits until it is there. The path starts with "resourceGroups/".
func (w *World) PutAsUser(path, apiVersion string, body map[string]any) {
	w.T.Helper()
	if status, said := w.SendAsUser(http.MethodPut, path, apiVersion, body); status > 299 {
		w.T.Fatalf("PUT %s: %d %s", path, status, said)
	}
	w.WaitAzureIdle()
}
