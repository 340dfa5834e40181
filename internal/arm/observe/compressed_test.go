package observe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestConfirmedBodiesAreCompressed keeps bodies while digests show no write: they are small in the cache, and complete for callers.
func TestConfirmedBodiesAreCompressed(t *testing.T) {
	cache := NewCache(&manualClock{epoch}, 10*time.Second, time.Hour)
	long := json.RawMessage(`{"properties":{"provisioningState":"Succeeded","subnets":[` +
		strings.Repeat(`{"name":"x","properties":{"addressPrefix":"10.0.0.0/16"}},`, 50) + `{"id":"a","name":"a"}]}}`)
	short := json.RawMessage(`{}`)
	other := arm.NewID("s", "rg", types.RouteTable, "table")
	rows := map[uint64]uint64{}
	for _, id := range []arm.ID{network, other} {
		rows[hashOf(id.Key())] = 7
	}
	digested := func() {
		now := cache.clock.Now()
		cache.storeDigest("p", digestPath(arm.SubscriptionID("s")), &digest{begun: now, ended: now, rows: rows})
	}
	digested()
	advanceTime(time.Second)(cache)
	for id, body := range map[arm.ID]json.RawMessage{network: long, other: short} {
		found := cache.NewObservation(Observed{ID: id, Exists: true, Body: body}, false)
		found.requested = true
		cache.StoreObservation("p", found)
	}
	advanceTime(10 * time.Minute)(cache)
	cache.DropExpired()

	if kept := cache.entries.byKey[cacheKey("p", network)]; kept.Body != nil || kept.compressed.IsEmpty() ||
		kept.compressed.Size() > len(long)/4 {
		t.Errorf("a body of %d bytes is kept as %d and %d", len(long), len(kept.Body), kept.compressed.Size())
	}
	digested()
	for id, want := range map[arm.ID]json.RawMessage{network: long, other: short, subnet: json.RawMessage(`{"id":"a","name":"a"}`)} {
		confirmed, ok := cache.confirmedObservation("p", id, cache.clock.Now(), epoch)
		if !ok || string(confirmed.Body) != string(want) {
			t.Errorf("%s: a digest confirms %t for %.60s", id, ok, confirmed.Body)
		}
		if got, ok := cache.findObservation("p", id, epoch); !ok || string(got.Body) != string(want) {
			t.Errorf("%s: it is returned %t as %.60s", id, ok, got.Body)
		}
	}
}

// TestRepeatedBodiesAreShared lists the same body repeatedly: it is stored once, and compressed if it stays the same.
func TestRepeatedBodiesAreShared(t *testing.T) {
	clock := &manualClock{epoch}
	cache := NewCache(clock, 10*time.Second, time.Hour)
	body := func(state string) json.RawMessage {
		return json.RawMessage(`{"properties":{"provisioningState":"` + state + `","x":"` + strings.Repeat("y", 500) + `"}}`)
	}
	for i, step := range []struct {
		reason string
		wait   time.Duration
		state  string
		again  bool // the body equals the stored one
		packed bool
	}{
		{"it is new", 0, "Creating", false, false},
		{"it is listed again", 20 * time.Second, "Creating", true, false},
		{"it has changed", 20 * time.Second, "Succeeded", false, false},
		{"it has not been unchanged for long", 30 * time.Second, "Succeeded", true, false},
		{"it stays unchanged", time.Second, "Succeeded", true, true},
		{"a compressed body is not compressed again", time.Second, "Succeeded", true, true},
		{"it has changed once more", time.Second, "Updating", false, false},
	} {
		before := cache.entries.byKey[cacheKey("p", network)]
		advanceTime(step.wait)(cache)
		cache.StoreObservation("p", cache.NewObservation(Observed{ID: network, Exists: true, Body: body(step.state),
			ETag: step.state}, false))
		kept := cache.entries.byKey[cacheKey("p", network)]
		if packed := kept.Body == nil && kept.compressed.Size() > 0; packed != step.packed {
			t.Errorf("step %d: %s: packed %t", i, step.reason, packed)
		}
		if again := kept.bodySince.Equal(before.bodySince); again != step.again {
			t.Errorf("step %d: %s: kept as before %t", i, step.reason, again)
		}
		got, ok := cache.findObservation("p", network, clock.Now())
		if !ok || string(got.Body) != string(body(step.state)) || got.ETag != step.state || !got.At.Equal(clock.Now()) {
			t.Errorf("step %d: %s: it is returned as of %s: %.60s", i, step.reason, got.At, got.Body)
		}
	}
}
