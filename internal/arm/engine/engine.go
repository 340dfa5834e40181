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
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// Options configure an Engine. The zero value is usable.
type Options struct {
	// Clock is the source of time; nil is the system clock. Tests use a virtual one.
	Clock Clock
	// Log receives one line per write, per repaired or ignored difference, and per operation that ended.
	Log logr.Logger
	// MaxParallel bounds the requests that one convergence has in flight; 0 is 16.
	MaxParallel int
	// Freshness is how long reads are shared between convergences; 0 is 10 s. A convergence accepts reads up to three times as old.
	Freshness time.Duration
	// MaxConfirmedAge is the longest time that a sync reuses a read while Azure's list of all resources shows no write; 0 disables that.
	MaxConfirmedAge time.Duration
	// RepeatPeriod is how long after a repair another one of the same resource is a repeated one; 0 is 2 h.
	RepeatPeriod time.Duration
	// AnswerWait is how long a convergence waits for Azure's answers to its writes, never for operations; 0 is 2 s. Later answers are
	// handled in the background and wake the object.
	AnswerWait time.Duration
	// MaxWaiting bounds the convergences that wait for answers at the same time; 0 is 4. Others return at once and are woken by the
	// answers: a hundred machines that are created together must not block all workers.
	MaxWaiting int
	// Jitter returns a number in [0,1) that spreads retries; nil is math/rand's.
	Jitter func() float64
	// Hooks are called on events of the engine.
	Hooks Hooks
}

// Hooks are called on events of the engine, for metrics. They must be quick; nil ones are not called.
type Hooks struct {
	// OnCacheRead is called for each lookup in the cache of reads.
	OnCacheRead func(observe.CacheResult)
	// OnOperationEnd is called for each operation that Azure has finished, with its duration and error.
	OnOperationEnd func(op *operate.Operation, took time.Duration, err error)
	// OnDrift is called once for a resource that matched the plan and no longer does.
	OnDrift func(id arm.ID)
	// OnRepair is called when a write of the engine has brought such a resource back. again means that it was repaired within
	// RepeatPeriod before, too.
	OnRepair func(id arm.ID, again bool)
	// OnNormalized is called once for values that Azure stores otherwise than sent. They are not sent again.
	OnNormalized func(id arm.ID, values int)
}

// Engine is the only writer of Azure resources in a process. It is safe for concurrent use, also by convergences that share nodes.
type Engine struct {
	options Options
	clock   Clock
	log     logr.Logger

	cache   *observe.Cache
	reader  *observe.Reader
	operate *operate.Operator
	states  *stateStore
	// changes holds, by object, the changes that operations have made in Azure until the next Outcome of the object reports them.
	changes *expiring.Cache[[]arm.Change]
	// wholeGroups holds which resource groups are deleted as a whole, because each machine of a cluster needs the answer.
	wholeGroups *expiring.Cache[bool]
	// waitSlots holds one element per convergence that waits for answers.
	waitSlots chan struct{}
}

// Owner identifies the resources of a cluster by tags. TagKey and TagValue are the ownership tag:
// sigs.k8s.io_cluster-api-provider-azure_cluster_<cluster>=owned.
type Owner struct {
	TagKey, TagValue string
	// IDKey is the key of the owner tag, which distinguishes owners with the same TagKey. ID is this owner's value, "" if unknown. A
	// resource without the owner tag is owned by the ownership tag alone and gets the owner tag with the next write.
	IDKey, ID string
}

// Request is the input of one convergence or deletion.
type Request struct {
	// Object names the Kubernetes object, as in "AzureCluster/default/c1". It is used in logs and to wake each object once.
	Object string
	// Client sends requests with the identity of the object.
	Client *client.Client
	// Owner is the ownership tag. Bodies of taggable nodes must carry it.
	Owner Owner
	// Graph is the desired state.
	Graph *arm.Graph
	// Inventory lists resources that were created for the object and cannot carry tags, as stored in its annotation. Every writer of
	// the object can forge it, so an entry counts only if the graph has the resource or Azure shows that it belongs to an owned one.
	Inventory []arm.ID
	// IgnoreInventory disables Inventory: a resource without tags is then owned only below an owned one. It is for identities that can
	// reach resources of other owners, where the graph is no proof either.
	IgnoreInventory bool
	// Record lists resources that the object's annotations name as seen in Azure and owned. A resource of the record without an
	// ownership tag has lost it. Every writer of the object can forge the record, so it alone allows no write and no deletion: see
	// isProvenByUse.
	Record []arm.ID
	// Adopted lists resources adopted earlier. Their adoption is not reported again.
	Adopted []arm.ID
	// DeleteAdopted deletes adopted resources, too. Without it they are released.
	DeleteAdopted bool
	// Migrated lists resources without an ownership tag that the caller has proven to be created for the object. They are deleted as
	// the object's own, unless a tag marks them as another owner's or as released. It does not affect the writes of Converge.
	Migrated []arm.ID
	// OwnedUntagged lists resources of the graph that Azure creates with another one and may leave without tags. They are owned
	// without.
	OwnedUntagged []arm.ID
	// Prune lists resources of earlier plans that this plan no longer has; owned ones are deleted. Inventory entries that count and are
	// not in the graph are pruned without being listed here.
	Prune []arm.ID
	// IsOthers reports whether another object of the cluster, which is not being deleted, has a resource in its plan, too. Such a resource is
	// deleted neither with this object nor when its plan no longer has it. Nil stands for none.
	IsOthers func(id arm.ID) bool
	// IgnoreDifference reports whether a difference of an owned resource is neither repaired nor drift. want and have are short texts.
	// Nil ignores none.
	IgnoreDifference func(id arm.ID, path, want, have string) bool
	// Wake is called when the object should be reconciled: an operation ended or a serial key is free. It is called from any goroutine,
	// must be cheap and must not block. Nil disables it.
	Wake func()
	// Superseded is closed when a newer graph exists. The convergence then returns without waiting for answers. Nil means never.
	Superseded <-chan struct{}
	// Read chooses how resources may be read.
	Read ReadOptions
	// BypassCache reads every resource from Azure.
	BypassCache bool
	// RetryNow is for reconciliations that a user requested: it includes BypassCache and retries failures before they are due.
	RetryNow bool
	// Observing has Converge decide as usual and send no write. Result.IntendedMethod and Result.Drift describe the writes. Nothing is
	// adopted or added to the inventory. It has no effect on Delete.
	Observing bool
	// DeleteWholeGroups lets Delete remove an owned resource group as a whole if it has no resource of another cluster.
	DeleteWholeGroups bool
}

// New returns an engine.
func New(options Options) *Engine {
	if options.Clock == nil {
		options.Clock = SystemClock{}
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
	if options.RepeatPeriod == 0 {
		options.RepeatPeriod = 2 * time.Hour
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
	e.cache = observe.NewCache(options.Clock, options.Freshness, options.MaxConfirmedAge)
	e.reader = &observe.Reader{Cache: e.cache, MaxParallel: options.MaxParallel, OnCacheRead: options.Hooks.OnCacheRead}
	e.operate = operate.New(operate.Options{Clock: options.Clock, Log: options.Log, Reader: e.reader, OnEnd: options.Hooks.OnOperationEnd})
	// Followed resources are read repeatedly, so one list can serve many of them.
	e.reader.CountFollowed = e.operate.CountInCollection
	e.states = newStateStore(options.Clock)
	e.changes = expiring.New[[]arm.Change](changeRetention, 0, options.Clock.Now)
	e.wholeGroups = expiring.New[bool](options.Freshness, 0, options.Clock.Now)
	e.waitSlots = make(chan struct{}, options.MaxWaiting)
	return e
}

// Start runs the operation watcher until ctx ends; operations in Azure continue after that. It also drops expired reads from time to
// time. It implements controller-runtime's manager.Runnable.
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

// OperationAges returns the running operations with their ages.
func (e *Engine) OperationAges() map[*operate.Operation]time.Duration {
	return e.operate.OperationAges()
}

// ForgetObject records that the object of a request is gone. Its operations are followed to their end, except those whose state cannot be
// read, as without a valid credential.
func (e *Engine) ForgetObject(object string) { e.operate.ForgetObject(object) }

// Clock is the part of a clock that the engine needs.
type Clock = operate.Clock

// SystemClock is the real time.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// ReadOptions choose how one reconciliation may read Azure.
type ReadOptions = observe.ReadOptions

// SyncMaxAge returns ReadOptions.MaxAge for syncs with a period.
func SyncMaxAge(period time.Duration) time.Duration { return observe.SyncMaxAge(period) }

// DigestMark identifies the entry of a resource in Azure's list of all resources.
type DigestMark = observe.DigestMark

// CheckUnchanged reports whether facts about a resource, or about the collection with that path, still hold. at is when they were read,
// mark the mark at that time. It also returns the current mark, for new facts. Without ReadOptions.MaxAge nothing holds.
func (e *Engine) CheckUnchanged(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark DigestMark,
	options ReadOptions) (DigestMark, bool) {
	return e.reader.CheckUnchanged(ctx, c, id, at, mark, options)
}

// Observed is a resource as Azure last returned it.
type Observed = observe.Observed

// Observe reads resources, keyed by ID.Key(). Several resources of one type in one group are read with one LIST and shared for the
// freshness window, or for as long as the options allow, unless fresh is set. An absent resource that waits for write quota is not read
// again until its turn. The error is set only for a cancelled context.
func (e *Engine) Observe(ctx context.Context, c *client.Client, ids []arm.ID, fresh bool, options ReadOptions) (map[string]Observed,
	error) {
	out := make(map[string]Observed, len(ids))
	var ask []arm.ID
	for _, id := range ids {
		if !fresh && e.isAwaitingWriteQuota(c, id) {
			out[id.Key()] = e.cache.NewObservation(Observed{ID: id}, false).Observed
			continue
		}
		ask = append(ask, id)
	}
	found := e.reader.Read(ctx, c, ask, e.maxReadAge(fresh), options)
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

// IsCreating reports whether this engine is creating a resource. Azure may not return it, or resources created with it, yet.
func (e *Engine) IsCreating(id arm.ID) bool {
	op := e.operate.FindOperation(id.Key())
	return op != nil && op.State == arm.Creating
}
