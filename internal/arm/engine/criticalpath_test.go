package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
)

// TestSlackOfRunningOperations computes slack in graphs. A node is one line: its predecessors, its lower bound in seconds, whether its
// operation is running, and its expected slack.
func TestSlackOfRunningOperations(t *testing.T) {
	type node struct {
		name   string
		before []string
		takes  int
		begun  bool
		// document is shared by nodes that Azure writes one after the other.
		document string
		// needed is the expected slack of a running operation.
		needed int
	}
	for name, test := range map[string]struct {
		reason string
		nodes  []node
	}{
		"alone":   {"all others wait for it", []node{{name: "nat", takes: 4, begun: true}}},
		"a chain": {"", []node{{name: "ip", takes: 1, begun: true}, {name: "nat", before: []string{"ip"}, takes: 4}}},
		"parallel to a longer one": {"the last node is needed when all are done",
			[]node{{name: "table", takes: 1, begun: true, needed: 4}, {name: "nat", takes: 4, begun: true, needed: 1}}},
		"beside hours": {"the others need not wait for those",
			[]node{{name: "table", takes: 1, begun: true}, {name: "bastion", takes: 300, begun: true, needed: 1}}},
		"shared": {"the successor waits for the longer one",
			[]node{{name: "table", takes: 1, begun: true, needed: 4}, {name: "nat", takes: 4, begun: true, needed: 2},
				{name: "subnet", before: []string{"table", "nat"}, takes: 1}}},
		"with a longer path": {"nodes that have not started count",
			[]node{{name: "table", takes: 1, begun: true, needed: 5}, {name: "ip", takes: 1, begun: true},
				{name: "nat", before: []string{"ip"}, takes: 4}, {name: "subnet", before: []string{"table", "nat"}, takes: 1}}},
		"two successors": {"the first successor that can start counts",
			[]node{{name: "vnet", takes: 1, begun: true}, {name: "nat", takes: 4, begun: true, needed: 1},
				{name: "one", before: []string{"vnet"}, takes: 3}, {name: "two", before: []string{"vnet", "nat"}, takes: 2}}},
		"a later successor": {"a successor with slack may start later",
			[]node{{name: "group", takes: 1, begun: true, needed: 4}, {name: "nat", takes: 6, begun: true, needed: 2},
				{name: "one", before: []string{"group"}, takes: 1}}},
		"one document": {"the other subnet cannot be written before it is",
			[]node{{name: "nat", takes: 4, begun: true, needed: 3}, {name: "one", takes: 5, begun: true, document: "vnet", needed: 4},
				{name: "two", before: []string{"nat"}, takes: 1, document: "vnet"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &schedule{predecessors: map[*arm.Node][]*arm.Node{}, running: map[*arm.Node]*operate.Operation{},
				lockedBy:    map[*arm.Node]arm.ID{},
				minDuration: map[*arm.Node]time.Duration{}, minRemaining: map[*arm.Node]time.Duration{},
				slack: map[*arm.Node]time.Duration{}}
			byName, got, want := map[string]*arm.Node{}, map[string]int{}, map[string]int{}
			for _, line := range test.nodes {
				n := &arm.Node{ID: arm.ID(line.name)}
				for _, name := range line.before {
					s.predecessors[n] = append(s.predecessors[n], byName[name])
				}
				s.nodes, byName[line.name], s.lockedBy[n], s.minDuration[n] = append(s.nodes, n), n, arm.ID(line.document),
					time.Duration(line.takes)*time.Second
				s.minRemaining[n] = s.minDuration[n] + s.maxRemaining(s.predecessors[n], nil)
				if line.begun {
					s.running[n], want[line.name] = &operate.Operation{}, line.needed
				}
			}
			for _, n := range slices.Backward(s.nodes) {
				s.slack[n] = s.slackOf(n)
				if s.running[n] != nil {
					got[string(n.ID)] = int(s.slack[n].Seconds())
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
