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

// Action is an imperative request that no PUT expresses, for example the deletion of instances of a scale set.
type Action struct {
	// Object names the Kubernetes object that needs the action, as in Request. Each object is woken and gets the result once.
	Object string
	// Method is POST, DELETE, PUT or PATCH.
	Method string
	// ID is the resource of the action. SubPath follows it in the URL, as in "deallocate".
	ID      arm.ID
	SubPath string
	// Part distinguishes actions with the same method and sub-path that may run at the same time, for example by their instances.
	Part string
	// APIVersion is the api-version of SubPath if another provider serves it, "" for that of the resource.
	APIVersion string
	// Query holds parameters besides api-version; nil means none.
	Query url.Values
	// Body is marshalled to JSON; nil means no body.
	Body any
	// RetryNow sends the action again after a failure before its retry is due.
	RetryNow bool
}

// RunAction sends an action, unless the same action is running already, and follows its operation. It returns arm.Updating or
// arm.Deleting until the operation has ended; wake is called then. The next call of each waiting object returns arm.Ready (arm.Gone for
// a DELETE of the resource itself), or arm.Failed or arm.Waiting with the error. A call after that sends the action again. After a failure
// it returns the same error until arm.ReadRetryDelay has passed, unless the body has changed: the end of a refused action wakes the object
// at once.
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
	hash := bodyHash(action.Body)
	retry := e.states.get(key).retry
	if wait, err := retry.failureOf(hash, e.clock.Now()); wait > 0 && !action.RetryNow {
		result.State, result.Err = failureState(err, retry.failingFor(e.clock.Now())), err
		return result
	}
	op := &operate.Operation{Key: key, ID: action.ID, Client: c, State: result.State, Method: action.Method, Object: action.Object,
		Action:  true,
		Context: e.operate.BackgroundContext(ctx)}
	op.OnEnd = func(_ time.Duration, err error) {
		if removal && err == nil {
			e.states.forgetResource(op.ID)
		}
		waiting := op.WaitingObjects()
		e.states.update(key, func(state *resourceState) {
			state.retry.recordAction(hash, err, e.clock.Now())
			state.actions = newActionResults(waiting, err)
		})
	}
	op.AddWaiter(action.Object, wake)
	if holder := e.operate.Begin(op, false); holder != nil {
		if holder.Object == action.Object {
			e.operate.ReplaceClient(holder, c)
		}
		if !holder.AddWaiter(action.Object, wake) && wake != nil {
			wake()
		}
		return result
	}
	op.LogValues = []any{"action", action.SubPath}
	e.logger(ctx, action.Object).V(sentLevel).Info("Sending request to Azure", "resource", action.ID, "method", action.Method, "action", action.SubPath)
	result.SentMethod = action.Method
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		e.operate.Send(op, func() (*client.Response, error) {
			return c.Do(op.Context, client.Request{Method: action.Method, ID: action.ID, SubPath: action.SubPath,
				APIVersion: cmp.Or(action.APIVersion, row.APIVersion),
				Query:      action.Query, Body: action.Body})
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

// takeActionResult returns the result of an action that has ended, once per object. ok is false if there is none.
func (e *Engine) takeActionResult(key, object string, removal bool, result arm.Result) (arm.Result, bool) {
	var err error
	var failingFor time.Duration
	ok := false
	e.states.update(key, func(state *resourceState) {
		err, ok = state.actions.take(object)
		failingFor = state.retry.failingFor(e.clock.Now())
	})
	switch {
	case err != nil && !(removal && arm.Classify(err) == arm.ClassNotFound):
		result.State, result.Err = failureState(err, failingFor), err
	case removal:
		result.State = arm.Gone
	default:
		result.State = arm.Ready
	}
	return result, ok
}
