package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTheLaterReadCounts stores a subnet and its network, each with a NAT gateway of its own: the later one of both is returned. Plans are
// made from it, too.
func TestTheLaterReadCounts(t *testing.T) {
	body := func(id string, gateway string) string {
		return fmt.Sprintf(`{"id":%q,"name":"a","properties":{"natGateway":{"id":%q}}}`, id, gateway)
	}
	storeSubnet := func(c *Cache) {
		c.StoreObservation("p", c.NewObservation(Observed{ID: subnet, Exists: true, Body: []byte(body(string(subnet), "of the subnet"))}, false))
	}
	storeNetwork := func(c *Cache) {
		document := fmt.Sprintf(`{"id":%q,"properties":{"subnets":[%s]}}`, network, body(string(subnet), "of the network"))
		c.StoreObservation("p", c.NewObservation(Observed{ID: network, Exists: true, Body: []byte(document)}, false))
	}
	tests := map[string]struct {
		reason string
		steps  []func(*Cache)
		want   string
	}{
		"network later": {"AKS has attached its NAT gateway since the subnet was read",
			[]func(*Cache){storeSubnet, advanceTime(time.Second), storeNetwork}, "of the network"},
		"subnet later": {"the subnet was read last", []func(*Cache){storeNetwork, advanceTime(time.Second), storeSubnet}, "of the subnet"},
		"at the same time": {"the document of the resource itself is preferred", []func(*Cache){storeNetwork, storeSubnet},
			"of the subnet"},
		"subnet changed since": {"the network was read before the change",
			[]func(*Cache){storeNetwork, advanceTime(time.Second), invalidateChanged(subnet, ExtentResource), storeSubnet}, "of the subnet"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := NewCache(&manualClock{epoch}, time.Minute, 0)
			for _, step := range test.steps {
				step(c)
			}
			found, ok := c.findObservation("p", subnet, epoch)
			if !ok {
				t.Fatal("the subnet was read")
			}
			if diff := cmp.Diff(body(string(subnet), test.want), string(found.Body)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
