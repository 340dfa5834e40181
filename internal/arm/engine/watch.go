package engine

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// An operation is followed in two ways. Its own URL is asked at Azure's Retry-After and no sooner: it alone knows the
// error. The resource is read more often, in proportion to how long the operation takes: Azure asks for 10 s between
// polls of operations that take 2 s, and what depends on them should not wait for that.

// watch follows an operation that Azure has accepted.
func (e *Engine) watch(op *operation, response *client.Response) {
	op.mu.Lock()
	op.url, op.async = response.AsyncOperation, response.AsyncOperation != ""
	if op.url == "" {
		op.url = response.Location
	}
	op.notBefore = e.clock.Now().Add(orDefault(response.RetryAfter))
	op.mu.Unlock()
	e.schedule(op)
}

// follow watches a resource that Azure is working on for an operation that is not known here, as after a restart.
func (e *Engine) follow(c *client.Client, id arm.ID, state arm.State, object string, wake func()) {
	op := &operation{key: id.Key(), id: id, client: c, state: state, object: object, started: e.clock.Now(), ctx: e.ctx}
	if holder := e.registry.begin(op, false); holder != nil {
		holder.await(object, wake)
		return
	}
	op.waiters.add(object, wake)
	e.schedule(op)
}

func orDefault(retryAfter time.Duration) time.Duration {
	if retryAfter > 0 {
		return retryAfter
	}
	return 10 * time.Second
}

// schedule sets the next look at an operation.
func (e *Engine) schedule(op *operation) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended || e.ctx.Err() != nil {
		return
	}
	now := e.clock.Now()
	delay := e.pace.next(paceKey(op), now.Sub(op.started), op.client.Spare(op.id.Subscription()))
	if op.action {
		delay = max(delay, op.notBefore.Sub(now))
	}
	op.stop = e.clock.AfterFunc(delay, func() { e.check(op) })
}

// check looks how an operation is doing.
func (e *Engine) check(op *operation) {
	if e.ctx.Err() != nil {
		return
	}
	op.mu.Lock()
	ended, linked, due := op.ended, op.url != "", !e.clock.Now().Before(op.notBefore)
	op.mu.Unlock()
	if ended {
		return
	}
	failed := false
	if !op.action && (!linked || op.client.Spare(op.id.Subscription()) > 0.2) {
		age := e.clock.Now().Sub(op.started) / 40
		found := e.observe(op.ctx, op.client, []arm.ID{op.id}, min(age, time.Second))[op.id.Key()]
		var done bool
		if done, failed = e.judge(op, found, linked); done {
			return
		}
	}
	if linked && (due || failed) && e.poll(op) {
		return
	}
	e.schedule(op)
}

// judge ends the operation when the resource shows that it is over. failed tells that the operation's URL should be
// asked why.
func (e *Engine) judge(op *operation, found observation, linked bool) (done, failed bool) {
	if found.Err != nil || found.ID == "" {
		return false, false
	}
	doing, broken := provisioning(headOf(found.Body).Properties.ProvisioningState)
	switch {
	case op.state == arm.Deleting && !found.Exists:
		e.end(op, nil, nil)
	case !found.Exists && (op.verb == "" || !linked && e.clock.Now().Sub(op.started) > judgeWithin):
		// What was being made is gone, and there is no URL that would tell why.
		e.abandon(op)
	case !found.Exists:
		return false, false
	case op.state == arm.Deleting && doing == "" && op.verb == "":
		// The deletion that somebody started has not come off.
		e.abandon(op)
	case op.state == arm.Deleting:
		return false, broken
	case doing != "":
		return false, false
	case op.verb == "":
		e.abandon(op)
	case broken && linked:
		return false, true
	case broken:
		e.end(op, nil, &arm.Error{Method: op.verb, ID: op.id, Status: http.StatusOK, Code: CodeProvisioningFailed,
			Message: "Azure shows the resource in the state Failed and gives no reason", RequestID: op.requestID})
	default:
		e.pace.record(paceKey(op), e.clock.Now().Sub(op.started))
		e.end(op, &found, nil)
	}
	return true, false
}

// poll asks the operation's URL, and ends the operation when it is over.
func (e *Engine) poll(op *operation) (done bool) {
	op.mu.Lock()
	target, async := op.url, op.async
	op.mu.Unlock()
	response, err := op.client.PollURL(op.ctx, op.id, target)
	if err != nil {
		return e.pollFailed(op, err)
	}
	switch status := operationStatus(async, response); status {
	case "succeeded", "completed":
		var found *observation
		if op.verb == http.MethodPut && !op.action {
			e.cache.wrote(op.id, false)
			read := e.get(op.ctx, op.client, op.id)
			if read.Err == nil && read.Exists {
				found = &read
			}
		}
		e.pace.record(paceKey(op), e.clock.Now().Sub(op.started))
		e.end(op, found, nil)
		return true
	case "failed", "canceled", "cancelled":
		failure := client.ParseError(response.Body)
		failure.Method, failure.ID, failure.Status, failure.RequestID = op.verb, op.id, http.StatusOK, op.requestID
		if failure.Code == "" {
			failure.Code = CodeProvisioningFailed
			failure.Message = "the operation ended as " + status + " and Azure gives no reason"
		}
		e.end(op, nil, failure)
		return true
	}
	op.mu.Lock()
	op.notBefore = e.clock.Now().Add(orDefault(response.RetryAfter))
	if !async && response.Location != "" {
		op.url = response.Location
	}
	op.mu.Unlock()
	return false
}

// pollFailed deals with an error answer at an operation's URL. Location URLs answer with the operation's own error.
func (e *Engine) pollFailed(op *operation, err error) (done bool) {
	var answer *arm.Error
	if errors.As(err, &answer) && answer.Status >= 400 && answer.Status < 500 &&
		!slices.Contains([]int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests}, answer.Status) {
		if answer.Status != http.StatusNotFound {
			answer.Method = op.verb
			e.end(op, nil, answer)
			return true
		}
		// Azure has forgotten the operation: the resource itself has to tell.
		op.mu.Lock()
		op.url = ""
		op.mu.Unlock()
		if op.action {
			e.end(op, nil, nil)
			return true
		}
		return false
	}
	wait := 5 * time.Second
	if answer != nil && answer.RetryAfter > 0 {
		wait = answer.RetryAfter
	}
	op.mu.Lock()
	op.notBefore = e.clock.Now().Add(wait)
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

// pace decides how often to look at an operation, and learns how long operations take.
type pace struct {
	mu     sync.Mutex
	recent map[string][]time.Duration
}

func newPace() *pace { return &pace{recent: map[string][]time.Duration{}} }

func paceKey(op *operation) string { return strings.ToLower(op.id.Type()) + " " + string(op.state) }

// next is the time until the next look at an operation that has taken elapsed so far. It grows with the operation, so
// that the time lost is about a thirtieth of it. Once it is known how long such operations take, it skips the time in
// which none of the last ones ended and looks more closely after that.
func (p *pace) next(key string, elapsed time.Duration, spare float64) time.Duration {
	p.mu.Lock()
	recent := p.recent[key]
	p.mu.Unlock()
	part, skip := time.Duration(16), time.Duration(0)
	if len(recent) >= 3 {
		part, skip = 32, slices.Min(recent)*8/10-elapsed
	}
	delay := min(max(elapsed/part, 100*time.Millisecond), max(4*time.Second, elapsed/120))
	if spare < 0.5 {
		delay *= 3
	}
	return max(delay, skip)
}

// record notes how long an operation took.
func (p *pace) record(key string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recent := append(slices.Clone(p.recent[key]), took)
	p.recent[key] = recent[max(0, len(recent)-8):]
}
