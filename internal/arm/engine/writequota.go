package engine

import (
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// A thousand resources that wait for their turn at a budget of writes would use up that of reads if each pass asked for them: what is
// not there, and cannot be made yet, is asked for once more when it is its turn.

// nodesAwaitingQuota are the nodes that were not there at the last look and cannot be made before there is a token for them, or for what they
// need, by ID key, with the resource whose turn has to come. A fresh pass asks for everything.
func (p *convergence) nodesAwaitingQuota() map[string]arm.ID {
	if p.request.BypassCache {
		return nil
	}
	out := map[string]arm.ID{}
	for _, node := range p.nodes {
		key := node.ID.Key()
		if !p.engine.states.wasAbsent(key) {
			continue
		}
		if p.engine.awaitsWriteQuota(p.request.Client, node.ID, node.Body) {
			out[key] = node.ID
		}
		for _, dependency := range p.request.Graph.Dependencies(node) {
			if first, held := out[dependency.ID.Key()]; held && out[key] == "" {
				out[key] = first
			}
		}
		p.engine.states.setQuotaHolder(key, out[key])
	}
	return out
}

// awaitsWriteQuota tells whether a resource waits for its own turn.
func (e *Engine) awaitsWriteQuota(c *client.Client, id arm.ID, body any) bool {
	key := id.Key()
	wait, delayed := e.states.quotaDelay(key)
	if !delayed || wait > 0 {
		return delayed
	}
	err := c.ReserveWrite(http.MethodPut, id, body)
	if err != nil {
		e.states.postponeRetry(key, err)
	}
	return err != nil
}

// isAwaitingWriteQuota tells whether a resource was not there at the last look of who makes it, and still waits for the turn that it waited for then.
func (e *Engine) isAwaitingWriteQuota(c *client.Client, id arm.ID) bool {
	first := e.states.quotaHolder(id.Key())
	return first != "" && e.awaitsWriteQuota(c, first, nil)
}

// assumeAbsent takes a node for as absent as it was. It is asked for before anything is made of that.
func (p *convergence) assumeAbsent(id arm.ID) {
	found := p.engine.cache.NewObservation(observe.Observed{ID: id}, false)
	found.FromList = true
	p.found[id.Key()] = found
}
