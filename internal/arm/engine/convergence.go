package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Codes of errors that the engine itself finds.
const (
	// CodeNotOwned means that a resource with the wanted name is somebody else's.
	CodeNotOwned = "ResourceNotOwned"
	// CodeOwnershipTagRemoved means that a resource that was made for the object has no ownership tag, and nothing else proves that it is the object's.
	CodeOwnershipTagRemoved = "OwnershipTagLost"
	// CodeMissing means that a resource that users bring does not exist.
	CodeMissing = "ResourceNotFound"
	// CodeProvisioningFailed means that a resource is in the state Failed and Azure's reason is not known any more.
	CodeProvisioningFailed = operate.CodeProvisioningFailed
)

// convergence is one call of Converge or Delete.
type convergence struct {
	engine  *Engine
	ctx     context.Context
	request Request
	nodes   []*arm.Node

	// found is what was observed, by ID key.
	found map[string]observe.Observation
	// results and waits, the time until the next try, are by ID key, too.
	results    map[string]arm.Result
	retryAfter map[string]time.Duration
	// inventory is the given one with what this pass adds and removes.
	inventory       map[string]arm.ID
	storedInventory map[string]bool // in the inventory as given: stored already
	// adopted is what was adopted, now or before, ignored what of the given inventory does not count, unlabelled what is ours
	// without a tag.
	adopted, ignored map[string]arm.ID
	ownedUntagged    map[string]bool
	// migrated are the keys of Request.Migrated.
	migrated map[string]bool
	// record are the resources of the record: they were seen as the object's own.
	record map[string]bool

	// reusesReads passes come often, woken by one operation after another; what was in place a moment ago is not read again
	// each time.
	reusesReads bool

	changed       chan struct{}
	requestSlots  chan struct{}
	mu            sync.Mutex
	ended         bool
	pendingWrites int
	sentMethods   map[string]string
}

func (e *Engine) newConvergence(ctx context.Context, request Request) (*convergence, error) {
	if request.Graph == nil {
		request.Graph = &arm.Graph{}
	}
	nodes, err := request.Graph.TopologicalOrder()
	if err == nil {
		err = request.Graph.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("invalid plan: %w", err)
	}
	if request.Client == nil {
		return nil, fmt.Errorf("no client for Azure")
	}
	if request.Owner.TagKey == "" {
		return nil, fmt.Errorf("no ownership tag")
	}
	request.BypassCache = request.BypassCache || request.RetryNow
	p := &convergence{engine: e, ctx: ctx, request: request, nodes: nodes,
		found: map[string]observe.Observation{}, results: map[string]arm.Result{}, retryAfter: map[string]time.Duration{},
		inventory: map[string]arm.ID{}, storedInventory: map[string]bool{}, adopted: map[string]arm.ID{}, ignored: map[string]arm.ID{}, ownedUntagged: map[string]bool{}, migrated: map[string]bool{}, record: map[string]bool{},
		changed: make(chan struct{}, 1), requestSlots: make(chan struct{}, e.options.MaxParallel), sentMethods: map[string]string{}}
	for _, id := range request.Inventory {
		if !p.mayBeInInventory(id) {
			p.ignored[id.Key()] = id
			continue
		}
		p.inventory[id.Key()] = id
		p.storedInventory[id.Key()] = true
	}
	for _, id := range request.Adopted {
		p.adopted[id.Key()] = id
	}
	for _, id := range request.Record {
		p.record[id.Key()] = true
	}
	for _, id := range request.Migrated {
		p.migrated[id.Key()] = true
	}
	for _, id := range request.OwnedUntagged {
		p.ownedUntagged[id.Key()] = true
	}
	for _, node := range nodes {
		p.retryNow(node.ID)
	}
	p.retryNow(slices.Concat(request.Inventory, request.Prune)...)
	return p, nil
}

// retryNow has a pass that was asked for try resources again that failed.
func (p *convergence) retryNow(ids ...arm.ID) {
	if !p.request.RetryNow {
		return
	}
	for _, id := range ids {
		p.engine.states.makeRetryDue(id.Key())
		p.engine.states.makeRetryDue(id.Key() + readSuffix)
	}
}

// notifyChange tells the pass that something it looks at has moved. Once the pass is over, it wakes the object.
func (p *convergence) notifyChange() {
	p.mu.Lock()
	over := p.ended
	p.mu.Unlock()
	if over {
		if p.request.Wake != nil {
			p.request.Wake()
		}
		return
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// evaluateUntilAnswered evaluates until no write that the pass sent is unanswered, the grace is over, too many others wait, another graph is wanted or ctx ends. What
// an answer makes ready is started within the same pass.
func (p *convergence) evaluateUntilAnswered(ids func() []arm.ID, evaluate func()) {
	expired := make(chan struct{})
	stop := p.engine.clock.AfterFunc(p.engine.options.AnswerWait, func() { close(expired) })
	defer stop()
	waits := false
	defer func() {
		if waits {
			<-p.engine.waitSlots
		}
	}()
	maxAge := p.engine.maxReadAge(p.request.BypassCache)
	if p.reusesReads && !p.request.BypassCache {
		maxAge = 3 * p.engine.options.Freshness
	}
	ctx := observe.WithReuseOnly(p.ctx, func(id arm.ID) bool { return p.engine.states.wasInPlace(id.Key()) })
	for {
		for key, found := range p.engine.reader.Read(ctx, p.request.Client, ids(), maxAge) {
			p.found[key] = found
		}
		p.readEvidence(maxAge)
		maxAge = max(maxAge, p.engine.options.Freshness)
		evaluate()
		if p.countPendingWrites() == 0 {
			select {
			case <-p.changed:
				continue
			default:
				return
			}
		}
		if !waits {
			select {
			case p.engine.waitSlots <- struct{}{}:
				waits = true
			default:
				return
			}
		}
		select {
		case <-p.changed:
		case <-expired:
			return
		case <-p.request.Superseded:
			return
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *convergence) countPendingWrites() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pendingWrites
}

// recordSent notes a write that was begun, answered one that Azure has answered.
func (p *convergence) recordSent(id arm.ID, verb string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pendingWrites++
	p.sentMethods[id.Key()] = verb
}

func (p *convergence) recordAnswered() {
	p.mu.Lock()
	p.pendingWrites--
	p.mu.Unlock()
	p.notifyChange()
}

// setResult stores the result for a resource and when to look again.
func (p *convergence) setResult(result arm.Result, wait time.Duration) {
	p.results[result.ID.Key()] = result
	p.retryAfter[result.ID.Key()] = wait
	p.engine.states.setInPlace(result.ID.Key(), result.IsDone())
}

// desiredOf is what a node of a graph wants, decoded.
func desiredOf(graph *arm.Graph, node *arm.Node, row types.Type) (compare.Desired, error) {
	body, err := graph.DecodedBody(node)
	if err != nil {
		return compare.Desired{}, fmt.Errorf("%s: body: %w", node.ID, err)
	}
	return compare.Desired{Type: row, Body: body, OwnedPaths: node.OwnedPaths, DropTags: node.DropTags}, nil
}

// buildOutcome ends the pass and puts the results together. From here on, what the pass waits for wakes the object.
func (p *convergence) buildOutcome(order []arm.ID) arm.Outcome {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	select {
	case <-p.changed:
		p.notifyChange()
	default:
	}
	out := arm.Outcome{Changes: p.engine.changes.takeChanges(p.request.Object)}
	for _, id := range order {
		result, ok := p.results[id.Key()]
		if !ok {
			continue
		}
		p.mu.Lock()
		result.SentMethod = p.sentMethods[id.Key()]
		p.mu.Unlock()
		out.Results = append(out.Results, result)
		wait := p.retryAfter[id.Key()]
		if wait > 0 && (out.RetryAfter == 0 || wait < out.RetryAfter) {
			out.RetryAfter = wait
		}
	}
	out.Inventory, out.Adopted, out.IgnoredInventory = sortedIDs(p.inventory), sortedIDs(p.adopted), sortedIDs(p.ignored)
	return out
}

func sortedIDs(ids map[string]arm.ID) []arm.ID {
	return slices.SortedFunc(maps.Values(ids), func(a, b arm.ID) int { return strings.Compare(a.Key(), b.Key()) })
}
