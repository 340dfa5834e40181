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

// CodeDeletionIneffective means that Azure accepted the deletion of a resource and shows the resource unchanged afterwards.
const CodeDeletionIneffective = "DeletionIneffective"

// Clock is the part of a clock that the package needs.
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
	// Reader reads the followed resources. Operations invalidate its cache.
	Reader *observe.Reader
	// OnEnd is called for every operation that Azure has finished, with its error, before waiting objects are woken; nil disables it.
	// It must be quick.
	OnEnd func(op *Operation, took time.Duration, err error)
}

// Operator sends writes and actions, one per resource at a time, and follows them to their end. It is safe for concurrent use.
type Operator struct {
	*registry
	options Options
	cache   *observe.Cache
	pacer   *pacer

	// ctx ends background requests when the operator stops.
	ctx  context.Context
	stop context.CancelFunc
}

// New returns an operator.
func New(options Options) *Operator {
	o := &Operator{registry: newRegistry(), options: options, cache: options.Reader.Cache, pacer: newPacer()}
	o.ctx, o.stop = context.WithCancel(context.Background())
	return o
}

// Stop ends the following of all operations, and requests with a BackgroundContext; operations in Azure continue.
func (o *Operator) Stop() { o.stop() }

// BackgroundContext returns a context for requests that outlive the caller. It has the values of ctx.
func (o *Operator) BackgroundContext(ctx context.Context) context.Context {
	return detachedContext{Context: o.ctx, values: ctx}
}

type detachedContext struct {
	context.Context
	values context.Context
}

func (d detachedContext) Value(key any) any { return d.values.Value(key) }

// Begin registers an operation before its request is sent. If its resource or its serial key is held, it returns the operation that
// holds it. A deletion replaces another operation on the same resource if replace is set.
func (o *Operator) Begin(op *Operation, replace bool) (holder *Operation) {
	op.started = o.options.Clock.Now()
	return o.register(op, replace)
}

// Release ends an operation that was begun and sent no request.
func (o *Operator) Release(op *Operation) {
	op.markEnded()
	o.unregister(op)
}

// Send sends the request of an operation that was begun, and follows the operation.
func (o *Operator) Send(op *Operation, request func() (*client.Response, error)) {
	if op.Method == http.MethodPut && op.State == arm.Creating {
		// Until Azure answers, the resource counts as absent, as when its creation was decided: a read would return no more.
		o.cache.StoreObservation(op.currentClient().CacheScope(), o.cache.NewObservation(observe.Observed{ID: op.ID}, false))
	} else {
		o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.ExtentResource})
	}
	response, err := request()
	if arm.IsBudgetEmpty(err) && op.Method != http.MethodPatch { // Tags are two requests, of which the first may have been sent.
		o.EndUnsent(op, err)
		return
	}
	o.cache.Invalidate(observe.Change{ID: op.ID, Extent: observe.ExtentResource, Document: op.SerialKey})
	if err != nil {
		if op.Method == http.MethodDelete && !op.Action && arm.Classify(err) == arm.ClassNotFound {
			o.completeOperation(op, nil, nil)
			return
		}
		o.completeOperation(op, nil, err)
		return
	}
	op.mu.Lock()
	op.requestID, op.correlationID = response.RequestID, response.CorrelationID
	op.mu.Unlock()
	if op.Method == http.MethodPut && response.Status == http.StatusCreated && op.ID.Type() == types.ResourceGroup {
		o.cache.MarkGroupEmpty(op.currentClient().CacheScope(), op.ID)
	}
	var found *observe.Observation
	if head := observe.ParseHead(response.Body); op.Method == http.MethodPut && !op.Action && head.ID != "" {
		found = new(o.cache.NewObservation(observe.Observed{ID: op.ID, Exists: true, Body: response.Body, ETag: head.ETag}, true))
		if op.OnAnswer != nil {
			op.OnAnswer(response.Body)
		}
	}
	if !isAccepted(op.Method, response) {
		o.completeOperation(op, found, nil)
		return
	}
	if found != nil {
		// Readers need no request while the operation runs.
		o.cache.StoreObservation(op.currentClient().CacheScope(), *found)
	}
	o.followAccepted(op, response)
}

// isAccepted reports whether an answer means that the operation continues. A body with the state Succeeded means that it is over, even
// if there are headers for polling, as with load balancers.
func isAccepted(method string, response *client.Response) bool {
	hasURL := response.AsyncOperation != "" || response.Status == http.StatusAccepted && response.Location != ""
	head := observe.ParseHead(response.Body)
	if method != http.MethodPut || head.Properties.ProvisioningState == "" {
		return response.Status == http.StatusAccepted || hasURL
	}
	inProgress, failed := head.State()
	return inProgress != "" || failed
}

// completeOperation handles the end of an operation in Azure: with its result, if known, or with its error.
func (o *Operator) completeOperation(op *Operation, found *observe.Observation, err error) {
	if !op.markEnded() {
		return
	}
	o.cache.Invalidate(observe.Change{ID: op.ID, Extent: changedExtent(op, err), Document: op.SerialKey,
		Created: op.State == arm.Creating && err == nil})
	switch {
	case op.Action || err != nil:
	case op.State == arm.Deleting:
		o.cache.StoreObservation(op.currentClient().CacheScope(), o.cache.NewObservation(observe.Observed{ID: op.ID}, false))
	case found != nil && !(found.FromWrite && op.State == arm.Updating):
		// The result of an update is read once, so that its remaining differences are known.
		o.cache.StoreObservation(op.currentClient().CacheScope(), *found)
	}
	duration := o.options.Clock.Now().Sub(op.started)
	if op.OnEnd != nil {
		op.OnEnd(duration, err)
	}
	if o.options.OnEnd != nil {
		o.options.OnEnd(op, duration, err)
	}
	o.logEnd(op, duration, err)
	if !op.Action && err == nil && op.State == arm.Deleting {
		o.AbandonBelow(op.ID)
	}
	o.unregister(op)
}

// OperationAges returns the running operations with their ages.
func (o *Operator) OperationAges() map[*Operation]time.Duration {
	now, out := o.options.Clock.Now(), map[*Operation]time.Duration{}
	for _, op := range o.allOperations() {
		out[op] = now.Sub(op.started)
	}
	return out
}

// changedExtent returns the range of changes by an operation that reads since its request do not cover.
func changedExtent(op *Operation, err error) observe.Extent {
	switch {
	case op.Action && op.Method == http.MethodDelete, !op.Action && op.State == arm.Deleting && err == nil:
		return observe.ExtentSubtree
	case op.Action, err != nil:
		return observe.ExtentResource
	}
	// The resource itself was read or returned at the end.
	return observe.ExtentSideEffects
}

// Abandon ends an operation without a result. Resources that it created along with its own may exist.
func (o *Operator) Abandon(op *Operation) {
	op.markEnded()
	o.cache.Invalidate(observe.Change{ID: op.ID})
	o.unregister(op)
}

// EndUnsent ends an operation whose request was not sent for lack of budget: Azure has not changed.
func (o *Operator) EndUnsent(op *Operation, err error) {
	if !op.markEnded() {
		return
	}
	if op.OnEnd != nil {
		op.OnEnd(o.options.Clock.Now().Sub(op.started), err)
	}
	o.logger(op).V(3).Info("Request to Azure not sent", "resource", op.ID, "method", op.Method, "cause", arm.ClassReason(err), "error", err.Error())
	o.unregister(op)
}

// ForgetObject records that an object is gone and waits for no operation any more.
func (o *Operator) ForgetObject(object string) {
	for _, op := range o.allOperations() {
		op.dropWaiter(object)
	}
}

// AbandonBelow abandons operations on children of a deleted resource, because they will not end otherwise.
func (o *Operator) AbandonBelow(id arm.ID) {
	for _, op := range o.operationsBelow(id) {
		o.Abandon(op)
	}
}
