package facts

import (
	"maps"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// reservationTTL is how long a port stays reserved for a machine that is neither planned nor released any more.
const reservationTTL = time.Hour

// sshPorts are the front-end ports of SSH NAT rules, in the order of assignment.
var sshPorts = func() []int32 {
	out := []int32{22}
	for port := int32(2201); port <= 2219; port++ {
		out = append(out, port)
	}
	return out
}()

// portReservations records the machine of each reserved port of a load balancer. Without it, machines planned before the first rule
// exists in Azure would all get the same port.
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

// reservePort returns the port of the machine: that of its rule in Azure, else its reserved one, else the first port that is neither
// used in Azure nor reserved. 0 means that all ports are used. taken holds the ports in use with the machine of the rule, "" for
// other rules.
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

// dropExpired deletes expired reservations, also those of deleted load balancers.
func (p *portReservations) dropExpired() {
	now := p.now()
	for balancer, given := range p.reserved {
		maps.DeleteFunc(given, func(_ int32, r reservation) bool { return now.Sub(r.at) > reservationTTL })
		if len(given) == 0 {
			delete(p.reserved, balancer)
		}
	}
}

// releasePort deletes the reservation of the machine.
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
