package engine

import (
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// setPollingDeadlines tells the operations of the graph for how long nobody can go on with their end, so that they are not looked at as closely as
// those that others wait for: what comes after a route table waits for the NAT gateway, too, which takes longer.
func (p *convergence) setPollingDeadlines() {
	s := p.newSchedule()
	whole := s.maxRemaining(s.nodes, nil)
	for _, node := range slices.Backward(s.nodes) {
		s.slack[node] = s.slackOf(node)
		if op := s.running[node]; op != nil && op.Object == p.request.Object {
			p.engine.operate.SetIdleUntil(op, s.now.Add(s.slack[node]), whole)
		}
	}
}

// schedule is what of a graph is not in place, with the times that this takes.
type schedule struct {
	now time.Time
	// nodes are in the order of the graph, before is what each waits for.
	nodes        []*arm.Node
	predecessors map[*arm.Node][]*arm.Node
	running      map[*arm.Node]*operate.Operation
	// lockedBy is the resource whose document Azure writes for a node, one write at a time; "" is none.
	lockedBy map[*arm.Node]arm.ID
	// minDuration is how long the operation on a node hardly takes less than, left is for how long it is not in place at the least, and
	// needed for how long it does not have to be.
	minDuration, minRemaining, slack map[*arm.Node]time.Duration
}

func (p *convergence) newSchedule() *schedule {
	s := &schedule{now: p.engine.clock.Now(), predecessors: map[*arm.Node][]*arm.Node{}, running: map[*arm.Node]*operate.Operation{}, lockedBy: map[*arm.Node]arm.ID{},
		minDuration: map[*arm.Node]time.Duration{}, minRemaining: map[*arm.Node]time.Duration{}, slack: map[*arm.Node]time.Duration{}}
	for _, node := range p.nodes {
		op, state := p.engine.operate.FindOperation(node.ID.Key()), p.results[node.ID.Key()].State
		if op == nil && state != arm.Blocked && state != arm.Waiting {
			continue
		}
		s.nodes, s.predecessors[node] = append(s.nodes, node), p.request.Graph.Dependencies(node)
		if row, err := types.ForID(node.ID); err == nil {
			s.lockedBy[node] = row.SerialKey(node.ID)
		}
		if op != nil {
			s.running[node], s.minDuration[node] = op, p.engine.operate.MinDuration(node.ID, op.State)
			s.minRemaining[node] = max(0, s.minDuration[node]-s.now.Sub(op.StartTime()))
			continue
		}
		s.minDuration[node] = p.engine.operate.MinDuration(node.ID, arm.Creating)
		s.minRemaining[node] = s.minDuration[node] + s.maxRemaining(s.predecessors[node], nil)
	}
	return s
}

// maxRemaining is the time until all nodes but one are in place, at the least.
func (s *schedule) maxRemaining(nodes []*arm.Node, but *arm.Node) (out time.Duration) {
	for _, node := range nodes {
		if node != but {
			out = max(out, s.minRemaining[node])
		}
	}
	return out
}

// slackOf is how long it takes at the least until a node has to be in place for anything to go on. What comes after is known.
func (s *schedule) slackOf(node *arm.Node) time.Duration {
	needed, last := operate.MaxIdle, true
	for _, next := range s.nodes {
		after := slices.Contains(s.predecessors[next], node)
		if s.running[next] != nil || next == node || !after && (s.lockedBy[node] == "" || !s.lockedBy[node].Equal(s.lockedBy[next])) {
			continue
		}
		last = false
		start := s.maxRemaining(s.predecessors[next], node)
		if after {
			// It may begin later, if nobody waits for it. Twice the least is what it often takes.
			start = max(start, s.slack[next]-2*s.minDuration[next])
		}
		needed = min(needed, start)
	}
	if !last {
		return needed
	}
	// All that is still to be done is to say that everything is in place. What takes much longer than the rest may not be waited for.
	needed = 0
	for _, other := range s.nodes {
		if other != node && s.minRemaining[other] <= operate.MaxIdle {
			needed = max(needed, s.minRemaining[other])
		}
	}
	return needed
}
