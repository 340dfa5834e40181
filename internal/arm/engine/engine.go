package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
)

// Options configure an Engine. The zero value is usable.
type Options struct {
	// Clock is the source of time; nil is the system's. Tests give a virtual one.
	Clock Clock
	// Log receives one line per write, per repaired or ignored difference, and per operation that ended.
	Log logr.Logger
	// MaxParallel is how many requests one pass has under way at a time; 0 is 16.
	MaxParallel int
	// Freshness is how long a read is shared with other passes; 0 is 10 s. Converging passes take what is up to three
	// times as old.
	Freshness time.Duration
	// MaxVouchedAge is how long regular looks take what was read, as long as Azure's list of all resources shows no write; 0 is not at all.
	MaxVouchedAge time.Duration
	// AnswerWait is how long a pass waits for Azure to answer the writes it sent, never for operations; 0 is 2 s. Writes that
	// are answered later go on in the background, and their answer wakes the object.
	AnswerWait time.Duration
	// MaxWaiting is how many passes may wait for such answers at a time; 0 is 4. The others return at once and are woken by the
	// answers: a hundred machines that come together must not hold all workers.
	MaxWaiting int
	// Jitter is called for a number in [0,1) to spread retries; nil is math/rand's.
	Jitter func() float64
	// Hooks are told what happens.
	Hooks Hooks
}

// Hooks are told what the engine does, for those who count. They must be quick; nil ones are not called.
type Hooks struct {
	// OnCacheRead is told of each look at what other passes have read.
	OnCacheRead func(observe.CacheResult)
	// OnOperationEnd is told of each operation that Azure has done, with how long it took and its error.
	OnOperationEnd func(op *operate.Operation, took time.Duration, err error)
	// OnDrift is told once of a resource that had been as wanted and is not any more, and Repaired when it is again by a write
	// of the engine.
	OnDrift, OnRepair func(id arm.ID)
	// OnNormalized is told once of values that were sent and that Azure keeps otherwise, so that they are not sent again.
	OnNormalized func(id arm.ID, values int)
}

// Engine is the one writer of Azure resources in a process. It is safe for concurrent use, also by passes that share
// nodes.
type Engine struct {
	options Options
	clock   Clock
	log     logr.Logger

	cache       *observe.Cache
	reader      *observe.Reader
	operate     *operate.Operator
	states      *stateStore
	changes     *changeLog
	wholeGroups *wholeGroupCache
	// waitSlots holds one element per pass that waits for answers.
	waitSlots chan struct{}
}

// Owner is the tag that marks a cluster's resources:
// sigs.k8s.io_cluster-api-provider-azure_cluster_<cluster>=owned.
type Owner struct {
	TagKey, TagValue string
	// IDKey is the tag that tells owners with the same TagKey apart, and ID what it says of this one; "" is not known. A resource
	// without it is the owner's by the other tag alone, and gets it with the next write.
	IDKey, ID string
}

// Request is one pass over a graph.
type Request struct {
	// Object names the Kubernetes object, as in "AzureCluster/default/c1". It is for logs, and wakes for one object are
	// not repeated.
	Object string
	// Client asks Azure in the name of the object's identity.
	Client *client.Client
	// Owner is the ownership tag. Bodies of taggable nodes must carry it.
	Owner Owner
	// Graph is the desired state.
	Graph *arm.Graph
	// Inventory lists resources that were made for the object and cannot carry tags, as kept in its annotation. Anybody may have
	// written that, so only what the graph has counts, or what Azure shows to be there for a resource of ours.
	Inventory []arm.ID
	// IgnoreInventory has nothing of Inventory count: what cannot carry a tag is the object's below what does, and nowhere else. It is for
	// requests by an identity that reaches what is of others, for whom the graph is no proof either.
	IgnoreInventory bool
	// Record lists resources that the object's annotations say were seen in Azure as its own. One of them without an ownership tag has lost
	// that. Anybody may have written the annotations, so the record alone has nothing written or deleted: see proven.
	Record []arm.ID
	// Adopted lists what was adopted before, which is not told again.
	Adopted []arm.ID
	// DeleteAdopted has what would be adopted deleted, too. Without it that is let go.
	DeleteAdopted bool
	// Migrated lists resources without an ownership tag that the caller has proven to be made for the object. They are deleted as the object's
	// own, unless a tag says by now that they are another owner's, or given up. It has no effect on what Converge writes to the resources of the graph.
	Migrated []arm.ID
	// OwnedUntagged are resources of the graph that Azure makes with another one and may leave without tags: they are ours
	// without.
	OwnedUntagged []arm.ID
	// Prune lists resources that an earlier plan wanted and this one does not; owned ones are deleted. Inventory entries
	// that count and are not in the graph are pruned without being listed here.
	Prune []arm.ID
	// IgnoreDifference tells of a difference between a resource of ours and its node, by path and what is wanted and there as short text,
	// that it is not to be brought in line. It neither counts as drift. Nil leaves none.
	IgnoreDifference func(id arm.ID, path, want, have string) bool
	// Wake is called, from any goroutine, when something the pass waits for has moved: an operation ended, a serial key
	// is free. It must be cheap and must not block. Nil means nobody waits.
	Wake func()
	// Superseded is closed when another graph than this one is wanted. The pass then returns without waiting for answers to what it has
	// sent. Nil is never.
	Superseded <-chan struct{}
	// BypassCache reads from Azure even what another pass has read just now.
	BypassCache bool
	// RetryNow is for a pass that a person has asked for: it is Fresh, and tries again what failed before it is due.
	RetryNow bool
	// DeleteWholeGroups lets Delete remove an owned resource group as a whole when no resource of another cluster is in it.
	DeleteWholeGroups bool
}

// New makes an engine.
func New(options Options) *Engine {
	if options.Clock == nil {
		options.Clock = systemClock{}
	}
	if options.MaxParallel == 0 {
		options.MaxParallel = 16
	}
	if options.Freshness == 0 {
		options.Freshness = 10 * time.Second
	}
	if options.AnswerWait == 0 {
		options.AnswerWait = 2 * time.Second
	}
	if options.MaxWaiting == 0 {
		options.MaxWaiting = 4
	}
	if options.Jitter == nil {
		options.Jitter = rand.Float64
	}
	if options.Log.GetSink() == nil {
		options.Log = logr.Discard()
	}
	e := &Engine{options: options, clock: options.Clock, log: options.Log}
	e.cache = observe.NewCache(options.Clock, options.Freshness, options.MaxVouchedAge)
	e.reader = &observe.Reader{Cache: e.cache, MaxParallel: options.MaxParallel, OnCacheRead: options.Hooks.OnCacheRead}
	e.operate = operate.New(operate.Options{Clock: options.Clock, Log: options.Log, Reader: e.reader, OnEnd: options.Hooks.OnOperationEnd})
	// What is followed is looked at again and again: a list serves many.
	e.reader.CountFollowed = e.operate.CountInCollection
	e.states = newStateStore(options.Clock, options.Jitter)
	e.changes = newChangeLog(options.Clock)
	e.wholeGroups = newWholeGroupCache(options.Clock, options.Freshness)
	e.waitSlots = make(chan struct{}, options.MaxWaiting)
	return e
}

// Start keeps the operation watcher running until ctx ends, and stops it then; operations that are under way in Azure
// go on. What was read and is of no more use goes now and then. It fits controller-runtime's manager.Runnable.
func (e *Engine) Start(ctx context.Context) error {
	defer e.operate.Stop()
	for due := make(chan struct{}, 1); ; {
		stop := e.clock.AfterFunc(e.cache.RetentionPeriod(), func() { due <- struct{}{} })
		select {
		case <-due:
			e.cache.DropExpired()
		case <-ctx.Done():
			stop()
			return nil
		}
	}
}

// OperationAges are what is under way, and since when it is.
func (e *Engine) OperationAges() map[*operate.Operation]time.Duration {
	return e.operate.OperationAges()
}

// Clock is what the engine needs of a clock.
type Clock = operate.Clock

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// WithBatch is a context for looks that others of the same group are about to have as well: what is read then is read as lists. A pass
// that was woken by a change reads what it needs by itself.
func WithBatch(ctx context.Context) context.Context { return observe.WithBatch(ctx) }

// WithSyncPeriod is a context for looks at what was in order, which come every period. Most of what they see is what earlier ones read, by
// Options.Full.
func WithSyncPeriod(ctx context.Context, period time.Duration) context.Context {
	return observe.WithMaxAge(ctx, period/10)
}

// WithReuseSince is a context for looks that continue what began at a time: resources that were seen as wanted since then are not read once more
// if only a write changes them. What somebody else does to them meanwhile is found by the next regular look.
func WithReuseSince(ctx context.Context, at time.Time) context.Context {
	return observe.WithReuseSince(ctx, at)
}

// DigestMark stands for how Azure's list of all resources shows a resource.
type DigestMark = observe.DigestMark

// CheckUnchanged tells whether what was learned at a time about a resource, or the collection with that path, which had this mark, still
// holds by Options.Full, and its mark for what is learned from here on. Outside of regular looks nothing does.
func (e *Engine) CheckUnchanged(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark DigestMark) (DigestMark, bool) {
	return e.reader.CheckUnchanged(ctx, c, id, at, mark)
}

// Observed is a resource as Azure last showed it.
type Observed = observe.Observed

// Observe reads resources, keyed by ID.Key(). Reads of several resources of one type in one group are one LIST, shared
// with other passes for the freshness window unless fresh is set, and what was not there and waits for its turn at a budget is asked for
// when it has come. The error is set only for a cancelled context.
func (e *Engine) Observe(ctx context.Context, c *client.Client, ids []arm.ID, fresh bool) (map[string]Observed, error) {
	out := make(map[string]Observed, len(ids))
	var ask []arm.ID
	for _, id := range ids {
		if !fresh && e.isAwaitingWriteQuota(c, id) {
			out[id.Key()] = e.cache.NewObservation(Observed{ID: id}, false).Observed
			continue
		}
		ask = append(ask, id)
	}
	found := e.reader.Read(ctx, c, ask, e.maxReadAge(fresh))
	for key, observation := range found {
		out[key] = observation.Observed
	}
	return out, ctx.Err()
}

func (e *Engine) maxReadAge(fresh bool) time.Duration {
	if fresh {
		return -1
	}
	return e.options.Freshness
}

// IsCreating tells whether this engine is at making a resource: a look at Azure may not show it, and what is made with it, yet.
func (e *Engine) IsCreating(id arm.ID) bool {
	op := e.operate.FindOperation(id.Key())
	return op != nil && op.State == arm.Creating
}
