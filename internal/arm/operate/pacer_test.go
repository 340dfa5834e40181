package operate

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// simulateChecks counts the reads and polls for an operation of the given length, and the delay until its end is noticed.
func simulateChecks(p *pacer, at progress, length, retryAfter time.Duration) (looks, asks int, late time.Duration) {
	due, idle := retryAfter, at.idleFor
	for at.elapsed < length {
		at.notBefore, at.idleFor = max(0, due-at.elapsed), max(0, idle-at.elapsed)
		delay, ask := p.nextCheck(at)
		at.elapsed += delay
		if ask {
			asks++
			due = at.elapsed + retryAfter
		} else {
			looks++
		}
	}
	return looks, asks, at.elapsed - length
}

func TestNextCheck(t *testing.T) {
	const s = time.Second
	for name, test := range map[string]struct {
		reason     string
		kind       string
		state      arm.State
		length     time.Duration
		retryAfter time.Duration
		recent     []time.Duration
		at         progress
		looks      int
		asks       int
		late       time.Duration
	}{
		"subnet": {"it is read as soon as it can exist, and not polled", types.Subnet, arm.Creating,
			1800 * time.Millisecond, 3 * s, nil, progress{hasURL: true}, 7, 0, s / 8},
		"NAT gateway": {"once more each 22nd of the time", types.NATGateway, arm.Creating, 6600 * time.Millisecond,
			10 * s, nil, progress{hasURL: true}, 13, 0, s / 3},
		"slow NAT gateway": {"less often once it takes longer than usual, and the URL is polled", types.NATGateway,
			arm.Creating, 30 * s, 10 * s, nil, progress{hasURL: true}, 36, 2, 30 * s / 12},
		"no dependant can continue": {"no check before that time", types.NATGateway, arm.Creating, 6600 * time.Millisecond, 10 * s, nil,
			progress{hasURL: true, idleFor: 6 * s}, 4, 0, s / 3},
		"much work is left": {"a second counts for less", types.NATGateway, arm.Creating, 6600 * time.Millisecond, 10 * s, nil,
			progress{hasURL: true, minRemaining: 120 * s}, 4, 0, s},
		"machine": {"polled once, in case of an early failure", types.VirtualMachine, arm.Creating, 40 * s, 10 * s,
			nil, progress{hasURL: true}, 8, 1, 2 * s},
		"AKS": {"eleven requests for three minutes", types.ManagedCluster, arm.Creating, 176 * s, 10 * s, nil,
			progress{hasURL: true}, 8, 3, 10 * s},
		"bastion": {"", types.BastionHost, arm.Creating, 420 * s, 10 * s, nil, progress{hasURL: true}, 8, 4,
			420 * s / 18},
		"group": {"dependants do not wait for the end of a deletion", types.ResourceGroup, arm.Deleting, 300 * s,
			15 * s, nil, progress{hasURL: true}, 6, 8, 300 * s / 6},
		"machine goes": {"it is not polled before it can be gone", types.VirtualMachine, arm.Deleting, 29 * s, 10 * s, nil,
			progress{hasURL: true}, 4, 0, 29 * s / 6},
		"interface goes": {"once a second", types.NetworkInterface, arm.Deleting, 4 * s, 10 * s, nil,
			progress{hasURL: true}, 3, 0, s},
		"AKS goes": {"an early failure is of use if the operation takes minutes", types.ManagedCluster, arm.Deleting,
			220 * s, 10 * s, nil, progress{hasURL: true}, 4, 3, 220 * s / 6},
		"longer than usual": {"the operation itself is polled then", types.VirtualMachine, arm.Creating, 400 * s, 10 * s, nil,
			progress{hasURL: true}, 15, 17, 50 * s},
		"shorter than usual": {"it is noticed when such operations may end", types.VirtualMachine, arm.Creating, 5 * s, 10 * s,
			nil, progress{hasURL: true}, 0, 1, 5 * s},
		"known": {"recent durations count", types.VirtualMachine, arm.Creating, 36 * s, 10 * s,
			[]time.Duration{34 * s, 36 * s, 40 * s}, progress{hasURL: true}, 5, 2, 2 * s},
		"two durations are too few": {"", types.VirtualMachine, arm.Creating, 36 * s, 10 * s, []time.Duration{100 * s, 100 * s},
			progress{hasURL: true}, 6, 1, 2 * s},
		"nothing known": {"in proportion to its age", "Microsoft.Unknown/things", arm.Creating, 36 * s, 10 * s, nil,
			progress{hasURL: true}, 25, 3, 36 * s / 8},
		"hours": {"at least once a minute", types.ResourceGroup, arm.Deleting, 3600 * s, 15 * s, nil,
			progress{hasURL: true}, 6, 63, 60 * s},
		"joined": {"its start is unknown", types.VirtualMachine, arm.Creating, 5 * s, 0, nil,
			progress{startUnknown: true}, 11, 0, s / 2},
		"no link": {"only the resource shows the end", types.VirtualMachine, arm.Creating, 40 * s, 0, nil, progress{},
			9, 0, 2 * s},
		"action": {"the resource does not show it", types.VirtualMachine, arm.Updating, 30 * s, 10 * s, nil,
			progress{hasURL: true, resourceUnhelpful: true}, 0, 3, 10 * s},
		"little read budget": {"the budget is kept for more important reads", types.VirtualMachine, arm.Creating, 40 * s, 10 * s, nil,
			progress{hasURL: true, readBudgetLeft: 0.4}, 4, 1, 8 * s},
		"faster than on Azure": {"a simulation returns the right interval", types.ManagedCluster, arm.Creating, s,
			250 * time.Millisecond, nil, progress{hasURL: true, exactDelay: true}, 0, 4, s / 4},
		"faster than on Azure, a second or more": {"milliseconds are the time of the end", types.VirtualMachine, arm.Creating,
			1700 * time.Millisecond, 1200 * time.Millisecond, nil, progress{hasURL: true, exactDelay: true}, 0, 2, s},
	} {
		t.Run(name, func(t *testing.T) {
			p, at := newPacer(), test.at
			at.key = strings.ToLower(test.kind) + " " + string(test.state)
			if at.readBudgetLeft == 0 {
				at.readBudgetLeft = 1
			}
			for _, took := range test.recent {
				p.recordDuration(at.key, took)
			}
			looks, asks, late := simulateChecks(p, at, test.length, test.retryAfter)
			if looks != test.looks || asks != test.asks || late > test.late {
				t.Errorf("%s: %d reads and %d polls, %s late; want %d and %d, at most %s", test.reason, looks, asks, late, test.looks,
					test.asks, test.late)
			}
		})
	}
}

// TestExactDelayNeedsBudget lets Azure ask for a poll each millisecond; it expects that the next poll depends on the budget of reads, not
// on Azure alone.
func TestExactDelayNeedsBudget(t *testing.T) {
	p := newPacer()
	at := progress{key: "Microsoft.Compute/virtualMachines Creating", elapsed: 10 * time.Minute, hasURL: true, exactDelay: true, readBudgetLeft: 1}
	often, _ := p.nextCheck(at)
	at.readBudgetLeft = client.ScarceReadBudget / 2
	rarely, _ := p.nextCheck(at)
	if often > 5*minPollInterval || rarely < 10*time.Second {
		t.Errorf("%s with a full budget, %s with a scarce one", often, rarely)
	}
}
