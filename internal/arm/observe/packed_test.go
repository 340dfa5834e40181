package observe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestPacked keeps bodies for as long as a digest vouches for them: in the cache they are small, and whoever gets one gets it whole.
func TestPacked(t *testing.T) {
	cache := NewCache(&at{epoch}, 10*time.Second, time.Hour)
	long := json.RawMessage(`{"properties":{"provisioningState":"Succeeded","subnets":[` + strings.Repeat(`{"name":"x","properties":{"addressPrefix":"10.0.0.0/16"}},`, 50) + `{"id":"a","name":"a"}]}}`)
	short := json.RawMessage(`{}`)
	other := arm.NewID("s", "rg", types.RouteTable, "table")
	rows := map[uint64]uint64{}
	for _, id := range []arm.ID{network, other} {
		rows[hashOf(id.Key())] = 7
	}
	digested := func() {
		now := cache.clock.Now()
		cache.keepDigest("p", digestPath(arm.SubscriptionID("s")), &digest{begun: now, ended: now, rows: rows})
	}
	digested()
	after(time.Second)(cache)
	for id, body := range map[arm.ID]json.RawMessage{network: long, other: short} {
		found := cache.At(Observed{ID: id, Exists: true, Body: body}, false)
		found.wanted = true
		cache.Keep("p", found)
	}
	after(10 * time.Minute)(cache)
	cache.Sweep()

	if kept := cache.entries[cacheKey("p", network)]; kept.Body != nil || kept.packed.Empty() || kept.packed.Size() > len(long)/4 {
		t.Errorf("a body of %d bytes is kept as %d and %d", len(long), len(kept.Body), kept.packed.Size())
	}
	digested()
	for id, want := range map[arm.ID]json.RawMessage{network: long, other: short, subnet: json.RawMessage(`{"id":"a","name":"a"}`)} {
		vouched, ok := cache.vouched("p", id, cache.clock.Now(), epoch)
		if !ok || string(vouched.Body) != string(want) {
			t.Errorf("%s: a digest vouches %t for %.60s", id, ok, vouched.Body)
		}
		if got, ok := cache.get("p", id, epoch); !ok || string(got.Body) != string(want) {
			t.Errorf("%s: it is given out %t as %.60s", id, ok, got.Body)
		}
	}
}
