package arm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Graph is a set of nodes with their order. The zero value is empty and ready to use.
type Graph struct {
	nodes []*Node
	index map[string]*Node
	errs  []error
	// decoded holds the bodies of a sealed graph that were decoded already.
	decoded map[*Node]decodedBody
}

// Add adds nodes to the graph. A second node with the same ID is an error that Validate returns.
func (g *Graph) Add(nodes ...Node) {
	if g.index == nil {
		g.index = map[string]*Node{}
	}
	for _, node := range nodes {
		if _, ok := g.index[node.ID.Key()]; ok {
			g.errs = append(g.errs, fmt.Errorf("%s is in the plan twice", node.ID))
			continue
		}
		g.index[node.ID.Key()] = &node
		g.nodes = append(g.nodes, &node)
	}
}

// Node returns the node with this ID, or nil.
func (g *Graph) Node(id ID) *Node { return g.index[id.Key()] }

// Has reports whether the graph has a node with this ID.
func (g *Graph) Has(id ID) bool { return g.Node(id) != nil }

// Nodes returns all nodes in the order of their addition.
func (g *Graph) Nodes() []*Node { return g.nodes }

// Dependencies returns the nodes that node waits for: its After list and the nearest ancestor resource in the graph.
func (g *Graph) Dependencies(node *Node) []*Node {
	var out []*Node
	for parent := node.ID.Parent(); parent != ""; parent = parent.Parent() {
		if ancestor := g.Node(parent); ancestor != nil {
			out = append(out, ancestor)
			break
		}
	}
	for _, id := range node.After {
		if dependency := g.Node(id); dependency != nil && !slices.Contains(out, dependency) {
			out = append(out, dependency)
		}
	}
	return out
}

// TopologicalOrder returns the nodes, each after all its dependencies; otherwise they keep the order of their addition. It returns an
// error that names the nodes of a cycle.
func (g *Graph) TopologicalOrder() ([]*Node, error) {
	const visiting, done = 1, 2
	state := make(map[*Node]int, len(g.nodes))
	out := make([]*Node, 0, len(g.nodes))
	var path []string
	var visit func(*Node) error
	visit = func(node *Node) error {
		switch state[node] {
		case done:
			return nil
		case visiting:
			return fmt.Errorf("cycle in the plan: %s -> %s", strings.Join(path, " -> "), node.ID)
		}
		state[node] = visiting
		path = append(path, string(node.ID))
		for _, dependency := range g.Dependencies(node) {
			if err := visit(dependency); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[node] = done
		out = append(out, node)
		return nil
	}
	for _, node := range g.nodes {
		if err := visit(node); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Validate checks the rules for every plan: no duplicate node, no cycle, no edge to a missing node, and no body that names another
// node's ID without an edge to it.
func (g *Graph) Validate() error {
	errs := slices.Clone(g.errs)
	if _, err := g.TopologicalOrder(); err != nil {
		errs = append(errs, err)
	}
	for _, node := range g.nodes {
		for _, id := range node.After {
			if !g.Has(id) {
				errs = append(errs, fmt.Errorf("%s comes after %s, which is not in the plan", node.ID, id))
			}
		}
		errs = append(errs, g.undeclaredReferences(node)...)
	}
	return errors.Join(errs...)
}

// inSubscription is the prefix of most IDs.
const inSubscription = "/subscriptions/"

// undeclaredReferences returns an error for each ID of another node, or of a resource below one, that the body of node names without an
// edge to it. Ancestors of the node and its own parts need no edge.
func (g *Graph) undeclaredReferences(node *Node) []error {
	if node.Body == nil {
		return nil
	}
	body, err := g.DecodedBody(node)
	if err != nil {
		return []error{fmt.Errorf("%s: body: %w", node.ID, err)}
	}
	after := map[string]bool{} // the dependencies of the node and their ancestors
	for _, id := range node.After {
		for ; id != "" && !after[id.Key()]; id = id.Parent() {
			after[id.Key()] = true
		}
	}
	var errs []error
	jsonpath.WalkTexts(body, func(s string) {
		if len(s) < len(inSubscription) || len(s) > maxIDLength || !strings.EqualFold(s[:len(inSubscription)], inSubscription) {
			return
		}
		reference := ID(s)
		if reference.IsWithin(node.ID) || node.ID.IsWithin(reference) {
			return
		}
		target := g.closestNode(reference)
		if target == nil || node.ID.IsWithin(target.ID) {
			return
		}
		if after[target.ID.Key()] {
			return
		}
		errs = append(errs, fmt.Errorf("%s mentions %s without coming after it", node.ID, target.ID))
	})
	return errs
}

// closestNode returns the node with this ID, or of its closest ancestor in the graph.
func (g *Graph) closestNode(id ID) *Node {
	for ; id != "" && id.Type() != ResourceGroupType; id = id.Parent() {
		if node := g.Node(id); node != nil {
			return node
		}
	}
	return nil
}
