package facts

import (
	"maps"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// reservationTTL is how long a port stays reserved for a machine that nobody plans any more and nobody released.
const reservationTTL = time.Hour

// sshPorts are the front-end ports of SSH NAT rules in the order they are given out.
var sshPorts = func() []int32 {
	out := []int32{22}
	for port := int32(2201); port <= 2219; port++ {
		out = append(out, port)
	}
	return out
}()

// portReservations remembers which machine was given which port of which load balancer. Without it machines that are planned before
// the first one's rule shows in Azure would all choose the same.
type portReservations struct {
	now func() time.Time

	mu       sync.Mutex
	reserved map[string]map[int32]reservation // by arm.ID.Key of the load balancer
}

type reservation struct {
	machine string
	at      time.Time
}

func newPortReservations(now func() time.Time) *portReservations {
	return &portReservations{now: now, reserved: map[string]map[int32]reservation{}}
}

// reservePort gives the port of the machine: what its rule in Azure has, what it was given before, or the first one that is
// neither taken in Azure nor given to another. 0 means that all are taken. taken has the ports in use by the name of the
// machine whose rule it is, "" for rules of another kind.
func (p *portReservations) reservePort(balancer arm.ID, machine string, taken map[int32]string) int32 {
	machine = strings.ToLower(machine)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropExpired()
	given := p.reserved[balancer.Key()]
	if given == nil {
		given = map[int32]reservation{}
		p.reserved[balancer.Key()] = given
	}
	var own int32
	for port, r := range given {
		if r.machine == machine {
			own = port
			delete(given, port)
		}
	}
	reserve := func(port int32) int32 {
		given[port] = reservation{machine, p.now()}
		return port
	}
	for port, holder := range taken {
		if strings.EqualFold(holder, machine) {
			return reserve(port)
		}
	}
	if _, used := taken[own]; own != 0 && !used {
		return reserve(own)
	}
	for _, port := range sshPorts {
		_, used := taken[port]
		if _, reserved := given[port]; !used && !reserved {
			return reserve(port)
		}
	}
	return 0
}

// dropExpired drops reservations that nobody uses, also those of load balancers that are gone.
func (p *portReservations) dropExpired() {
	now := p.now()
	for balancer, given := range p.reserved {
		maps.DeleteFunc(given, func(_ int32, r reservation) bool { return now.Sub(r.at) > reservationTTL })
		if len(given) == 0 {
			delete(p.reserved, balancer)
		}
	}
}

// releasePort gives the machine's port back.
func (p *portReservations) releasePort(balancer arm.ID, machine string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	given := p.reserved[balancer.Key()]
	for port, r := range given {
		if strings.EqualFold(r.machine, machine) {
			delete(given, port)
		}
	}
	if len(given) == 0 {
		delete(p.reserved, balancer.Key())
	}
}
