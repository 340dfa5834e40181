package engine

import (
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// setPollingDeadlines sets for each running operation how long its end can wait without delaying the rest of the graph. Operations on
// the critical path are polled closely, operations with slack rarely: a successor of a route table also waits for the NAT gateway,
// which takes longer.
func (c *convergence) setPollingDeadlines() {
	s := c.newSchedule()
	total := s.maxRemaining(s.nodes, nil)
	for _, node := range slices.Backward(s.nodes) {
		s.slack[node] = s.slackOf(node)
		if op := s.running[node]; op != nil && op.Object == c.request.Object {
			c.engine.operate.SetIdleUntil(op, s.now.Add(s.slack[node]), total)
		}
	}
}

// schedule is a critical-path estimate of the unfinished nodes of a graph. All durations are lower bounds.
type schedule struct {
	now time.Time
	// nodes are in the order of the graph. predecessors are the nodes that each one waits for.
	nodes        []*arm.Node
	predecessors map[*arm.Node][]*arm.Node
	running      map[*arm.Node]*operate.Operation
	// lockedBy is the parent resource whose document Azure writes for a node, one write at a time; "" if there is none.
	lockedBy map[*arm.Node]arm.ID
	// minDuration is the duration of the whole operation, minRemaining the time until the node is done, including its predecessors.
	// slack is how long the end of the node can be delayed.
	minDuration, minRemaining, slack map[*arm.Node]time.Duration
}

func (c *convergence) newSchedule() *schedule {
	s := &schedule{now: c.engine.clock.Now(), predecessors: map[*arm.Node][]*arm.Node{}, running: map[*arm.Node]*operate.Operation{},
		lockedBy:    map[*arm.Node]arm.ID{},
		minDuration: map[*arm.Node]time.Duration{}, minRemaining: map[*arm.Node]time.Duration{}, slack: map[*arm.Node]time.Duration{}}
	for _, node := range c.nodes {
		op, state := c.engine.operate.FindOperation(node.ID.Key()), c.results[node.ID.Key()].State
		if op == nil && state != arm.Blocked && state != arm.Waiting {
			continue
		}
		s.nodes, s.predecessors[node] = append(s.nodes, node), c.request.Graph.Dependencies(node)
		if row, err := types.ForID(node.ID); err == nil {
			s.lockedBy[node] = row.SerialKey(node.ID)
		}
		if op != nil {
			s.running[node], s.minDuration[node] = op, c.engine.operate.MinDuration(node.ID, op.State)
			s.minRemaining[node] = max(0, s.minDuration[node]-s.now.Sub(op.StartTime()))
			continue
		}
		s.minDuration[node] = c.engine.operate.MinDuration(node.ID, arm.Creating)
		s.minRemaining[node] = s.minDuration[node] + s.maxRemaining(s.predecessors[node], nil)
	}
	return s
}

// maxRemaining returns the earliest time until all nodes are done. It ignores the node except.
func (s *schedule) maxRemaining(nodes []*arm.Node, except *arm.Node) (out time.Duration) {
	for _, node := range nodes {
		if node != except {
			out = max(out, s.minRemaining[node])
		}
	}
	return out
}

// slackOf returns how long the end of node can be delayed without delaying a successor. The slack of the successors has to be known.
func (s *schedule) slackOf(node *arm.Node) time.Duration {
	needed, isLast := operate.MaxIdle, true
	for _, next := range s.nodes {
		after := slices.Contains(s.predecessors[next], node)
		if s.running[next] != nil || next == node || !after && (s.lockedBy[node] == "" || !s.lockedBy[node].Equal(s.lockedBy[next])) {
			continue
		}
		isLast = false
		start := s.maxRemaining(s.predecessors[next], node)
		if after {
			// A successor with slack may start later. Operations often take twice their lower bound.
			start = max(start, s.slack[next]-2*s.minDuration[next])
		}
		needed = min(needed, start)
	}
	if !isLast {
		return needed
	}
	// No successor is left, so only the report that everything is done waits. Nodes that take much longer than the others do not count.
	needed = 0
	for _, other := range s.nodes {
		if other != node && s.minRemaining[other] <= operate.MaxIdle {
			needed = max(needed, s.minRemaining[other])
		}
	}
	return needed
}
