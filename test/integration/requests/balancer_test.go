package requests_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const (
	apiServer      = "resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-public-lb"
	networkVersion = "2024-05-01"
)

// TestBalancerMadeAgain deletes the load balancer of the API server in Azure, which removes the machines' interfaces from its pool and
// from its NAT rules. The next sync makes it again, and the one after that adds the interfaces again: until then the API server cannot be
// reached.
func TestBalancerMadeAgain(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.BuildCluster("c1", 1)
		w.countHour()
		before := w.listBalanced()
		if len(before) == 0 {
			w.T.Fatal("no interface is in a pool")
		}
		mark := w.Azure.MarkRequests()
		if status, said := w.SendAsUser(http.MethodDelete, apiServer, networkVersion, nil); status > 299 {
			w.T.Fatalf("%d %s", status, said)
		}
		virtual.WaitForSignal(nil, 26*time.Minute)
		// A sync may begin at once, so the writes show that the interfaces had lost their pools, and not a look in between.
		added := map[string]bool{}
		for _, request := range w.Azure.Requests()[mark:] {
			if path, _, _ := strings.Cut(request.URL, "?"); request.Method == http.MethodPut && kindOf(path) == "networkInterfaces" {
				added[path[strings.LastIndex(path, "/")+1:]] = true
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(added))); diff != "" {
			w.T.Errorf("interfaces that were added to the pools again (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, w.listBalanced()); diff != "" {
			w.T.Errorf("pools and rules of the machines' interfaces (-before +after):\n%s", diff)
		}
	})
}

// listBalanced returns the pools and NAT rules that interfaces have, by interface.
func (w *world) listBalanced() map[string][]string {
	w.T.Helper()
	out := map[string][]string{}
	for _, resource := range w.Sim.State() {
		if resource["type"] != "Microsoft.Network/networkInterfaces" {
			continue
		}
		name := resource["name"].(string)
		for _, configuration := range resource["properties"].(map[string]any)["ipConfigurations"].([]any) {
			for _, list := range []string{"loadBalancerBackendAddressPools", "loadBalancerInboundNatRules"} {
				members, _ := configuration.(map[string]any)["properties"].(map[string]any)[list].([]any)
				for _, member := range members {
					out[name] = append(out[name], member.(map[string]any)["id"].(string))
				}
			}
		}
	}
	return out
}
