package overlay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// TestReferencesToDeletedResources deletes a load balancer of the live Azure and reads a public IP address and a list. The live Azure still
// shows the load balancer as the one that uses the address.
func TestReferencesToDeletedResources(t *testing.T) {
	const (
		subscription = "/subscriptions/00000000-0000-0000-0000-000000000001"
		group        = subscription + "/resourceGroups/g"
		network      = group + "/providers/Microsoft.Network"
		frontend     = network + "/loadBalancers/gone/frontendIPConfigurations/a"
		other        = network + "/loadBalancers/gone-too/frontendIPConfigurations/a"
	)
	address := func(name, user string) string {
		return fmt.Sprintf(`{"id":"%s/publicIPAddresses/%s","name":%q,"properties":{"ipConfiguration":{"id":%q},"users":[{"id":%q}]}}`,
			network, name, name, user, user)
	}
	live := map[string]string{
		strings.ToLower(group): fmt.Sprintf(`{"id":%q,"location":"eastus"}`, group),
		strings.ToLower(network + "/loadBalancers/gone"): fmt.Sprintf(`{"id":%q,"location":"eastus","sku":{"name":"Standard"},"properties":{}}`,
			network+"/loadBalancers/gone"),
		strings.ToLower(network + "/publicIPAddresses/a"): address("a", frontend),
		strings.ToLower(network + "/publicIPAddresses"):   `{"value":[` + address("a", frontend) + "," + address("b", other) + `]}`,
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := store.NewVirtual(now)
	azure, err := overlay.New(overlay.Options{Subscriptions: []string{subscription[len("/subscriptions/"):]},
		Clock: clock,
		Live: &overlay.Live{Credential: token{}, Endpoint: "https://azure.test", Transport: transport(func(r *http.Request) string {
			if body, is := live[strings.ToLower(r.URL.Path)]; is {
				return body
			}
			return `{"value":[]}`
		})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = azure.Close() })
	send := func(method, path string, status int) (out map[string]any) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://azure.test"+path+"?api-version=2025-05-01", &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		response, err := azure.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != status {
			t.Fatalf("%s %s: %d %v %s", method, path, response.StatusCode, err, raw)
		}
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &out); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	send(http.MethodDelete, network+"/loadBalancers/gone", http.StatusAccepted)
	clock.Set(now.Add(time.Hour))
	send(http.MethodGet, network+"/loadBalancers/gone", http.StatusNotFound)
	want := map[string]any{"id": network + "/publicIPAddresses/a", "name": "a", "properties": map[string]any{"users": []any{}}}
	if diff := cmp.Diff(want, send(http.MethodGet, network+"/publicIPAddresses/a", http.StatusOK)); diff != "" {
		t.Errorf("an address (-want +got):\n%s", diff)
	}
	kept := map[string]any{"id": network + "/publicIPAddresses/b", "name": "b", "properties": map[string]any{
		"ipConfiguration": map[string]any{"id": other}, "users": []any{map[string]any{"id": other}}}}
	if diff := cmp.Diff(map[string]any{"value": []any{want, kept}}, send(http.MethodGet, network+"/publicIPAddresses", http.StatusOK)); diff != "" {
		t.Errorf("a list (-want +got):\n%s", diff)
	}
}
