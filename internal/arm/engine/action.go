package engine

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Action is imperative work that no PUT expresses, as in deleting instances of a scale set.
type Action struct {
	// Object names the Kubernetes object that asks for it, as in Request: each is woken and told once.
	Object string
	// Method is POST, DELETE, PUT or PATCH.
	Method string
	// ID is the resource acted on, and SubPath what follows it in the URL, as in "deallocate".
	ID      arm.ID
	SubPath string
	// Part tells apart actions of one method and sub-path that may be under way at a time, as by the instances they are for.
	Part string
	// APIVersion is that of SubPath where another provider serves it, "" for that of the resource.
	APIVersion string
	// Query holds parameters beside api-version; nil for none.
	Query url.Values
	// Body is marshalled to JSON; nil for none.
	Body any
}

// RunAction sends an action unless the same one is under way, and follows its operation. Until it has ended the result is
// arm.Updating or arm.Deleting, and wake is called when it ends. One call for each object that waited then returns arm.Ready
// (arm.Gone for a DELETE of the resource itself), or arm.Failed or arm.Waiting with the error; a call after that sends the
// action again.
func (e *Engine) RunAction(ctx context.Context, c *client.Client, action Action, wake func()) arm.Result {
	result := arm.Result{ID: action.ID, State: arm.Updating}
	row, err := types.ForID(action.ID)
	if err != nil {
		result.State, result.Err = arm.Failed, err
		return result
	}
	removal := action.Method == http.MethodDelete && action.SubPath == ""
	if removal {
		result.State = arm.Deleting
	}
	key := action.ID.Key() + actionSuffix + action.Method + "|" + strings.ToLower(action.SubPath) + "|" + action.Part
	if ended, ok := e.takeActionResult(key, action.Object, removal, result); ok {
		return ended
	}
	op := &operate.Operation{Key: key, ID: action.ID, Client: c, State: result.State, Method: action.Method, Object: action.Object, Action: true,
		Context: e.operate.BackgroundContext(ctx)}
	op.OnEnd = func(_ time.Duration, err error) {
		if removal && err == nil {
			e.states.forgetResource(op.ID)
		}
		e.states.storeActionResult(key, op.WaitingObjects(), err)
	}
	op.AddWaiter(action.Object, wake)
	if holder := e.operate.Begin(op, false); holder != nil {
		if !holder.AddWaiter(action.Object, wake) && wake != nil {
			wake()
		}
		return result
	}
	e.log.Info(action.Method, "resource", action.ID, "action", action.SubPath)
	result.SentMethod = action.Method
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		e.operate.Send(op, func() (*client.Response, error) {
			return c.Do(op.Context, client.Request{Method: action.Method, ID: action.ID, SubPath: action.SubPath, APIVersion: cmp.Or(action.APIVersion, row.APIVersion),
				Query: action.Query, Body: action.Body})
		})
	}()
	expired := make(chan struct{})
	stop := e.clock.AfterFunc(e.options.AnswerWait, func() { close(expired) })
	defer stop()
	select {
	case <-answered:
		if ended, ok := e.takeActionResult(key, action.Object, removal, result); ok {
			return ended
		}
	case <-expired:
	case <-ctx.Done():
	}
	return result
}

// takeActionResult is the result of an action that has ended and was not asked for yet.
func (e *Engine) takeActionResult(key, object string, removal bool, result arm.Result) (arm.Result, bool) {
	err, ok := e.states.takeActionResult(key, object)
	switch {
	case err != nil && !(removal && arm.Classify(err) == arm.ClassNotFound):
		result.State, result.Err = failureState(err), err
	case removal:
		result.State = arm.Gone
	default:
		result.State = arm.Ready
	}
	return result, ok
}
