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
	// CodeTagLost means that a resource that was made for the object has no ownership tag, and nothing else proves that it is the object's.
	CodeTagLost = "OwnershipTagLost"
	// CodeMissing means that a resource that users bring does not exist.
	CodeMissing = "ResourceNotFound"
	// CodeProvisioningFailed means that a resource is in the state Failed and Azure's reason is not known any more.
	CodeProvisioningFailed = operate.CodeProvisioningFailed
)

// pass is one call of Converge or Delete.
type pass struct {
	engine  *Engine
	ctx     context.Context
	request Request
	nodes   []*arm.Node

	// found is what was observed, by ID key.
	found map[string]observe.Observation
	// results and waits, the time until the next try, are by ID key, too.
	results map[string]arm.Result
	waits   map[string]time.Duration
	// inventory is the given one with what this pass adds and removes.
	inventory map[string]arm.ID
	recorded  map[string]bool // in the inventory as given: stored already
	// adopted is what was adopted, now or before, ignored what of the given inventory does not count, unlabelled what is ours
	// without a tag.
	adopted, ignored map[string]arm.ID
	unlabelled       map[string]bool
	// seen are the resources of the record: they were seen as the object's own.
	seen map[string]bool

	// patient passes come often, woken by one operation after another; what was in place a moment ago is not read again
	// each time.
	patient bool

	changed chan struct{}
	slots   chan struct{}
	mu      sync.Mutex
	over    bool
	pending int
	wrote   map[string]string
}

func (e *Engine) newPass(ctx context.Context, request Request) (*pass, error) {
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
	request.Fresh = request.Fresh || request.Anew
	p := &pass{engine: e, ctx: ctx, request: request, nodes: nodes,
		found: map[string]observe.Observation{}, results: map[string]arm.Result{}, waits: map[string]time.Duration{},
		inventory: map[string]arm.ID{}, recorded: map[string]bool{}, adopted: map[string]arm.ID{}, ignored: map[string]arm.ID{}, unlabelled: map[string]bool{}, seen: map[string]bool{},
		changed: make(chan struct{}, 1), slots: make(chan struct{}, e.options.MaxParallel), wrote: map[string]string{}}
	for _, id := range request.Inventory {
		if !p.countable(id) {
			p.ignored[id.Key()] = id
			continue
		}
		p.inventory[id.Key()] = id
		p.recorded[id.Key()] = true
	}
	for _, id := range request.Adopted {
		p.adopted[id.Key()] = id
	}
	for _, id := range request.Record {
		p.seen[id.Key()] = true
	}
	for _, id := range request.Unlabelled {
		p.unlabelled[id.Key()] = true
	}
	for _, node := range nodes {
		p.hasten(node.ID)
	}
	p.hasten(slices.Concat(request.Inventory, request.Prune)...)
	return p, nil
}

// hasten has a pass that was asked for try resources again that failed.
func (p *pass) hasten(ids ...arm.ID) {
	if !p.request.Anew {
		return
	}
	for _, id := range ids {
		p.engine.memory.hasten(id.Key())
		p.engine.memory.hasten(id.Key() + readSuffix)
	}
}

// signal tells the pass that something it looks at has moved. Once the pass is over, it wakes the object.
func (p *pass) signal() {
	p.mu.Lock()
	over := p.over
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

// run evaluates until no write that the pass sent is unanswered, the grace is over, too many others wait, another graph is wanted or ctx ends. What
// an answer makes ready is started within the same pass.
func (p *pass) run(ids func() []arm.ID, evaluate func()) {
	expired := make(chan struct{})
	stop := p.engine.clock.AfterFunc(p.engine.options.Grace, func() { close(expired) })
	defer stop()
	waits := false
	defer func() {
		if waits {
			<-p.engine.patient
		}
	}()
	maxAge := p.engine.maxAge(p.request.Fresh)
	if p.patient && !p.request.Fresh {
		maxAge = 3 * p.engine.options.Freshness
	}
	ctx := observe.Only(p.ctx, func(id arm.ID) bool { return p.engine.memory.inPlace(id.Key()) })
	for {
		for key, found := range p.engine.reader.Read(ctx, p.request.Client, ids(), maxAge) {
			p.found[key] = found
		}
		p.readEvidence(maxAge)
		maxAge = max(maxAge, p.engine.options.Freshness)
		evaluate()
		if p.unanswered() == 0 {
			select {
			case <-p.changed:
				continue
			default:
				return
			}
		}
		if !waits {
			select {
			case p.engine.patient <- struct{}{}:
				waits = true
			default:
				return
			}
		}
		select {
		case <-p.changed:
		case <-expired:
			return
		case <-p.request.Outdated:
			return
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *pass) unanswered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending
}

// sent notes a write that was begun, answered one that Azure has answered.
func (p *pass) sent(id arm.ID, verb string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending++
	p.wrote[id.Key()] = verb
}

func (p *pass) answered() {
	p.mu.Lock()
	p.pending--
	p.mu.Unlock()
	p.signal()
}

// set stores the result for a resource and when to look again.
func (p *pass) set(result arm.Result, wait time.Duration) {
	p.results[result.ID.Key()] = result
	p.waits[result.ID.Key()] = wait
	p.engine.memory.place(result.ID.Key(), result.IsDone())
}

// wantOf is what a node of a graph wants, decoded.
func wantOf(graph *arm.Graph, node *arm.Node, row types.Type) (compare.Desired, error) {
	body, err := graph.DecodedBody(node)
	if err != nil {
		return compare.Desired{}, fmt.Errorf("%s: body: %w", node.ID, err)
	}
	return compare.Desired{Type: row, Body: body, OwnedPaths: node.OwnedPaths, DropTags: node.DropTags}, nil
}

// outcome ends the pass and puts the results together. From here on, what the pass waits for wakes the object.
func (p *pass) outcome(order []arm.ID) arm.Outcome {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	select {
	case <-p.changed:
		p.signal()
	default:
	}
	out := arm.Outcome{Changes: p.engine.news.take(p.request.Object)}
	for _, id := range order {
		result, ok := p.results[id.Key()]
		if !ok {
			continue
		}
		p.mu.Lock()
		result.SentMethod = p.wrote[id.Key()]
		p.mu.Unlock()
		out.Results = append(out.Results, result)
		wait := p.waits[id.Key()]
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
