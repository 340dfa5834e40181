package observe_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestBackReferencesAreDropped reads resources with lists of their users: one by one, with a list, and from the answer to a write.
func TestBackReferencesAreDropped(t *testing.T) {
	network := arm.NewID("s", "rg", types.VirtualNetwork, "n")
	balancer := arm.NewID("s", "rg", types.LoadBalancer, "b")
	for name, tc := range map[string]struct {
		reason     string
		id         arm.ID
		body, want string
	}{
		"network": {"each interface is among the users of its subnet", network,
			`{"name":"n","etag":"1","properties":{"subnets":[{"name":"x","properties":{"addressPrefix":"10.0.0.0/16","ipConfigurations":[{"id":"/1"},{"id":"/2"}]}},{"name":"y","properties":{}},{"name":"z"}]}}`,
			`{"etag":"1","name":"n","properties":{"subnets":[{"name":"x","properties":{"addressPrefix":"10.0.0.0/16"}},{"name":"y","properties":{}},{"name":"z"}]}}`},
		"subnet": {"each interface is among the users of a subnet that is read by itself", network.Child("subnets", "x"),
			`{"name":"x","properties":{"ipConfigurations":[{"id":"/1"}],"natGateway":{"id":"/3"}}}`,
			`{"name":"x","properties":{"natGateway":{"id":"/3"}}}`},
		"load balancer": {"the pool's own settings are kept", balancer,
			`{"name":"b","properties":{"backendAddressPools":[{"name":"p","properties":{"backendIPConfigurations":[{"id":"/1"}],"loadBalancerBackendAddresses":[{"name":"a"}]}}]}}`,
			`{"name":"b","properties":{"backendAddressPools":[{"name":"p","properties":{"loadBalancerBackendAddresses":[{"name":"a"}]}}]}}`},
		"nothing to drop": {"a resource without users is unchanged", network, `{"name":"n","properties":{ "subnets":[] }}`,
			`{"name":"n","properties":{"subnets":[]}}`},
		"another shape": {"an undocumented shape is unchanged", network, `{"name":"n","properties":{"subnets":{"ipConfigurations":1}}}`,
			`{"name":"n","properties":{"subnets":{"ipConfigurations":1}}}`},
		"an interface": {"its configurations are its own", arm.NewID("s", "rg", types.NetworkInterface, "i"),
			`{"name":"i","properties":{"ipConfigurations":[{"name":"c"}]}}`,
			`{"name":"i","properties":{"ipConfigurations":[{"name":"c"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == types.ListPath(tc.id) {
					_, _ = w.Write([]byte(`{"value":[` + tc.body + `]}`))
					return
				}
				_, _ = w.Write([]byte(tc.body))
			}))
			t.Cleanup(server.Close)
			for how, ids := range map[string][]arm.ID{"one": {tc.id}, "list": {tc.id, arm.ID(types.ListPath(tc.id) + "/other")}} {
				cache := observe.NewCache(fixed{}, 10, 0)
				reader := observe.Reader{Cache: cache, MaxParallel: 4}
				found := reader.Read(t.Context(), clientOf(t, server, "p"), ids, 10, observe.ReadOptions{})[tc.id.Key()]
				if diff := cmp.Diff(tc.want, string(found.Body)); diff != "" {
					t.Errorf("%s: %s, -want +got:\n%s", tc.reason, how, diff)
				}
			}
			answer := observe.NewCache(fixed{}, 10, 0).NewObservation(observe.Observed{ID: tc.id, Body: []byte(tc.body)}, true)
			if diff := cmp.Diff(tc.want, string(answer.Body)); diff != "" {
				t.Errorf("%s: the answer to a write, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
