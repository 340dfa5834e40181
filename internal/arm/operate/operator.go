package operate

import (
	"context"
	"net/http"
	"time"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// CodeProvisioningFailed means that a resource is in the state Failed and Azure's reason is not known.
const CodeProvisioningFailed = "ProvisioningFailed"

// Clock is what following needs of a clock.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine once d has passed; stop prevents it if it has not been called yet.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Options configure an Operator.
type Options struct {
	// Clock is the source of time.
	Clock Clock
	// Log receives one line per operation that ended.
	Log logr.Logger
	// Reader reads the resources that are followed; its cache is told what may have changed.
	Reader *observe.Reader
	// Ended is told of every operation that Azure has done, and its error, before those who wait are woken; nil is nobody. It
	// must be quick.
	Ended func(op *Operation, took time.Duration, err error)
}

// Operator sends writes and actions, one per resource at a time, and follows them to their end. It is safe for concurrent use.
type Operator struct {
	*registry
	options Options
	cache   *observe.Cache
	pace    *pace

	// ctx ends background requests when the operator stops.
	ctx  context.Context
	stop context.CancelFunc
}

// New makes an operator.
func New(options Options) *Operator {
	o := &Operator{registry: newRegistry(), options: options, cache: options.Reader.Cache, pace: newPace()}
	o.ctx, o.stop = context.WithCancel(context.Background())
	return o
}

// Stop ends all following, and requests with a Background context; operations that are under way in Azure go on.
func (o *Operator) Stop() { o.stop() }

// Background is a context for requests that outlive who sends them, with the values of ctx but for what reads it was for.
func (o *Operator) Background(ctx context.Context) context.Context {
	return detached{Context: o.ctx, values: observe.Alone(ctx)}
}

type detached struct {
	context.Context
	values context.Context
}

func (d detached) Value(key any) any { return d.values.Value(key) }

// Begin enters an operation, before anything is sent for it. When its resource or its serial key is taken, it returns the
// operation that has it instead. A deletion replaces another operation on the same resource when replace is set.
func (o *Operator) Begin(op *Operation, replace bool) (holder *Operation) {
	op.started = o.options.Clock.Now()
	return o.begin(op, replace)
}

// Release ends an operation that was begun and for which nothing was sent.
func (o *Operator) Release(op *Operation) {
	op.finish()
	o.end(op)
}

// Send does the request of an operation that was begun, and follows what Azure makes of it.
func (o *Operator) Send(op *Operation, request func() (*client.Response, error)) {
	if op.Verb == http.MethodPut && op.State == arm.Creating {
		// Until Azure answers, it is as absent as it was when its creation was decided: to ask would tell no more.
		o.cache.Keep(op.Client.Scope(), o.cache.At(observe.Observed{ID: op.ID}, false))
	} else {
		o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.Resource})
	}
	response, err := request()
	if arm.IsBudgetEmpty(err) && op.Verb != http.MethodPatch { // Tags are two requests, of which the first may have been sent.
		o.HoldBack(op, err)
		return
	}
	o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.Resource, Document: op.Serial})
	if err != nil {
		if op.Verb == http.MethodDelete && !op.Action && arm.Classify(err) == arm.ClassNotFound {
			o.over(op, nil, nil)
			return
		}
		o.over(op, nil, err)
		return
	}
	op.mu.Lock()
	op.requestID = response.RequestID
	op.mu.Unlock()
	if op.Verb == http.MethodPut && response.Status == http.StatusCreated && op.ID.Type() == types.ResourceGroup {
		o.cache.KeepEmpty(op.Client.Scope(), op.ID)
	}
	var found *observe.Observation
	if head := observe.HeadOf(response.Body); op.Verb == http.MethodPut && !op.Action && head.ID != "" {
		found = new(o.cache.At(observe.Observed{ID: op.ID, Exists: true, Body: response.Body, ETag: head.ETag}, true))
		if op.Answered != nil {
			op.Answered(response.Body)
		}
	}
	if !accepted(op.Verb, response) {
		o.over(op, found, nil)
		return
	}
	if found != nil {
		// Whoever asks while Azure is at it need not ask Azure.
		o.cache.Keep(op.Client.Scope(), *found)
	}
	o.watch(op, response)
}

// accepted tells whether an answer means that the work has only begun. A body that says Succeeded means that it is done
// even when there are headers to ask for more, as with load balancers.
func accepted(verb string, response *client.Response) bool {
	linked := response.AsyncOperation != "" || response.Status == http.StatusAccepted && response.Location != ""
	if verb != http.MethodPut || observe.HeadOf(response.Body).Properties.ProvisioningState == "" {
		return response.Status == http.StatusAccepted || linked
	}
	doing, failed := observe.Provisioning(response.Body)
	return doing != "" || failed
}

// over is called once Azure has done an operation: with what it left, if that is known, or with its error.
func (o *Operator) over(op *Operation, found *observe.Observation, err error) {
	if !op.finish() {
		return
	}
	o.cache.Invalidate(observe.Change{ID: op.ID, Extent: leaves(op, err), Document: op.Serial, Made: op.State == arm.Creating && err == nil})
	switch {
	case op.Action || err != nil:
	case op.State == arm.Deleting:
		o.cache.Keep(op.Client.Scope(), o.cache.At(observe.Observed{ID: op.ID}, false))
	case found != nil && !(found.FromWrite && op.State == arm.Updating):
		// What a change has made of a resource is read once, so that what remains of the difference is known.
		o.cache.Keep(op.Client.Scope(), *found)
	}
	took := o.options.Clock.Now().Sub(op.started)
	if op.Ended != nil {
		op.Ended(took, err)
	}
	if o.options.Ended != nil {
		o.options.Ended(op, took, err)
	}
	if err != nil {
		o.options.Log.Info("operation failed", "resource", op.ID, "object", op.Object, "verb", op.Verb, "class", arm.Classify(err), "why", arm.ClassReason(err), "requestID", arm.RequestID(err), "error", err.Error())
	} else {
		o.options.Log.V(1).Info("operation ended", "resource", op.ID, "object", op.Object, "verb", op.Verb, "state", op.State, "took", took.String())
	}
	if !op.Action && err == nil && op.State == arm.Deleting {
		o.Gone(op.ID)
	}
	o.end(op)
}

// Ages are the operations that are under way, and since when they are.
func (o *Operator) Ages() map[*Operation]time.Duration {
	now, out := o.options.Clock.Now(), map[*Operation]time.Duration{}
	for _, op := range o.all() {
		out[op] = now.Sub(op.started)
	}
	return out
}

// leaves is what an operation has changed beyond what was read since it was sent.
func leaves(op *Operation, err error) observe.Extent {
	switch {
	case op.Action && op.Verb == http.MethodDelete, !op.Action && op.State == arm.Deleting && err == nil:
		return observe.Subtree
	case op.Action, err != nil:
		return observe.Resource
	}
	// What is there was read, or answered, when it was done.
	return observe.Effects
}

// Abandon ends an operation of which nothing more is to be known: what it has made along with its resource is not.
func (o *Operator) Abandon(op *Operation) {
	op.finish()
	o.cache.Invalidate(observe.Change{ID: op.ID})
	o.end(op)
}

// HoldBack ends an operation whose request was not sent, because there are too many: nothing has changed in Azure.
func (o *Operator) HoldBack(op *Operation, err error) {
	if !op.finish() {
		return
	}
	if op.Ended != nil {
		op.Ended(o.options.Clock.Now().Sub(op.started), err)
	}
	o.options.Log.V(1).Info("held back", "resource", op.ID, "object", op.Object, "verb", op.Verb, "why", arm.ClassReason(err), "error", err.Error())
	o.end(op)
}

// Gone tells that a resource is gone: what is under way on what went with it has no end to wait for.
func (o *Operator) Gone(id arm.ID) {
	for _, op := range o.below(id) {
		o.Abandon(op)
	}
}
