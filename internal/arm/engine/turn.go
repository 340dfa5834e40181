package engine

import (
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// A thousand resources that wait for their turn at a budget of writes would use up that of reads if each pass asked for them: what is
// not there, and cannot be made yet, is asked for once more when it is its turn.

// heldBack are the nodes that were not there at the last look and cannot be made before there is a token for them, or for what they
// need, by ID key, with the resource whose turn has to come. A fresh pass asks for everything.
func (p *pass) heldBack() map[string]arm.ID {
	if p.request.Fresh {
		return nil
	}
	out := map[string]arm.ID{}
	for _, node := range p.nodes {
		key := node.ID.Key()
		if !p.engine.memory.absent(key) {
			continue
		}
		if p.engine.awaitsTurn(p.request.Client, node.ID, node.Body) {
			out[key] = node.ID
		}
		for _, dependency := range p.request.Graph.Dependencies(node) {
			if first, held := out[dependency.ID.Key()]; held && out[key] == "" {
				out[key] = first
			}
		}
		p.engine.memory.waitFor(key, out[key])
	}
	return out
}

// awaitsTurn tells whether a resource waits for its own turn.
func (e *Engine) awaitsTurn(c *client.Client, id arm.ID, body any) bool {
	key := id.Key()
	wait, held := e.memory.heldBack(key)
	if !held || wait > 0 {
		return held
	}
	err := c.Turn(http.MethodPut, id, body)
	if err != nil {
		e.memory.postpone(key, err)
	}
	return err != nil
}

// waits tells whether a resource was not there at the last look of who makes it, and still waits for the turn that it waited for then.
func (e *Engine) waits(c *client.Client, id arm.ID) bool {
	first := e.memory.waitsFor(id.Key())
	return first != "" && e.awaitsTurn(c, first, nil)
}

// asBefore takes a node for as absent as it was. It is asked for before anything is made of that.
func (p *pass) asBefore(id arm.ID) {
	found := p.engine.cache.At(observe.Observed{ID: id}, false)
	found.FromList = true
	p.found[id.Key()] = found
}
