package engine

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// deletionHash is the desired state of a resource to delete, as the key of its failures.
const deletionHash = "delete"

// newOperation returns the operation of a decision, with the bookkeeping for its end.
func (c *convergence) newOperation(t *task, d decision) *operate.Operation {
	e := c.engine
	op := &operate.Operation{Key: t.id.Key(), ID: t.id, SerialKey: t.row.SerialKey(t.id), Client: c.request.Client, State: d.state,
		Method: d.method,
		Object: c.request.Object, Context: e.operate.BackgroundContext(c.ctx)}
	op.AddWaiter(c.request.Object, c.notifyChange)
	change := finishedWrite{id: t.id, object: op.Object, method: d.method, state: d.state, drift: d.drift}
	hash, agreed := t.desiredHash, json.RawMessage(nil)
	if t.removing {
		hash = deletionHash
	} else {
		change.repairs = t.found.Exists && e.states.get(op.Key).alignment.hash == hash
		if t.node.Policy == arm.CreateOnly {
			agreed = visibleJSON(t.desired)
		}
	}
	var inAnswer []string
	op.OnAnswer = func(body json.RawMessage) {
		if decoded, err := arm.DecodeBody(body); err == nil {
			// The operation that the answer accepts may end the states.
			inAnswer = formatDifferences(slices.DeleteFunc(compare.Diff(t.desired, decoded), isRenewed))
		}
	}
	op.OnEnd = func(took time.Duration, err error) {
		if d.state == arm.Creating {
			e.states.update(op.Key, func(state *resourceState) { state.presence.recordCreation(err, e.clock.Now()) })
		}
		switch {
		case err != nil:
			e.recordFailure(op.Key, hash, err)
			if t.node != nil && t.node.OtherHalf != "" {
				// The error may be due to the state of the other half, which changes without a write.
				e.cache.Invalidate(observe.Change{ID: t.node.OtherHalf, Extent: observe.ExtentResource})
			}
			if arm.IsBudgetEmpty(err) {
				e.states.update(op.Key, func(state *resourceState) { state.presence.setAbsent(d.state == arm.Creating) })
			}
			return
		case t.removing:
			e.states.forgetResource(op.ID)
			e.states.retrySiblings(op.ID)
		case d.method == http.MethodPut:
			e.states.update(op.Key, func(state *resourceState) {
				now := e.clock.Now()
				state.recordPut(hash, inAnswer, formatDifferences(t.differences), now)
				state.presence.createdHere = state.presence.createdHere || d.state == arm.Creating
				if agreed != nil {
					state.agreement = newAgreement(&e.states.compressor, op.ID.Type(), agreed)
					state.agreement.at = now
				}
			})
		default:
			e.clearFailure(op.Key)
		}
		if d.state == arm.Updating && d.method == http.MethodPut && t.node.OtherHalf == "" {
			c.invalidateHalves(t.node)
		}
		op.LogValues = logValues(e.recordChange(change, took))
		if t.removing || len(t.origin.outside) > 0 {
			return
		}
		repaired, again := false, false
		e.states.update(op.Key, func(state *resourceState) {
			repaired, again = state.alignment.recordRepair(e.clock.Now(), e.options.RepeatPeriod)
		})
		if repaired && e.options.Hooks.OnRepair != nil {
			e.options.Hooks.OnRepair(op.ID, again)
		}
	}
	return op
}

// invalidateHalves discards reads of the halves of connections that depend on a resource. An update of the resource may change their states:
// peerings do not follow new address ranges of their networks.
func (c *convergence) invalidateHalves(of *arm.Node) {
	for _, node := range c.request.Graph.Nodes() {
		if node.OtherHalf != "" && slices.Contains(c.request.Graph.Dependencies(node), of) {
			c.engine.cache.Invalidate(observe.Change{ID: node.ID, Extent: observe.ExtentResource})
		}
	}
}

// newFollowedOperation returns an operation that another party began on a resource, or this provider before a restart.
func (c *convergence) newFollowedOperation(id arm.ID, state arm.State) *operate.Operation {
	e, object := c.engine, c.request.Object
	return &operate.Operation{Key: id.Key(), ID: id, Client: c.request.Client, State: state, Object: object,
		OnEnd: func(took time.Duration, err error) {
			// Only the end of a successful deletion gives information.
			if err == nil && state == arm.Deleting {
				e.states.forgetResource(id)
				e.recordChange(finishedWrite{id: id, object: object, state: state}, took)
			}
		}}
}

// startWrite sends the request of a decision in the background.
func (c *convergence) startWrite(t *task, d decision) error {
	e, op := c.engine, t.op
	written := compare.KeepValues(t.desired, t.body, t.kept)
	var request func() (*client.Response, error)
	switch d.method {
	case http.MethodDelete:
		request = func() (*client.Response, error) {
			return op.Client.Delete(op.Context, t.id, t.row.APIVersion, t.row.DeleteQuery)
		}
	case http.MethodPut:
		raw, err := json.Marshal(compare.MergeBody(written, t.body))
		if err != nil {
			return err
		}
		request = func() (*client.Response, error) {
			return op.Client.Do(op.Context, client.Request{Method: http.MethodPut, ID: t.id, APIVersion: t.row.APIVersion,
				Query: t.row.PutQuery, Body: json.RawMessage(raw), IfMatch: d.etag})
		}
	default:
		request = func() (*client.Response, error) { return writeTags(op, written, t.body) }
	}
	merge, drop := compare.TagChanges(written, t.body)
	isTwoRequests := d.method == http.MethodPatch && len(merge) > 0 && len(drop) > 0
	c.recordSent(t.id, d.method)
	e.states.update(op.Key, func(state *resourceState) { state.write.recordSent() })
	e.logger(c.ctx, c.request.Object).V(sentLevel).Info("Sending request to Azure", "resource", t.id, "method", d.method, "paths", d.drift)
	go func() {
		defer c.recordAnswered()
		c.requestSlots <- struct{}{}
		defer func() { <-c.requestSlots }()
		if d.method != http.MethodPatch {
			if budgetErr := op.Client.ReserveWrite(d.method, t.id, t.desired.Body); budgetErr != nil {
				c.recordUnsent(t.id)
				e.operate.EndUnsent(op, budgetErr)
				return
			}
		}
		if d.confirmAbsence {
			if confirmed := e.reader.Get(op.Context, op.Client, t.id); confirmed.Err != nil || confirmed.Exists {
				if confirmed.Err != nil {
					// The list still does not show the resource. An immediate retry would repeat this without end.
					e.recordFailure(op.Key, t.desiredHash, confirmed.Err)
				}
				c.recordUnsent(t.id)
				e.operate.Abandon(op)
				return
			}
		}
		e.operate.Send(op, func() (*client.Response, error) {
			response, err := request()
			e.states.update(op.Key, func(state *resourceState) { state.write.recordAnswer(err, isTwoRequests) })
			return response, err
		})
	}()
	return nil
}

func (c *convergence) recordUnsent(id arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sentMethods, id.Key())
	c.engine.states.update(id.Key(), func(state *resourceState) { state.write.recordUnsent() })
}

// writeTags merges and deletes tags without a write of the resource itself.
// https://learn.microsoft.com/en-us/rest/api/resources/tags/update-at-scope
func writeTags(op *operate.Operation, want compare.Desired, body any) (*client.Response, error) {
	merge, drop := compare.TagChanges(want, body)
	tagsID := op.ID.Extension("Microsoft.Resources/tags", "default")
	patch := func(operation string, tags map[string]string) (*client.Response, error) {
		return op.Client.Patch(op.Context, tagsID, types.TagsAPIVersion,
			map[string]any{"operation": operation, "properties": map[string]any{"tags": tags}})
	}
	var response *client.Response
	var err error
	if len(merge) > 0 {
		response, err = patch("Merge", merge)
	}
	if len(drop) > 0 && err == nil {
		values := map[string]string{}
		for _, key := range drop {
			values[key] = ""
		}
		response, err = patch("Delete", values)
	}
	if response == nil && err == nil {
		response = &client.Response{Status: http.StatusOK}
	}
	return response, err
}
