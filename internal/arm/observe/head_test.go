package observe

import (
	"testing"
	"time"
)

// TestHeadIsParsedOnce asks several times for the Head of a network that is in the cache. A copy that has another body has the Head of that.
func TestHeadIsParsedOnce(t *testing.T) {
	c := NewCache(&manualClock{epoch}, time.Minute, 0)
	c.StoreObservation("p", c.NewObservation(Observed{ID: network, Exists: true, Body: []byte(`{"tags":{"of":"network"}}`)}, false))
	first, _ := c.findObservation("p", network, epoch)
	if got := first.Head().Tags["of"]; got != "network" {
		t.Fatalf("the tag is %q", got)
	}
	second, _ := c.findObservation("p", network, epoch)
	if n := testing.AllocsPerRun(10, func() { second.Head() }); n > 0 {
		t.Errorf("%v allocations for a Head that is parsed already", n)
	}
	subnet := second
	subnet.Body = []byte(`{"tags":{"of":"subnet"}}`)
	if got := subnet.Head().Tags["of"]; got != "subnet" {
		t.Errorf("the tag of the copy with another body is %q", got)
	}
	if got := first.Head().Tags["of"]; got != "network" {
		t.Errorf("after that the tag of the network is %q", got)
	}
}
