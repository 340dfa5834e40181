package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// Options configure an Engine. The zero value is usable.
type Options struct {
	// Clock is the source of time; nil is the system's. Tests give the simulator's virtual clock.
	Clock Clock
	// Log receives one line per write, per repaired or ignored difference, and per operation that ended.
	Log logr.Logger
	// MaxParallel is how many requests one pass has under way at a time; 0 is 16.
	MaxParallel int
	// Freshness is how long a read is shared with other passes; 0 is 10 s.
	Freshness time.Duration
	// Grace is how long a pass waits for Azure to answer the writes it sent, never for operations; 0 is 2 s. Writes that
	// are answered later go on in the background, and their answer wakes the object.
	Grace time.Duration
	// Jitter is called for a number in [0,1) to spread retries; nil is math/rand's.
	Jitter func() float64
}

// Clock is what the engine needs of a clock.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine once d has passed; stop prevents it if it has not been called yet.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Engine is the one writer of Azure resources in a process. It is safe for concurrent use, also by passes that share
// nodes.
type Engine struct{}

// Owner is the tag that marks a cluster's resources:
// sigs.k8s.io_cluster-api-provider-azure_cluster_<cluster>=owned.
type Owner struct {
	TagKey, TagValue string
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
	// Inventory lists untagged resources below foreign parents that are ours, as kept in the object's annotation.
	Inventory []arm.ID
	// Prune lists resources that an earlier plan wanted and this one does not; owned ones are deleted. Inventory entries
	// that are not in the graph are pruned without being listed here.
	Prune []arm.ID
	// Wake is called, from any goroutine, when something the pass waits for has moved: an operation ended, a serial key
	// is free. It must be cheap and must not block. Nil means nobody waits.
	Wake func()
	// Fresh reads from Azure even what another pass has read just now.
	Fresh bool
	// WholeGroups lets Delete remove an owned resource group as a whole when no resource of another cluster is in it.
	WholeGroups bool
}

// Observed is a resource as Azure last showed it.
type Observed struct {
	ID arm.ID
	// Exists is false when Azure answered 404 for the resource or what holds it.
	Exists bool
	// Body is the resource; nil when it does not exist or Err is set.
	Body json.RawMessage
	// ETag is the value for If-Match, from the body or the header; "" when Azure gave none.
	ETag string
	// Err is why the resource could not be read. It is never a 404.
	Err error
	// At is when Azure was asked.
	At time.Time
}

// Action is imperative work that no PUT expresses, as in deleting instances of a scale set.
type Action struct {
	// Method is POST, DELETE, PUT or PATCH.
	Method string
	// ID is the resource acted on, and SubPath what follows it in the URL, as in "deallocate".
	ID      arm.ID
	SubPath string
	// Query holds parameters beside api-version; nil for none.
	Query url.Values
	// Body is marshalled to JSON; nil for none.
	Body any
}

var errSkeleton = errors.New("not implemented")

// New makes an engine. It works without Start, except that nothing wakes requests.
func New(options Options) *Engine { return &Engine{} }

// Start runs the operation watcher until ctx ends. It fits controller-runtime's manager.Runnable.
func (e *Engine) Start(ctx context.Context) error { return errSkeleton }

// Converge does one pass towards the graph: it observes, starts everything that is ready, and returns. The error is set
// only for an invalid graph or a cancelled context; what Azure refuses is in the outcome.
//
// A node below a foreign parent that cannot carry a tag is created only once its ID is in Request.Inventory: the pass
// that finds it missing returns it in Outcome.Inventory, so that the caller stores it first and nothing is lost when the
// process dies in between.
func (e *Engine) Converge(ctx context.Context, request Request) (arm.Outcome, error) {
	return arm.Outcome{}, errSkeleton
}

// Delete does one pass of deleting the graph's resources, dependants first. Only owned resources are deleted; what is
// gone already, also because its parent is, counts as deleted. The deletion is complete when Outcome.Deleted is true.
func (e *Engine) Delete(ctx context.Context, request Request) (arm.Outcome, error) {
	return arm.Outcome{}, errSkeleton
}

// Observe reads resources, keyed by ID.Key(). Reads of several resources of one type in one group are one LIST, shared
// with other passes for the freshness window unless fresh is set. The error is set only for a cancelled context.
func (e *Engine) Observe(ctx context.Context, c *client.Client, ids []arm.ID, fresh bool) (map[string]Observed, error) {
	return nil, errSkeleton
}

// Do sends an action unless the same one is under way, and follows its operation: the first calls return
// arm.Updating or arm.Deleting and wake is called when it ended; the next call then returns arm.Ready (or arm.Gone for a
// DELETE of the resource itself) once, or arm.Failed with the error. A call after that sends the action again.
func (e *Engine) Do(ctx context.Context, c *client.Client, action Action, wake func()) arm.Result {
	return arm.Result{ID: action.ID, State: arm.Failed, Err: errSkeleton}
}
