package engine

import (
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// slack tells the operations of the graph for how long nobody can go on with their end, so that they are not looked at as closely as
// those that others wait for: what comes after a route table waits for the NAT gateway, too, which takes longer.
func (p *pass) slack() {
	s := p.schedule()
	whole := s.latest(s.nodes, nil)
	for _, node := range slices.Backward(s.nodes) {
		s.needed[node] = s.untilNeeded(node)
		if op := s.underway[node]; op != nil && op.Object == p.request.Object {
			p.engine.operate.Expect(op, s.now.Add(s.needed[node]), whole)
		}
	}
}

// schedule is what of a graph is not in place, with the times that this takes.
type schedule struct {
	now time.Time
	// nodes are in the order of the graph, before is what each waits for.
	nodes    []*arm.Node
	before   map[*arm.Node][]*arm.Node
	underway map[*arm.Node]*operate.Operation
	// document is the resource whose document Azure writes for a node, one write at a time; "" is none.
	document map[*arm.Node]arm.ID
	// takes is how long the operation on a node hardly takes less than, left is for how long it is not in place at the least, and
	// needed for how long it does not have to be.
	takes, left, needed map[*arm.Node]time.Duration
}

func (p *pass) schedule() *schedule {
	s := &schedule{now: p.engine.clock.Now(), before: map[*arm.Node][]*arm.Node{}, underway: map[*arm.Node]*operate.Operation{}, document: map[*arm.Node]arm.ID{},
		takes: map[*arm.Node]time.Duration{}, left: map[*arm.Node]time.Duration{}, needed: map[*arm.Node]time.Duration{}}
	for _, node := range p.nodes {
		op, state := p.engine.operate.Find(node.ID.Key()), p.results[node.ID.Key()].State
		if op == nil && state != arm.Blocked && state != arm.Waiting {
			continue
		}
		s.nodes, s.before[node] = append(s.nodes, node), p.request.Graph.Dependencies(node)
		if row, err := types.ForID(node.ID); err == nil {
			s.document[node] = row.SerialKey(node.ID)
		}
		if op != nil {
			s.underway[node], s.takes[node] = op, p.engine.operate.Least(node.ID, op.State)
			s.left[node] = max(0, s.takes[node]-s.now.Sub(op.Started()))
			continue
		}
		s.takes[node] = p.engine.operate.Least(node.ID, arm.Creating)
		s.left[node] = s.takes[node] + s.latest(s.before[node], nil)
	}
	return s
}

// latest is the time until all nodes but one are in place, at the least.
func (s *schedule) latest(nodes []*arm.Node, but *arm.Node) (out time.Duration) {
	for _, node := range nodes {
		if node != but {
			out = max(out, s.left[node])
		}
	}
	return out
}

// untilNeeded is how long it takes at the least until a node has to be in place for anything to go on. What comes after is known.
func (s *schedule) untilNeeded(node *arm.Node) time.Duration {
	needed, last := operate.MostIdle, true
	for _, next := range s.nodes {
		after := slices.Contains(s.before[next], node)
		if s.underway[next] != nil || next == node || !after && (s.document[node] == "" || !s.document[node].Equal(s.document[next])) {
			continue
		}
		last = false
		start := s.latest(s.before[next], node)
		if after {
			// It may begin later, if nobody waits for it. Twice the least is what it often takes.
			start = max(start, s.needed[next]-2*s.takes[next])
		}
		needed = min(needed, start)
	}
	if !last {
		return needed
	}
	// All that is still to be done is to say that everything is in place. What takes much longer than the rest may not be waited for.
	needed = 0
	for _, other := range s.nodes {
		if other != node && s.left[other] <= operate.MostIdle {
			needed = max(needed, s.left[other])
		}
	}
	return needed
}
