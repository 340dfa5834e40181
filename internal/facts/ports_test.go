package facts

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestPorts(t *testing.T) {
	const lb = arm.ID("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb")
	clock := newClock()
	p := newPortReservations(clock.Now)
	steps := []struct {
		reason  string
		lb      arm.ID
		machine string
		taken   map[int32]string
		want    int32
	}{
		{"the first port", lb, "a", nil, 22},
		{"the next one, although Azure shows nothing yet", lb, "b", nil, 2201},
		{"the same one again", lb, "a", nil, 22},
		{"IDs and names without regard to case", arm.ID("/SUBSCRIPTIONS/s/resourceGroups/G/providers/Microsoft.Network/loadBalancers/LB"), "A",
			nil, 22},
		{"another load balancer has its own ports", lb + "2", "c", nil, 22},
		{"ports in Azure override reservations", lb, "b", map[int32]string{2205: "B", 22: "a"}, 2205},
		{"a released reservation is free", lb, "c", map[int32]string{2205: "b", 22: "a"}, 2201},
		{"a reserved port that another rule uses is given up", lb, "c", map[int32]string{2205: "b", 22: "a", 2201: "x"}, 2202},
	}
	for _, step := range steps {
		if got := p.reservePort(step.lb, step.machine, step.taken); got != step.want {
			t.Errorf("%s: got %d, want %d", step.reason, got, step.want)
		}
	}

	clock.advanceTime(reservationTTL + time.Second)
	if got := p.reservePort(lb, "d", nil); got != 22 {
		t.Errorf("reservations that are neither renewed nor released block ports: got %d", got)
	}
	if len(p.reserved) != 1 {
		t.Errorf("load balancers that are gone are remembered: %v", p.reserved)
	}
	p.releasePort(lb, "D")
	p.releasePort(lb, "d")
	if len(p.reserved[lb.Key()]) != 0 {
		t.Errorf("after the release: %v", p.reserved)
	}
}
