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

// An operation is followed in two ways. Its own URL is polled at Azure's Retry-After and no sooner: only the URL returns the error. The
// resource is read once the operation can be over: Azure asks for 10 s between polls of operations that take 2 s, and dependants should
// not wait for that. The pacer chooses one of the two for each check.

// followAccepted follows an operation that Azure has accepted.
func (o *Operator) followAccepted(op *Operation, response *client.Response) {
	op.mu.Lock()
	op.url, op.statusInBody = response.AsyncOperation, response.AsyncOperation != ""
	if op.url == "" {
		op.url = response.Location
	}
	op.setNotBefore(o.options.Clock.Now(), response)
	op.mu.Unlock()
	o.scheduleCheck(op)
}

// FollowExisting follows an operation that Azure runs on a resource and that this process did not begin, as after a restart, and wakes
// the operation's object at the end. It ignores the operation's context and method.
func (o *Operator) FollowExisting(op *Operation, wake func()) {
	op.Method, op.Context = "", o.ctx
	op.AddWaiter(op.Object, wake)
	if holder := o.Begin(op, false); holder != nil {
		if !holder.AddWaiter(op.Object, wake) && wake != nil {
			wake()
		}
		return
	}
	o.scheduleCheck(op)
}

// setNotBefore records when Azure accepts the next poll. op.mu is held.
func (op *Operation) setNotBefore(now time.Time, response *client.Response) {
	retryAfter := response.RetryAfter
	if retryAfter <= 0 {
		retryAfter = defaultPollDelay
	}
	op.notBefore, op.exactDelay = now.Add(retryAfter), response.RetryAfterExact
}

// MaxShowDelay is how long after a request Azure may show the state before it: a new resource is absent, or a deleted one unchanged.
// Regions of Resource Manager show a new resource group at different times: hashicorp/terraform-provider-azurerm#18268 and #25758.
const MaxShowDelay = 30 * time.Second

// isShownByNow reports whether Azure has had the time to show the effect of an operation's request.
func (o *Operator) isShownByNow(op *Operation) bool {
	return o.options.Clock.Now().Sub(op.started) > MaxShowDelay
}

// scheduleCheck sets the timer of the next check of an operation.
func (o *Operator) scheduleCheck(op *Operation) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended || o.ctx.Err() != nil {
		return
	}
	now, readBudgetLeft := o.options.Clock.Now(), op.currentClient().ReadBudgetLeft(op.ID.Subscription())
	delay, ask := o.pacer.nextCheck(progress{
		key: durationKey(op), elapsed: now.Sub(op.started), hasURL: op.url != "", notBefore: max(0, op.notBefore.Sub(now)),
		idleFor: max(0, op.idleUntil.Sub(now)), minRemaining: op.minRemaining, exactDelay: op.exactDelay,
		resourceUnhelpful: op.Action || readBudgetLeft <= 0.2, startUnknown: op.Method == "", notShown: op.notShown,
		readBudgetLeft: readBudgetLeft,
	})
	if op.endsUnseen() {
		delay = max(0, op.notBefore.Sub(now))
	}
	op.stop = o.options.Clock.AfterFunc(delay, func() { o.checkProgress(op, ask) })
}

// endsUnseen reports whether Azure does not show the end of an operation: neither a URL nor the resource does. It counts as ended when
// Azure would accept the next poll, because its object reads the resource then and may repeat the action. op.mu is held.
func (op *Operation) endsUnseen() bool { return op.Action && op.url == "" }

// MaxIdle bounds how much longer than usual an operation may run unchecked while no dependant waits for it.
const MaxIdle = 10 * time.Second

// SetIdleUntil records until when the end of an operation can wait without a delay for others, and how long the remaining work takes at
// least.
func (o *Operator) SetIdleUntil(op *Operation, idle time.Time, minRemaining time.Duration) {
	op.mu.Lock()
	now := o.options.Clock.Now()
	if latest := op.started.Add(o.pacer.minDuration(durationKey(op)) + MaxIdle); idle.After(latest) {
		idle = latest
	}
	before := op.idleUntil
	op.idleUntil, op.minRemaining = idle, minRemaining
	reschedule := (idle.After(now) || before.After(now)) && !idle.Equal(before) && op.stop != nil && op.stop()
	op.mu.Unlock()
	if reschedule {
		o.scheduleCheck(op)
	}
}

// ReplaceClient has an operation followed with another client of the same object, if no request of its own client can succeed: the
// credential that began it has expired, and the object has another one now.
func (o *Operator) ReplaceClient(op *Operation, with *client.Client) {
	now := o.options.Clock.Now()
	if err := op.StatusError(now); err == nil || !observe.AffectsEveryRequest(err) || op.currentClient().CacheScope() == with.CacheScope() {
		return
	}
	op.replacement.Store(with)
	op.mu.Lock()
	op.notBefore = now
	reschedule := op.stop != nil && op.stop()
	op.mu.Unlock()
	if reschedule {
		o.scheduleCheck(op)
	}
}

// MinDuration returns a lower bound of the duration of operations on resources of this type.
func (o *Operator) MinDuration(id arm.ID, state arm.State) time.Duration {
	return o.pacer.minDuration(durationKey(&Operation{ID: id, State: state}))
}

// checkProgress checks the progress of an operation: by its own URL, or by the resource.
func (o *Operator) checkProgress(op *Operation, ask bool) {
	if o.ctx.Err() != nil {
		return
	}
	op.mu.Lock()
	ended, unseen, hasURL := op.ended, op.endsUnseen(), op.url != ""
	op.mu.Unlock()
	if ended {
		return
	}
	o.logLong(op)
	if unseen {
		o.completeOperation(op, nil, nil)
		return
	}
	if !ask && !op.Action {
		found := o.options.Reader.Read(op.Context, op.currentClient(), []arm.ID{op.ID},
			maxReadAge(o.options.Clock.Now().Sub(op.started), op.State, op.currentClient().ReadBudgetLeft(op.ID.Subscription())),
			observe.ReadOptions{})[op.ID.Key()]
		done, failed := o.endIfOver(op, found, hasURL)
		if done {
			return
		}
		op.mu.Lock()
		op.notShown = !found.Exists && op.State != arm.Deleting
		op.mu.Unlock()
		ask = failed
	}
	if ask && hasURL && o.pollURL(op) {
		return
	}
	o.scheduleCheck(op)
}

// maxReadAge returns the maximum age of a cached read of a resource to check its operation, from the operation's age.
func maxReadAge(elapsed time.Duration, state arm.State, readBudgetLeft float64) time.Duration {
	switch {
	case readBudgetLeft < client.ScarceReadBudget:
		// Many other operations are checked as often, and each check would need a request.
		return min(elapsed/10, 5*time.Second)
	case state == arm.Deleting:
		return min(elapsed/10, time.Second) // Few wait for a deletion, and others may have read.
	}
	return min(elapsed/40, time.Second)
}

// endIfOver ends the operation if the resource shows its end. failed means that the operation's URL has the reason.
func (o *Operator) endIfOver(op *Operation, found observe.Observation, hasURL bool) (done, failed bool) {
	op.recordCheck(o.options.Clock.Now(), found.Err)
	if found.Err != nil || !found.WasRead() {
		return o.abandonUnneeded(op), false
	}
	inProgress, broken := found.Head().State()
	switch {
	case op.State == arm.Deleting && !found.Exists:
		o.completeOperation(op, nil, nil)
	case !found.Exists && (op.Method == "" || !hasURL && o.isShownByNow(op)):
		// The resource is gone, and there is no URL that has the reason.
		o.Abandon(op)
	case !found.Exists:
		return false, false
	case op.State == arm.Deleting && inProgress == "" && op.Method == "":
		// The deletion by another party did not succeed.
		o.Abandon(op)
	case op.State == arm.Deleting && (inProgress != "" || hasURL || !o.isShownByNow(op)):
		return false, broken
	case op.State == arm.Deleting && !broken:
		o.completeOperation(op, nil, &arm.Error{Method: op.Method, ID: op.ID, Status: http.StatusOK, Code: CodeDeletionIneffective,
			Message: "Azure accepted the deletion and shows the resource again, without a reason", RequestID: op.requestID})
	case inProgress != "":
		return false, false
	case op.Method == "":
		o.Abandon(op)
	case broken && hasURL:
		return false, true
	case broken: // There is no URL with a reason.
		o.completeOperation(op, nil, &arm.Error{Method: op.Method, ID: op.ID, Status: http.StatusOK, Code: CodeProvisioningFailed,
			Message: "Azure shows the resource in the state Failed and gives no reason", RequestID: op.requestID})
	default:
		o.pacer.recordDuration(durationKey(op), o.options.Clock.Now().Sub(op.started))
		o.completeOperation(op, &found, nil)
	}
	return true, false
}

// pollURL polls the operation's URL, and ends the operation if it is over.
func (o *Operator) pollURL(op *Operation) (done bool) {
	op.mu.Lock()
	target, statusInBody := op.url, op.statusInBody
	op.mu.Unlock()
	response, err := op.currentClient().PollURL(op.Context, op.ID, target)
	op.recordCheck(o.options.Clock.Now(), err)
	if err != nil {
		return o.handlePollError(op, err) || o.abandonUnneeded(op)
	}
	status := operationStatus(statusInBody, response)
	switch status {
	case "succeeded", "completed":
		var found *observe.Observation
		if op.Method == http.MethodPut && !op.Action {
			o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.ExtentResource})
			read := o.options.Reader.Get(op.Context, op.currentClient(), op.ID)
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
	case "":
		if op.Action && o.endWithoutStatus(op, response) {
			return true
		}
	}
	op.mu.Lock()
	op.setNotBefore(o.options.Clock.Now(), response)
	if status != "" {
		op.statusless = 0
	}
	if !statusInBody && response.Location != "" {
		op.url = response.Location
	}
	op.mu.Unlock()
	return false
}

// maxStatusless is the number of answers in a row without a status, at a URL that should have one, after which an action counts as failed.
const maxStatusless = 3

// endWithoutStatus handles an answer without a status at the URL of an action. No resource shows the end of an action, so it would be
// polled for ever. The client of Azure's SDK fails at the first such answer.
func (o *Operator) endWithoutStatus(op *Operation, response *client.Response) (done bool) {
	switch response.Status {
	case http.StatusAccepted:
		return false
	case http.StatusNoContent:
		o.completeOperation(op, nil, nil)
		return true
	}
	op.mu.Lock()
	op.statusless++
	count := op.statusless
	op.mu.Unlock()
	if count < maxStatusless {
		return false
	}
	o.completeOperation(op, nil, &arm.Error{Method: op.Method, ID: op.ID, Status: response.Status, Code: client.CodeInvalidAnswer,
		Message: "the answers at the URL of the operation have no status, so its end is not known", RequestID: op.requestID})
	return true
}

// recordCheck records whether a check returned the status of the operation.
func (op *Operation) recordCheck(now time.Time, err error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.statusErr == nil {
		op.statusErrSince = now
	}
	op.statusErr = err
}

// statusErrThreshold is how long checks may fail before the failure is reported.
const statusErrThreshold = time.Minute

// StatusError returns the error of the checks, nil if one of the last minute succeeded.
func (op *Operation) StatusError(now time.Time) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	if now.Sub(op.statusErrSince) < statusErrThreshold {
		return nil
	}
	return op.statusErr
}

// abandonUnneeded abandons an operation if its last waiting object was deleted and its checks fail, except for an empty budget. The credential
// of a deleted object is usually not renewed, so that such checks would fail for ever. The operator follows all other operations to their end.
func (o *Operator) abandonUnneeded(op *Operation) bool {
	err := op.StatusError(o.options.Clock.Now())
	op.mu.Lock()
	unneeded := op.unneeded
	op.mu.Unlock()
	if !unneeded || err == nil || arm.IsBudgetEmpty(err) {
		return false
	}
	o.logger(op).Info("Stopped following an operation: its object is gone, and its state cannot be read", "resource", op.ID,
		"method", op.Method, "error", err.Error())
	o.Abandon(op)
	return true
}

// handlePollError handles an error answer at an operation's URL. Location URLs answer with the operation's own error.
func (o *Operator) handlePollError(op *Operation, err error) (done bool) {
	var answer *arm.Error
	if errors.As(err, &answer) && answer.Code == client.CodeForeignURL {
		o.logger(op).Info("Ignored the URL of an operation", "resource", op.ID, "method", op.Method, "error", answer.Error())
		if op.Action {
			o.completeOperation(op, nil, answer)
			return true
		}
		op.mu.Lock()
		op.url = "" // From now on the resource itself is read.
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
		// Azure has forgotten the operation: from now on the resource itself is read.
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

// operationStatus returns the status of an operation in lower case: from the body at an Azure-AsyncOperation URL, from the HTTP status
// at a Location. Any status but the final ones means that the operation continues.
func operationStatus(statusInBody bool, response *client.Response) string {
	if statusInBody {
		var body struct {
			Status string `json:"status"`
		}
		// A body of another shape has no status.
		_ = json.Unmarshal(response.Body, &body)
		return strings.ToLower(body.Status)
	}
	if response.Status == http.StatusAccepted {
		return "inprogress"
	}
	return "succeeded"
}
