package operate

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// An operation is followed in two ways. Its own URL is asked at Azure's Retry-After and no sooner: it alone knows the
// error. The resource is read once the operation can be over: Azure asks for 10 s between polls of operations that take 2 s, and
// what depends on them should not wait for that. Only one of the two is asked at a time, when pace tells.

// followAccepted follows an operation that Azure has accepted.
func (o *Operator) followAccepted(op *Operation, response *client.Response) {
	op.mu.Lock()
	op.url, op.statusInBody = response.AsyncOperation, response.AsyncOperation != ""
	if op.url == "" {
		op.url = response.Location
	}
	op.setNotBefore(o.options.Clock.Now(), response.RetryAfter)
	op.mu.Unlock()
	o.scheduleCheck(op)
}

// FollowExisting watches a resource that Azure is working on for an operation that is not known here, as after a restart, and wakes
// the operation's object when that is over. The operation's context and verb are not looked at.
func (o *Operator) FollowExisting(op *Operation, wake func()) {
	op.Method, op.Context = "", o.ctx
	if holder := o.Begin(op, false); holder != nil {
		holder.AddWaiter(op.Object, wake)
		return
	}
	op.AddWaiter(op.Object, wake)
	o.scheduleCheck(op)
}

// setNotBefore notes when Azure wants to be asked again. op.mu is held.
func (op *Operation) setNotBefore(now time.Time, retryAfter time.Duration) {
	if retryAfter <= 0 {
		retryAfter = defaultPollDelay
	}
	op.notBefore, op.shortPolling = now.Add(retryAfter), retryAfter < time.Second
}

// maxShowDelay is how long after its request a resource that is being made may still not be shown.
const maxShowDelay = 30 * time.Second

// scheduleCheck sets the next look at an operation.
func (o *Operator) scheduleCheck(op *Operation) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended || o.ctx.Err() != nil {
		return
	}
	now, spare := o.options.Clock.Now(), op.Client.ReadBudgetLeft(op.ID.Subscription())
	delay, ask := o.pacer.nextCheck(progress{
		key: durationKey(op), elapsed: now.Sub(op.started), hasURL: op.url != "", notBefore: max(0, op.notBefore.Sub(now)), idleFor: max(0, op.idleUntil.Sub(now)), minRemaining: op.minRemaining, shortPolling: op.shortPolling,
		resourceUnhelpful: op.Action || spare <= 0.2, startUnknown: op.Method == "", notShown: op.notShown, readBudgetLeft: spare,
	})
	op.stop = o.options.Clock.AfterFunc(delay, func() { o.checkProgress(op, ask) })
}

// MaxIdle is how much longer than usual an operation may go on before somebody looks, though nobody can go on with its end.
const MaxIdle = 10 * time.Second

// SetIdleUntil notes until when nobody can go on with the end of an operation, and how long all that goes on with it takes at the least.
func (o *Operator) SetIdleUntil(op *Operation, idle time.Time, rest time.Duration) {
	op.mu.Lock()
	now := o.options.Clock.Now()
	if most := op.started.Add(o.pacer.minDuration(durationKey(op)) + MaxIdle); idle.After(most) {
		idle = most
	}
	before := op.idleUntil
	op.idleUntil, op.minRemaining = idle, rest
	again := (idle.After(now) || before.After(now)) && !idle.Equal(before) && op.stop != nil && op.stop()
	op.mu.Unlock()
	if again {
		o.scheduleCheck(op)
	}
}

// MinDuration is how long operations hardly take less than on resources of this type.
func (o *Operator) MinDuration(id arm.ID, state arm.State) time.Duration {
	return o.pacer.minDuration(durationKey(&Operation{ID: id, State: state}))
}

// checkProgress looks how an operation is doing: by its own URL, or by the resource.
func (o *Operator) checkProgress(op *Operation, ask bool) {
	if o.ctx.Err() != nil {
		return
	}
	op.mu.Lock()
	ended, linked := op.ended, op.url != ""
	op.mu.Unlock()
	if ended {
		return
	}
	if !ask && !op.Action {
		found := o.options.Reader.Read(op.Context, op.Client, []arm.ID{op.ID}, maxReadAge(o.options.Clock.Now().Sub(op.started), op.State, op.Client.ReadBudgetLeft(op.ID.Subscription())))[op.ID.Key()]
		done, failed := o.endIfOver(op, found, linked)
		if done {
			return
		}
		op.mu.Lock()
		op.notShown = !found.Exists && op.State != arm.Deleting
		op.mu.Unlock()
		ask = failed
	}
	if ask && linked && o.pollURL(op) {
		return
	}
	o.scheduleCheck(op)
}

// maxReadAge is how old what others have seen of a resource may be to serve for its operation, which has taken so long.
func maxReadAge(elapsed time.Duration, state arm.State, spare float64) time.Duration {
	switch {
	case spare < client.ScarceReadBudget:
		// Many more look as often as this one, which would need a request each.
		return min(elapsed/10, 5*time.Second)
	case state == arm.Deleting:
		return min(elapsed/10, time.Second) // Nobody waits for it, and others may have looked.
	}
	return min(elapsed/40, time.Second)
}

// endIfOver ends the operation when the resource shows that it is over. failed tells that the operation's URL should be
// asked why.
func (o *Operator) endIfOver(op *Operation, found observe.Observation, linked bool) (done, failed bool) {
	op.recordCheck(o.options.Clock.Now(), found.Err)
	if found.Err != nil || !found.WasRead() {
		return false, false
	}
	doing, broken := observe.ProvisioningState(found.Body)
	switch {
	case op.State == arm.Deleting && !found.Exists:
		o.completeOperation(op, nil, nil)
	case !found.Exists && (op.Method == "" || !linked && o.options.Clock.Now().Sub(op.started) > maxShowDelay):
		// What was being made is gone, and there is no URL that would tell why.
		o.Abandon(op)
	case !found.Exists:
		return false, false
	case op.State == arm.Deleting && doing == "" && op.Method == "":
		// The deletion that somebody started has not come off.
		o.Abandon(op)
	case op.State == arm.Deleting:
		return false, broken
	case doing != "":
		return false, false
	case op.Method == "":
		o.Abandon(op)
	case broken && linked:
		return false, true
	case broken:
		o.completeOperation(op, nil, &arm.Error{Method: op.Method, ID: op.ID, Status: http.StatusOK, Code: CodeProvisioningFailed,
			Message: "Azure shows the resource in the state Failed and gives no reason", RequestID: op.requestID})
	default:
		o.pacer.recordDuration(durationKey(op), o.options.Clock.Now().Sub(op.started))
		o.completeOperation(op, &found, nil)
	}
	return true, false
}

// pollURL asks the operation's URL, and ends the operation when it is over.
func (o *Operator) pollURL(op *Operation) (done bool) {
	op.mu.Lock()
	target, async := op.url, op.statusInBody
	op.mu.Unlock()
	response, err := op.Client.PollURL(op.Context, op.ID, target)
	op.recordCheck(o.options.Clock.Now(), err)
	if err != nil {
		return o.handlePollError(op, err)
	}
	switch status := operationStatus(async, response); status {
	case "succeeded", "completed":
		var found *observe.Observation
		if op.Method == http.MethodPut && !op.Action {
			o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.ExtentResource})
			read := o.options.Reader.Get(op.Context, op.Client, op.ID)
			if read.Err == nil && read.Exists {
				found = &read
			}
		}
		o.pacer.recordDuration(durationKey(op), o.options.Clock.Now().Sub(op.started))
		o.completeOperation(op, found, nil)
		return true
	case "failed", "canceled", "cancelled":
		failure := client.ParseError(response.Body)
		failure.Method, failure.ID, failure.Status, failure.RequestID = op.Method, op.ID, http.StatusOK, op.requestID
		if failure.Code == "" {
			failure.Code = CodeProvisioningFailed
			failure.Message = "the operation ended as " + status + " and Azure gives no reason"
		}
		o.completeOperation(op, nil, failure)
		return true
	}
	op.mu.Lock()
	op.setNotBefore(o.options.Clock.Now(), response.RetryAfter)
	if !async && response.Location != "" {
		op.url = response.Location
	}
	op.mu.Unlock()
	return false
}

// recordCheck notes whether a look could tell how the operation is going.
func (op *Operation) recordCheck(now time.Time, err error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.statusErr == nil {
		op.statusErrSince = now
	}
	op.statusErr = err
}

// statusErrThreshold is for how long no look tells anything until that is worth a word.
const statusErrThreshold = time.Minute

// StatusError is why nobody knows how the operation is going, nil while somebody does.
func (op *Operation) StatusError(now time.Time) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	if now.Sub(op.statusErrSince) < statusErrThreshold {
		return nil
	}
	return op.statusErr
}

// handlePollError deals with an error answer at an operation's URL. Location URLs answer with the operation's own error.
func (o *Operator) handlePollError(op *Operation, err error) (done bool) {
	var answer *arm.Error
	if errors.As(err, &answer) && answer.Code == client.CodeForeignURL {
		o.options.Log.Info("the URL of an operation is not asked", "resource", op.ID, "object", op.Object, "verb", op.Method, "error", answer.Error())
		if op.Action {
			o.completeOperation(op, nil, answer)
			return true
		}
		op.mu.Lock()
		op.url = "" // The resource itself has to tell.
		op.mu.Unlock()
		return false
	}
	if errors.As(err, &answer) && answer.Status >= 400 && answer.Status < 500 &&
		!slices.Contains([]int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests}, answer.Status) {
		if answer.Status != http.StatusNotFound {
			answer.Method = op.Method
			o.completeOperation(op, nil, answer)
			return true
		}
		// Azure has forgotten the operation: the resource itself has to tell.
		op.mu.Lock()
		op.url = ""
		op.mu.Unlock()
		if op.Action {
			o.completeOperation(op, nil, nil)
			return true
		}
		return false
	}
	wait := 5 * time.Second
	if answer != nil && answer.RetryAfter > 0 {
		wait = answer.RetryAfter
	}
	op.mu.Lock()
	op.notBefore = o.options.Clock.Now().Add(wait)
	op.mu.Unlock()
	return false
}

// operationStatus reads how an operation is doing, in lower case: from the body at an Azure-AsyncOperation URL, from the
// HTTP status at a Location. Any word but the final ones means that it goes on.
func operationStatus(async bool, response *client.Response) string {
	if async {
		var body struct {
			Status string `json:"status"`
		}
		// A body of another shape has no status, and the operation is asked again.
		_ = json.Unmarshal(response.Body, &body)
		return strings.ToLower(body.Status)
	}
	if response.Status == http.StatusAccepted {
		return "inprogress"
	}
	return "succeeded"
}
