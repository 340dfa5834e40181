package engine

import (
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// A thousand resources that wait for their turn at a budget of writes would use up that of reads if each pass asked for them: what is
// not there, and cannot be made yet, is asked for once more when it is its turn.

// heldBack are the nodes that were not there at the last look and cannot be made before there is a token for them, or for what they
// need, by ID key. A fresh pass asks for everything.
func (p *pass) heldBack() map[string]bool {
	if p.request.Fresh {
		return nil
	}
	out := map[string]bool{}
	for _, node := range p.nodes {
		key := node.ID.Key()
		if !p.engine.memory.absent(key) {
			continue
		}
		out[key] = p.awaitsTurn(node)
		for _, dependency := range p.request.Graph.Dependencies(node) {
			out[key] = out[key] || out[dependency.ID.Key()]
		}
	}
	return out
}

// awaitsTurn tells whether a node waits for its own turn.
func (p *pass) awaitsTurn(node *arm.Node) bool {
	key := node.ID.Key()
	wait, held := p.engine.memory.heldBack(key)
	if !held || wait > 0 {
		return held
	}
	err := p.request.Client.Turn(http.MethodPut, node.ID, node.Body)
	if err != nil {
		p.engine.memory.postpone(key, err)
	}
	return err != nil
}

// asBefore takes a node for as absent as it was. It is asked for before anything is made of that.
func (p *pass) asBefore(id arm.ID) {
	found := p.engine.cache.At(observe.Observed{ID: id}, false)
	found.FromList = true
	p.found[id.Key()] = found
}
