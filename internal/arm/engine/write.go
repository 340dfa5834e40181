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

// goneHash is the desired state of a resource that is to go, for what is remembered of its failures.
const goneHash = "delete"

// operation is the one that a decision sends, and what the engine remembers when it has ended.
func (p *pass) operation(w *work, d decision) *operate.Operation {
	e := p.engine
	op := &operate.Operation{Key: w.id.Key(), ID: w.id, Serial: w.row.SerialKey(w.id), Client: p.request.Client, State: d.state, Verb: d.write,
		Object: p.request.Object, Context: e.operate.Background(p.ctx)}
	op.Await(p.request.Object, p.signal)
	change := written{id: w.id, object: op.Object, verb: d.write, state: d.state, drift: d.drift}
	hash, agreed := w.hash, json.RawMessage(nil)
	if w.remove {
		hash = goneHash
	} else {
		change.repairs = w.found.Exists && e.memory.inLine(op.Key, hash)
		if w.node.Policy == arm.CreateOnly {
			agreed = visible(w.want)
		}
	}
	var said []string
	op.Answered = func(body json.RawMessage) {
		if decoded, err := arm.DecodeBody(body); err == nil {
			said = prints(compare.Diff(w.want, decoded))
		}
	}
	op.Ended = func(took time.Duration, err error) {
		switch {
		case err != nil:
			e.memory.fail(op.Key, hash, err)
			if arm.IsBudgetEmpty(err) {
				e.memory.absence(op.Key, d.state == arm.Creating)
			}
			return
		case w.remove:
			e.memory.forget(op.ID)
			e.memory.retryBeside(op.ID)
		case d.write == http.MethodPut:
			e.memory.put(op.Key, hash, said, prints(w.differences))
			if d.state == arm.Creating {
				e.memory.make(op.Key)
			}
			if agreed != nil {
				e.memory.agree(op.ID, agreed)
			}
		default:
			e.memory.clear(op.Key)
		}
		e.tell(change, took)
		if w.remove || len(w.origin.outside) > 0 {
			return
		}
		if e.memory.mended(op.Key) && e.options.Hooks.Repaired != nil {
			e.options.Hooks.Repaired(op.ID)
		}
	}
	return op
}

// followed is an operation that somebody else began on a resource, or this provider before it was restarted.
func (p *pass) followed(id arm.ID, state arm.State) *operate.Operation {
	e, object := p.engine, p.request.Object
	return &operate.Operation{Key: id.Key(), ID: id, Client: p.request.Client, State: state, Object: object, Ended: func(took time.Duration, err error) {
		// Only deletions that come off end in a way that tells something.
		if err == nil && state == arm.Deleting {
			e.memory.forget(id)
			e.tell(written{id: id, object: object, state: state}, took)
		}
	}}
}

// write starts the request that a decision tells to send.
func (p *pass) write(w *work, d decision) error {
	e, op := p.engine, w.op
	var request func() (*client.Response, error)
	switch d.write {
	case http.MethodDelete:
		request = func() (*client.Response, error) {
			return op.Client.Delete(op.Context, w.id, w.row.APIVersion, w.row.DeleteQuery)
		}
	case http.MethodPut:
		raw, err := json.Marshal(compare.MergeBody(w.want, w.body))
		if err != nil {
			return err
		}
		request = func() (*client.Response, error) {
			return op.Client.Put(op.Context, w.id, w.row.APIVersion, json.RawMessage(raw), d.etag)
		}
	default:
		request = func() (*client.Response, error) { return writeTags(op, w.want, w.body) }
	}
	p.sent(w.id, d.write)
	e.log.Info(d.write, "resource", w.id, "object", p.request.Object, "differs", d.drift)
	go func() {
		defer p.answered()
		p.slots <- struct{}{}
		defer func() { <-p.slots }()
		if d.write != http.MethodPatch {
			if held := op.Client.Turn(d.write, w.id, w.want.Body); held != nil {
				p.unsent(w.id)
				e.operate.HoldBack(op, held)
				return
			}
		}
		if d.confirm {
			if sure := e.reader.Get(op.Context, op.Client, w.id); sure.Err != nil || sure.Exists {
				if sure.Err != nil {
					// The list still says that it is missing: what is asked for again at once is asked for without end.
					e.memory.fail(op.Key, w.hash, sure.Err)
				}
				p.unsent(w.id)
				e.operate.Abandon(op)
				return
			}
		}
		e.operate.Send(op, request)
	}()
	return nil
}

func (p *pass) unsent(id arm.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.wrote, id.Key())
}

// writeTags merges and deletes tags without touching the resource itself.
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
