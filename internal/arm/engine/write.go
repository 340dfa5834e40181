package engine

import (
	"encoding/json"
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// deletionHash is the desired state of a resource to delete, as the key of its failures.
const deletionHash = "delete"

// newOperation returns the operation of a decision, with the bookkeeping for its end.
func (p *convergence) newOperation(w *task, d decision) *operate.Operation {
	e := p.engine
	op := &operate.Operation{Key: w.id.Key(), ID: w.id, SerialKey: w.row.SerialKey(w.id), Client: p.request.Client, State: d.state, Method: d.method,
		Object: p.request.Object, Context: e.operate.BackgroundContext(p.ctx)}
	op.AddWaiter(p.request.Object, p.notifyChange)
	change := finishedWrite{id: w.id, object: op.Object, method: d.method, state: d.state, drift: d.drift}
	hash, agreed := w.desiredHash, json.RawMessage(nil)
	if w.removing {
		hash = deletionHash
	} else {
		change.repairs = w.found.Exists && e.states.wasAligned(op.Key, hash)
		if w.node.Policy == arm.CreateOnly {
			agreed = visibleJSON(w.desired)
		}
	}
	var said []string
	op.OnAnswer = func(body json.RawMessage) {
		if decoded, err := arm.DecodeBody(body); err == nil {
			said = formatDifferences(compare.Diff(w.desired, decoded))
		}
	}
	op.OnEnd = func(took time.Duration, err error) {
		switch {
		case err != nil:
			e.states.recordFailure(op.Key, hash, err)
			if arm.IsBudgetEmpty(err) {
				e.states.setAbsent(op.Key, d.state == arm.Creating)
			}
			return
		case w.removing:
			e.states.forgetResource(op.ID)
			e.states.retrySiblings(op.ID)
		case d.method == http.MethodPut:
			e.states.recordPut(op.Key, hash, said, formatDifferences(w.differences))
			if d.state == arm.Creating {
				e.states.recordCreation(op.Key)
			}
			if agreed != nil {
				e.states.recordAgreement(op.ID, agreed)
			}
		default:
			e.states.clearFailure(op.Key)
		}
		e.recordChange(change, took)
		if w.removing || len(w.origin.outside) > 0 {
			return
		}
		if e.states.clearDrift(op.Key) && e.options.Hooks.OnRepair != nil {
			e.options.Hooks.OnRepair(op.ID)
		}
	}
	return op
}

// newFollowedOperation returns an operation that another party began on a resource, or this provider before a restart.
func (p *convergence) newFollowedOperation(id arm.ID, state arm.State) *operate.Operation {
	e, object := p.engine, p.request.Object
	return &operate.Operation{Key: id.Key(), ID: id, Client: p.request.Client, State: state, Object: object, OnEnd: func(took time.Duration, err error) {
		// Only the end of a successful deletion gives information.
		if err == nil && state == arm.Deleting {
			e.states.forgetResource(id)
			e.recordChange(finishedWrite{id: id, object: object, state: state}, took)
		}
	}}
}

// startWrite sends the request of a decision in the background.
func (p *convergence) startWrite(w *task, d decision) error {
	e, op := p.engine, w.op
	var request func() (*client.Response, error)
	switch d.method {
	case http.MethodDelete:
		request = func() (*client.Response, error) {
			return op.Client.Delete(op.Context, w.id, w.row.APIVersion, w.row.DeleteQuery)
		}
	case http.MethodPut:
		raw, err := json.Marshal(compare.MergeBody(w.desired, w.body))
		if err != nil {
			return err
		}
		request = func() (*client.Response, error) {
			return op.Client.Put(op.Context, w.id, w.row.APIVersion, json.RawMessage(raw), d.etag)
		}
	default:
		request = func() (*client.Response, error) { return writeTags(op, w.desired, w.body) }
	}
	p.recordSent(w.id, d.method)
	e.log.Info(d.method, "resource", w.id, "object", p.request.Object, "differs", d.drift)
	go func() {
		defer p.recordAnswered()
		p.requestSlots <- struct{}{}
		defer func() { <-p.requestSlots }()
		if d.method != http.MethodPatch {
			if held := op.Client.ReserveWrite(d.method, w.id, w.desired.Body); held != nil {
				p.recordUnsent(w.id)
				e.operate.EndUnsent(op, held)
				return
			}
		}
		if d.confirmAbsence {
			if sure := e.reader.Get(op.Context, op.Client, w.id); sure.Err != nil || sure.Exists {
				if sure.Err != nil {
					// The list still does not show the resource. An immediate retry would repeat this without end.
					e.states.recordFailure(op.Key, w.desiredHash, sure.Err)
				}
				p.recordUnsent(w.id)
				e.operate.Abandon(op)
				return
			}
		}
		e.operate.Send(op, request)
	}()
	return nil
}

func (p *convergence) recordUnsent(id arm.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sentMethods, id.Key())
}

// writeTags merges and deletes tags without a write of the resource itself.
// https://learn.microsoft.com/en-us/rest/api/resources/tags/update-at-scope
func writeTags(op *operate.Operation, want compare.Desired, body any) (*client.Response, error) {
	merge, drop := compare.TagChanges(want, body)
	at := op.ID.Extension("Microsoft.Resources/tags", "default")
	patch := func(operation string, tags map[string]string) (*client.Response, error) {
		return op.Client.Patch(op.Context, at, types.TagsAPIVersion, map[string]any{"operation": operation, "properties": map[string]any{"tags": tags}})
	}
	var response *client.Response
	var err error
	if len(merge) > 0 {
		response, err = patch("Merge", merge)
	}
	if len(drop) > 0 && err == nil {
		gone := map[string]string{}
		for _, key := range drop {
			gone[key] = ""
		}
		response, err = patch("Delete", gone)
	}
	if response == nil && err == nil {
		response = &client.Response{Status: http.StatusOK}
	}
	return response, err
}
