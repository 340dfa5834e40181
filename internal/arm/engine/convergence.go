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

// Codes of errors that the engine itself detects.
const (
	// CodeNotOwned means that a foreign resource has the planned name.
	CodeNotOwned = "ResourceNotOwned"
	// CodeOwnershipTagRemoved means that a resource created for the object has no ownership tag any more, and no other proof of
	// ownership exists.
	CodeOwnershipTagRemoved = "OwnershipTagLost"
	// CodeMissing means that a bring-your-own resource does not exist.
	CodeMissing = "ResourceNotFound"
	// CodeProvisioningFailed means that a resource is in the state Failed and Azure's reason is not known.
	CodeProvisioningFailed = operate.CodeProvisioningFailed
)

// convergence is one call of Converge or Delete.
type convergence struct {
	engine  *Engine
	ctx     context.Context
	request Request
	nodes   []*arm.Node

	// found holds the observed resources, by ID key.
	found map[string]observe.Observation
	// results and retryAfter, the time until the next try, are by ID key, too.
	results    map[string]arm.Result
	retryAfter map[string]time.Duration
	// inventory is the inventory of the request with the additions and removals of this convergence.
	inventory       map[string]arm.ID
	storedInventory map[string]bool // the inventory of the request, which is stored already
	// adopted holds resources adopted now or before, ignored the inventory entries that do not count, ownedUntagged the resources that
	// are owned without a tag.
	adopted, ignored map[string]arm.ID
	ownedUntagged    map[string]bool
	// migrated holds the keys of Request.Migrated.
	migrated map[string]bool
	// record holds the resources of Request.Record: they were seen as the object's own.
	record map[string]bool

	// reusesReads lets convergences use older reads: operations wake them often, and resources in place need not be read each time.
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
		return nil, fmt.Errorf("the request has no client")
	}
	if request.Owner.TagKey == "" {
		return nil, fmt.Errorf("the request has no ownership tag")
	}
	request.BypassCache = request.BypassCache || request.RetryNow
	c := &convergence{
		engine:  e,
		ctx:     ctx,
		request: request,
		nodes:   nodes,

		found:           map[string]observe.Observation{},
		results:         map[string]arm.Result{},
		retryAfter:      map[string]time.Duration{},
		inventory:       map[string]arm.ID{},
		storedInventory: map[string]bool{},
		adopted:         map[string]arm.ID{},
		ignored:         map[string]arm.ID{},
		ownedUntagged:   map[string]bool{},
		migrated:        map[string]bool{},
		record:          map[string]bool{},

		changed:      make(chan struct{}, 1),
		requestSlots: make(chan struct{}, e.options.MaxParallel),
		sentMethods:  map[string]string{},
	}
	for _, id := range request.Inventory {
		if !c.mayBeInInventory(id) {
			c.ignored[id.Key()] = id
			continue
		}
		c.inventory[id.Key()] = id
		c.storedInventory[id.Key()] = true
	}
	for _, id := range request.Adopted {
		c.adopted[id.Key()] = id
	}
	for _, id := range request.Record {
		c.record[id.Key()] = true
	}
	for _, id := range request.Migrated {
		c.migrated[id.Key()] = true
	}
	for _, id := range request.OwnedUntagged {
		c.ownedUntagged[id.Key()] = true
	}
	for _, node := range nodes {
		c.retryNow(node.ID)
	}
	c.retryNow(slices.Concat(request.Inventory, request.Prune)...)
	return c, nil
}

// retryNow makes failures of the resources due if the request asks for a retry.
func (c *convergence) retryNow(ids ...arm.ID) {
	if !c.request.RetryNow {
		return
	}
	for _, id := range ids {
		for _, key := range []string{id.Key(), id.Key() + readSuffix} {
			c.engine.states.update(key, func(state *resourceState) { state.retry.makeDue(c.engine.clock.Now()) })
		}
	}
}

// notifyChange starts another round of the convergence because a resource has changed. After the convergence it wakes the object.
func (c *convergence) notifyChange() {
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if ended {
		if c.request.Wake != nil {
			c.request.Wake()
		}
		return
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// evaluateUntilAnswered reads and evaluates until all writes that were sent are answered. It stops earlier when AnswerWait is over, too
// many other convergences wait, the request is superseded, or ctx ends. A write that an answer makes possible is sent within the same
// convergence.
func (c *convergence) evaluateUntilAnswered(ids func() []arm.ID, evaluate func()) {
	expired := make(chan struct{})
	stop := c.engine.clock.AfterFunc(c.engine.options.AnswerWait, func() { close(expired) })
	defer stop()
	holdsSlot := false
	defer func() {
		if holdsSlot {
			<-c.engine.waitSlots
		}
	}()
	maxAge := c.engine.maxReadAge(c.request.BypassCache)
	if c.reusesReads && !c.request.BypassCache {
		maxAge = 3 * c.engine.options.Freshness
	}
	options := c.request.Read
	options.ReuseOnly = func(id arm.ID) bool { return c.engine.states.get(id.Key()).alignment.wasInPlace() }
	for {
		for key, found := range c.engine.reader.Read(c.ctx, c.request.Client, ids(), maxAge, options) {
			c.found[key] = found
		}
		c.readEvidence(maxAge)
		maxAge = max(maxAge, c.engine.options.Freshness)
		evaluate()
		if c.countPendingWrites() == 0 {
			select {
			case <-c.changed:
				continue
			default:
				return
			}
		}
		if !holdsSlot {
			select {
			case c.engine.waitSlots <- struct{}{}:
				holdsSlot = true
			default:
				return
			}
		}
		if !c.waitForChange(expired) {
			return
		}
	}
}

// waitForChange waits for the next answer, and returns false if the convergence has to end. An end that has come takes precedence over an answer, so
// that the same events have the same effects.
func (c *convergence) waitForChange(expired <-chan struct{}) bool {
	select {
	case <-expired:
		return false
	case <-c.request.Superseded:
		return false
	case <-c.ctx.Done():
		return false
	default:
	}
	select {
	case <-c.changed:
		return true
	case <-expired:
	case <-c.request.Superseded:
	case <-c.ctx.Done():
	}
	return false
}

func (c *convergence) countPendingWrites() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pendingWrites
}

// recordSent records the start of a write. recordAnswered records Azure's answer to one.
func (c *convergence) recordSent(id arm.ID, method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pendingWrites++
	c.sentMethods[id.Key()] = method
}

func (c *convergence) recordAnswered() {
	c.mu.Lock()
	c.pendingWrites--
	c.mu.Unlock()
	c.notifyChange()
}

// setResult stores the result of a resource and the time until the next try.
func (c *convergence) setResult(result arm.Result, wait time.Duration) {
	c.results[result.ID.Key()] = result
	c.retryAfter[result.ID.Key()] = wait
	c.engine.states.update(result.ID.Key(), func(state *resourceState) { state.alignment.inPlace = result.IsDone() && result.IntendedMethod == "" })
}

// desiredOf returns the decoded desired state of a node.
func desiredOf(graph *arm.Graph, node *arm.Node, row types.Type) (compare.Desired, error) {
	body, err := graph.DecodedBody(node)
	if err != nil {
		return compare.Desired{}, fmt.Errorf("%s: body: %w", node.ID, err)
	}
	return compare.Desired{Type: row, Body: body, OwnedPaths: node.OwnedPaths, DropTags: node.DropTags}, nil
}

// buildOutcome ends the convergence and collects its results. From then on, changes wake the object.
func (c *convergence) buildOutcome(order []arm.ID) arm.Outcome {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	select {
	case <-c.changed:
		c.notifyChange()
	default:
	}
	var out arm.Outcome
	out.Changes, _ = c.engine.changes.Take(c.request.Object)
	for _, id := range order {
		result, ok := c.results[id.Key()]
		if !ok {
			continue
		}
		c.mu.Lock()
		result.SentMethod = c.sentMethods[id.Key()]
		c.mu.Unlock()
		out.Results = append(out.Results, result)
		wait := c.retryAfter[id.Key()]
		if wait > 0 && (out.RetryAfter == 0 || wait < out.RetryAfter) {
			out.RetryAfter = wait
		}
	}
	out.Inventory, out.Adopted, out.IgnoredInventory = sortedIDs(c.inventory), sortedIDs(c.adopted), sortedIDs(c.ignored)
	return out
}

func sortedIDs(ids map[string]arm.ID) []arm.ID {
	return slices.SortedFunc(maps.Values(ids), func(a, b arm.ID) int { return strings.Compare(a.Key(), b.Key()) })
}
