package virtual

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Put makes a resource in Azure as somebody else does, and waits until it is there. The path starts with "resourceGroups/".
func (w *World) Put(path, apiVersion string, body map[string]any) {
	w.T.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		w.T.Fatal(err)
	}
	url := endpoint + "/subscriptions/" + w.Azure.SubscriptionID + "/" + path + "?api-version=" + apiVersion
	request, err := http.NewRequestWithContext(w.T.Context(), http.MethodPut, url, bytes.NewReader(raw))
	if err != nil {
		w.T.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.Sim.Token(w.Azure.ClientID))
	request.Header.Set("Content-Type", "application/json")
	response, err := w.azure(request)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode > 299 {
		var said bytes.Buffer
		_, _ = said.ReadFrom(response.Body)
		w.T.Fatalf("PUT %s: %d %s", path, response.StatusCode, said.String())
	}
	for slices.ContainsFunc(w.Sim.Operations(), func(op *store.Operation) bool { return op.Ended.IsZero() }) {
		Wait(nil, time.Second)
	}
}
