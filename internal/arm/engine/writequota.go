package engine

import (
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// A thousand resources that wait for write quota would use up the read budget if each convergence read them. An absent resource that
// cannot be created yet is read again only when its turn has come.

// nodesAwaitingQuota returns, by ID key, the nodes that were absent at the last read and cannot be created before they or their
// dependencies have write quota. The value is the resource that needs the quota first. A request with BypassCache reads every node.
func (c *convergence) nodesAwaitingQuota() map[string]arm.ID {
	if c.request.BypassCache {
		return nil
	}
	out := map[string]arm.ID{}
	for _, node := range c.nodes {
		key := node.ID.Key()
		if !c.engine.states.get(key).presence.absent {
			continue
		}
		if c.engine.awaitsWriteQuota(c.request.Client, node.ID, node.Body) {
			out[key] = node.ID
		}
		for _, dependency := range c.request.Graph.Dependencies(node) {
			if first, awaiting := out[dependency.ID.Key()]; awaiting && out[key] == "" {
				out[key] = first
			}
		}
		c.engine.states.update(key, func(state *resourceState) { state.presence.quotaHolder = out[key] })
	}
	return out
}

// awaitsWriteQuota reports whether a resource waits for write quota of its own.
func (e *Engine) awaitsWriteQuota(c *client.Client, id arm.ID, body any) bool {
	key := id.Key()
	wait, delayed := e.states.get(key).retry.quotaDelay(e.clock.Now())
	if !delayed || wait > 0 {
		return delayed
	}
	err := c.ReserveWrite(http.MethodPut, id, body)
	if err != nil {
		e.states.update(key, func(state *resourceState) { state.retry.postpone(err, e.clock.Now(), e.options.Jitter()) })
	}
	return err != nil
}

// isAwaitingWriteQuota reports whether a resource was absent at its last convergence and still waits for the write quota that it waited
// for then.
func (e *Engine) isAwaitingWriteQuota(c *client.Client, id arm.ID) bool {
	first := e.states.get(id.Key()).presence.awaitedQuota()
	return first != "" && e.awaitsWriteQuota(c, first, nil)
}

// assumeAbsent takes a node as absent without a read. It is read before its creation.
func (c *convergence) assumeAbsent(id arm.ID) {
	found := c.engine.cache.NewObservation(observe.Observed{ID: id}, false)
	found.FromList = true
	c.found[id.Key()] = found
}
