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

// watch follows an operation that Azure has accepted.
func (o *Operator) watch(op *Operation, response *client.Response) {
	op.mu.Lock()
	op.url, op.async = response.AsyncOperation, response.AsyncOperation != ""
	if op.url == "" {
		op.url = response.Location
	}
	op.wait(o.options.Clock.Now(), response.RetryAfter)
	op.mu.Unlock()
	o.schedule(op)
}

// Follow watches a resource that Azure is working on for an operation that is not known here, as after a restart, and wakes
// the operation's object when that is over. The operation's context and verb are not looked at.
func (o *Operator) Follow(op *Operation, wake func()) {
	op.Verb, op.Context = "", o.ctx
	if holder := o.Begin(op, false); holder != nil {
		holder.Await(op.Object, wake)
		return
	}
	op.Await(op.Object, wake)
	o.schedule(op)
}

// wait notes when Azure wants to be asked again. op.mu is held.
func (op *Operation) wait(now time.Time, retryAfter time.Duration) {
	if retryAfter <= 0 {
		retryAfter = courtesy
	}
	op.notBefore, op.swift = now.Add(retryAfter), retryAfter < time.Second
}

// showsWithin is how long after its request a resource that is being made may still not be shown.
const showsWithin = 30 * time.Second

// schedule sets the next look at an operation.
func (o *Operator) schedule(op *Operation) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended || o.ctx.Err() != nil {
		return
	}
	now, spare := o.options.Clock.Now(), op.Client.Spare(op.ID.Subscription())
	delay, ask := o.pace.next(progress{
		key: paceKey(op), elapsed: now.Sub(op.started), linked: op.url != "", notBefore: max(0, op.notBefore.Sub(now)), idle: max(0, op.idle.Sub(now)), rest: op.rest, swift: op.swift,
		blind: op.Action || spare <= 0.2, joined: op.Verb == "", unseen: op.unseen, spare: spare,
	})
	op.stop = o.options.Clock.AfterFunc(delay, func() { o.check(op, ask) })
}

// MostIdle is how much longer than usual an operation may go on before somebody looks, though nobody can go on with its end.
const MostIdle = 10 * time.Second

// Expect notes until when nobody can go on with the end of an operation, and how long all that goes on with it takes at the least.
func (o *Operator) Expect(op *Operation, idle time.Time, rest time.Duration) {
	op.mu.Lock()
	now := o.options.Clock.Now()
	if most := op.started.Add(o.pace.least(paceKey(op)) + MostIdle); idle.After(most) {
		idle = most
	}
	before := op.idle
	op.idle, op.rest = idle, rest
	again := (idle.After(now) || before.After(now)) && !idle.Equal(before) && op.stop != nil && op.stop()
	op.mu.Unlock()
	if again {
		o.schedule(op)
	}
}

// Least is how long operations hardly take less than on resources of this type.
func (o *Operator) Least(id arm.ID, state arm.State) time.Duration {
	return o.pace.least(paceKey(&Operation{ID: id, State: state}))
}

// check looks how an operation is doing: by its own URL, or by the resource.
func (o *Operator) check(op *Operation, ask bool) {
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
		found := o.options.Reader.Read(op.Context, op.Client, []arm.ID{op.ID}, oldest(o.options.Clock.Now().Sub(op.started), op.State, op.Client.Spare(op.ID.Subscription())))[op.ID.Key()]
		done, failed := o.judge(op, found, linked)
		if done {
			return
		}
		op.mu.Lock()
		op.unseen = !found.Exists && op.State != arm.Deleting
		op.mu.Unlock()
		ask = failed
	}
	if ask && linked && o.poll(op) {
		return
	}
	o.schedule(op)
}

// oldest is how old what others have seen of a resource may be to serve for its operation, which has taken so long.
func oldest(elapsed time.Duration, state arm.State, spare float64) time.Duration {
	switch {
	case spare < client.Scarce:
		// Many more look as often as this one, which would need a request each.
		return min(elapsed/10, 5*time.Second)
	case state == arm.Deleting:
		return min(elapsed/10, time.Second) // Nobody waits for it, and others may have looked.
	}
	return min(elapsed/40, time.Second)
}

// judge ends the operation when the resource shows that it is over. failed tells that the operation's URL should be
// asked why.
func (o *Operator) judge(op *Operation, found observe.Observation, linked bool) (done, failed bool) {
	op.looked(o.options.Clock.Now(), found.Err)
	if found.Err != nil || !found.Seen() {
		return false, false
	}
	doing, broken := observe.Provisioning(found.Body)
	switch {
	case op.State == arm.Deleting && !found.Exists:
		o.over(op, nil, nil)
	case !found.Exists && (op.Verb == "" || !linked && o.options.Clock.Now().Sub(op.started) > showsWithin):
		// What was being made is gone, and there is no URL that would tell why.
		o.Abandon(op)
	case !found.Exists:
		return false, false
	case op.State == arm.Deleting && doing == "" && op.Verb == "":
		// The deletion that somebody started has not come off.
		o.Abandon(op)
	case op.State == arm.Deleting:
		return false, broken
	case doing != "":
		return false, false
	case op.Verb == "":
		o.Abandon(op)
	case broken && linked:
		return false, true
	case broken:
		o.over(op, nil, &arm.Error{Method: op.Verb, ID: op.ID, Status: http.StatusOK, Code: CodeProvisioningFailed,
			Message: "Azure shows the resource in the state Failed and gives no reason", RequestID: op.requestID})
	default:
		o.pace.record(paceKey(op), o.options.Clock.Now().Sub(op.started))
		o.over(op, &found, nil)
	}
	return true, false
}

// poll asks the operation's URL, and ends the operation when it is over.
func (o *Operator) poll(op *Operation) (done bool) {
	op.mu.Lock()
	target, async := op.url, op.async
	op.mu.Unlock()
	response, err := op.Client.PollURL(op.Context, op.ID, target)
	op.looked(o.options.Clock.Now(), err)
	if err != nil {
		return o.pollFailed(op, err)
	}
	switch status := operationStatus(async, response); status {
	case "succeeded", "completed":
		var found *observe.Observation
		if op.Verb == http.MethodPut && !op.Action {
			o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.Resource})
			read := o.options.Reader.Get(op.Context, op.Client, op.ID)
			if read.Err == nil && read.Exists {
				found = &read
			}
		}
		o.pace.record(paceKey(op), o.options.Clock.Now().Sub(op.started))
		o.over(op, found, nil)
		return true
	case "failed", "canceled", "cancelled":
		failure := client.ParseError(response.Body)
		failure.Method, failure.ID, failure.Status, failure.RequestID = op.Verb, op.ID, http.StatusOK, op.requestID
		if failure.Code == "" {
			failure.Code = CodeProvisioningFailed
			failure.Message = "the operation ended as " + status + " and Azure gives no reason"
		}
		o.over(op, nil, failure)
		return true
	}
	op.mu.Lock()
	op.wait(o.options.Clock.Now(), response.RetryAfter)
	if !async && response.Location != "" {
		op.url = response.Location
	}
	op.mu.Unlock()
	return false
}

// looked notes whether a look could tell how the operation is going.
func (op *Operation) looked(now time.Time, err error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.trouble == nil {
		op.troubled = now
	}
	op.trouble = err
}

// noticeable is for how long no look tells anything until that is worth a word.
const noticeable = time.Minute

// Trouble is why nobody knows how the operation is going, nil while somebody does.
func (op *Operation) Trouble(now time.Time) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	if now.Sub(op.troubled) < noticeable {
		return nil
	}
	return op.trouble
}

// pollFailed deals with an error answer at an operation's URL. Location URLs answer with the operation's own error.
func (o *Operator) pollFailed(op *Operation, err error) (done bool) {
	var answer *arm.Error
	if errors.As(err, &answer) && answer.Code == client.CodeForeignURL {
		o.options.Log.Info("the URL of an operation is not asked", "resource", op.ID, "object", op.Object, "verb", op.Verb, "error", answer.Error())
		if op.Action {
			o.over(op, nil, answer)
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
			answer.Method = op.Verb
			o.over(op, nil, answer)
			return true
		}
		// Azure has forgotten the operation: the resource itself has to tell.
		op.mu.Lock()
		op.url = ""
		op.mu.Unlock()
		if op.Action {
			o.over(op, nil, nil)
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
