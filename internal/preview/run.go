// Package preview computes the writes that the manager would send to Azure, without sending them: it runs the manager's controllers
// against an API server in memory and a simulated Azure until nothing changes any more, and records the writes to Azure.
//
// It has no decision of its own about Azure: the writes are those of the controllers. It blocks as long as it reads, writes nothing outside,
// and may be repeated.
package preview

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Options are the input of a plan.
type Options struct {
	// Objects are those at the beginning. Those without a UID are new: they pass admission, and get a UID. Others are stored as they are.
	Objects []client.Object
	// Live reads the live Azure; with nil Azure is empty.
	Live *overlay.Live
	// Identity selects the cloud and the tenancy, like the manager's.
	Identity identity.Options
	// Gates are the feature gates of the manager, in the form of its flag.
	Gates string
	// UncheckedASOKinds are the values of the manager's flag --unchecked-aso-kinds.
	UncheckedASOKinds []string
	// Play is called before each round to simulate Cluster API; nil does nothing.
	Play func(ctx context.Context, c client.Client) error
	// Progress is called after each round with the number of rounds and of writes; nil is not called.
	Progress func(rounds, writes int)
	// KeepObserving has a plan leave out the writes of observed objects, as the manager does. Otherwise it has the writes that the manager makes when
	// observing ends.
	KeepObserving bool
	// Catalogs are the SKU catalogs that several plans share; nil has the plan list them.
	Catalogs *facts.Catalogs
	// Warnings are remarks about objects of the input, which the plan shows on these objects.
	Warnings []Event
	// Now is the time at which the plan begins.
	Now time.Time
}

// Features returns the features of plans by the feature gates of the options.
func Features(o Options) (plan.Features, error) {
	options, err := (&run{options: o}).setupOptions()
	if err != nil {
		return plan.Features{}, err
	}
	return options.PlanFeatures(), nil
}

// Result is the result of a plan.
type Result struct {
	// Writes are the requests that change Azure, in their order.
	Writes []overlay.Write
	// Events are the messages of the controllers.
	Events []Event
	// Ended are the objects that were deleted, in that order, and Begun those that were created.
	Ended, Begun []client.Object
	// Kubernetes has the objects at the end.
	Kubernetes client.Client
	// Settled is false if the controllers still changed something when the plan gave up.
	Settled bool
	// Rounds is how often all objects were reconciled.
	Rounds int
	// Observed has the annotations that have objects observed, by kind and key of the object, as in "AzureCluster default/c1".
	Observed map[string][]string
	// Notes are remarks about facts that the plan does not know.
	Notes []string
	// Unanswered describes the reads that Azure did not answer; "" for none. Without the answers the plan is not complete.
	Unanswered string
}

// maxRounds bounds a plan that does not settle. A control plane of five machines needs about a hundred.
const maxRounds = 2000

// maxIdle is how long nothing may change, in the time of the plan, until it is complete. Failed writes are tried again within minutes.
const maxIdle = 15 * time.Minute

// minStep is the least time between two rounds of which the first has changed nothing.
const minStep = 5 * time.Second

// run is one plan.
type run struct {
	options Options
	server  *kubernetes.Server
	azure   *overlay.Azure
	clock   *clock
	manager *manager
	// turns has the positions of objects, in the order of their first reconciliations.
	turns map[string]int
	// last has the last reconciliation of each object by each controller: a kind may have two controllers.
	last map[reconcileKey]lastReconcile
	// changed counts the changes of objects.
	changed  int
	admit    *Admission
	progress progress
	// ended and begun are the objects that came and went. The first ones, as many as stored, are from the input.
	ended, begun []client.Object
	stored       int
	notes        []string
}

// reconcileKey names an object and a controller that reconciles it.
type reconcileKey struct {
	// controller is the position of the controller in the manager.
	controller int
	object     client.ObjectKey
}

// lastReconcile is the last time that a controller reconciled an object.
type lastReconcile struct {
	// changes is the result of countChanges before it.
	changes int
	// due is when the controller wants to reconcile the object again.
	due time.Time
}

// Compute computes a plan.
func Compute(ctx context.Context, o Options) (*Result, error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	p := &run{options: o, clock: newClock(o.Now), turns: map[string]int{}, last: map[reconcileKey]lastReconcile{}}
	var err error
	if p.server, err = kubernetes.New(p.recordChange); err != nil {
		return nil, err
	}
	setupOptions, err := p.setupOptions()
	if err != nil {
		return nil, err
	}
	if p.admit, err = NewAdmission(p.server, setupOptions.PlanFeatures()); err != nil {
		return nil, err
	}
	objects, annotated := o.Objects, []client.Object(nil)
	if !o.KeepObserving {
		objects, annotated = endObserving(o.Objects)
	}
	for _, object := range newLast(objects) {
		if err := p.storeObject(ctx, object); err != nil {
			return nil, err
		}
	}
	if err := p.addCredentials(ctx); err != nil {
		return nil, err
	}
	p.stored = len(p.begun)
	foreign, err := p.listForeignNetworks(ctx)
	if err != nil {
		return nil, err
	}
	if p.azure, err = overlay.New(overlay.Options{Subscriptions: listSubscriptions(o), Live: o.Live,
		Assumed: append(listAssumed(o.Objects), foreign...), Clock: p.clock.Virtual}); err != nil {
		return nil, err
	}
	defer func() { _ = p.azure.Close() }()
	p.manager = newManager(p.server)
	setupOptions.Transport = p.azure
	if err := setup.AddControllers(ctx, p.manager, setupOptions); err != nil {
		return nil, err
	}
	out := &Result{Kubernetes: p.server}
	out.Rounds, out.Settled, err = p.settle(ctx)
	out.Writes, out.Events, out.Ended, out.Begun = p.azure.Writes(), slices.Concat(o.Warnings, p.manager.events.events), p.ended, p.begun[p.stored:]
	out.Notes, out.Observed = p.notes, findObserved(annotated, slices.Concat(objects, p.begun))
	if out.Unanswered = describeUnanswered(p.azure.Unanswered()); out.Unanswered != "" {
		out.Notes = append(out.Notes, out.Unanswered)
	}
	return out, err
}

// describeUnanswered returns a note about the reads that Azure did not answer, by path.
func describeUnanswered(reasons map[string]string) string {
	if len(reasons) == 0 {
		return ""
	}
	path := slices.Min(slices.Collect(maps.Keys(reasons)))
	return fmt.Sprintf("Azure did not answer %d reads, so the plan is not complete. For example GET %s: %s", len(reasons), path,
		text.Truncate(strings.Join(strings.Fields(reasons[path]), " "), 500))
}

func (p *run) recordChange(ctx context.Context, before, after client.Object) {
	p.changed++
	p.progress.recordObject(ctx, before, after)
	switch {
	case after == nil:
		p.ended = append(p.ended, before)
	case before == nil:
		p.begun = append(p.begun, after)
	}
}

// storeObject stores one object of the input.
func (p *run) storeObject(ctx context.Context, object client.Object) error {
	object = object.DeepCopyObject().(client.Object)
	var err error
	if object.GetUID() == "" {
		object.SetResourceVersion("")
		err = p.admit.creator(p.server).Create(ctx, object)
	} else {
		err = p.server.Restore(object)
	}
	return err
}

// newLast returns objects with those that are new at the end: webhooks may read the others.
func newLast(objects []client.Object) []client.Object {
	out := slices.Clone(objects)
	slices.SortStableFunc(out, func(a, b client.Object) int {
		switch isNew, isOtherNew := a.GetUID() == "", b.GetUID() == ""; {
		case isNew == isOtherNew:
			return 0
		case isNew:
			return 1
		}
		return -1
	})
	return out
}

// setupOptions returns the options with which the manager adds its controllers.
func (p *run) setupOptions() (*setup.Options, error) {
	options := &setup.Options{}
	flags := pflag.NewFlagSet("plan", pflag.ContinueOnError)
	options.AddFlags(flags)
	if p.options.Gates != "" {
		if err := flags.Set("feature-gates", p.options.Gates); err != nil {
			return nil, err
		}
	}
	options.UncheckedASOKinds = p.options.UncheckedASOKinds
	if err := options.CheckUncheckedASOKinds(); err != nil {
		return nil, err
	}
	tenancy := options.Identity
	options.Identity = p.options.Identity
	if options.Identity.Tenancy == "" {
		options.Identity.Tenancy = tenancy.Tenancy
	}
	options.Identity.Credential = credential{}
	options.Clock, options.SkipNameValidation = p.clock, true
	workloads := fake.NewClientset()
	options.Plan = &setup.PreviewDependencies{Workload: func([]byte) (corev1client.ConfigMapsGetter, error) { return workloads.CoreV1(), nil },
		Catalogs: p.options.Catalogs}
	return options, nil
}

// credential has no meaning: the Azure of a plan accepts every request.
type credential struct{}

// GetToken implements azcore.TokenCredential.
func (credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "plan", ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}

// settle reconciles the objects again and again until nothing has changed for long enough.
func (p *run) settle(ctx context.Context) (rounds int, settled bool, err error) {
	idle := time.Duration(0)
	for rounds < maxRounds {
		before := p.progress.total()
		if p.options.Play != nil {
			if err := p.options.Play(ctx, p.admit.creator(p.server)); err != nil {
				return rounds, false, err
			}
		}
		next, err := p.reconcileAll(ctx)
		if err != nil {
			return rounds, false, err
		}
		rounds++
		writes := p.azure.Writes()
		p.progress.recordWrites(writes)
		if p.options.Progress != nil {
			p.options.Progress(rounds, len(writes))
		}
		if p.progress.total() != before {
			idle = 0
			p.clock.advance(time.Second)
			continue
		}
		if idle >= maxIdle {
			return rounds, true, nil
		}
		if due := p.clock.next(); due != nil {
			next = min(next, due.due.Sub(p.clock.Now()))
		}
		next = max(next, minStep)
		idle += next
		p.clock.advance(next)
	}
	return rounds, false, nil
}

// reconcileAll reconciles each object for which something may have changed, or that is due, and returns after which time the first has to be
// reconciled again. Errors of controllers are shown on their objects.
func (p *run) reconcileAll(ctx context.Context) (next time.Duration, err error) {
	next = maxIdle
	for at, c := range p.manager.controllers {
		keys, err := listKeys(ctx, p.server, c.kind)
		if err != nil {
			return 0, err
		}
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			due := p.reconcile(ctx, reconcileKey{at, key})
			next = min(next, due.Sub(p.clock.Now()))
		}
	}
	return next, nil
}

// reconcile reconciles an object, unless nothing has changed since it was reconciled and it is not due. It returns when it is due again.
func (p *run) reconcile(ctx context.Context, of reconcileKey) time.Time {
	now, changes := p.clock.Now(), p.countChanges()
	if last, was := p.last[of]; was && last.changes == changes && now.Before(last.due) {
		return last.due
	}
	after := maxIdle
	c := p.manager.controllers[of.controller]
	if result, err := c.Reconcile(p.withActor(ctx, c.kind+" "+of.object.String()), reconcile.Request{NamespacedName: of.object}); err != nil {
		after = time.Minute
	} else if result.RequeueAfter > 0 {
		after = min(after, result.RequeueAfter)
	}
	due := now.Add(after)
	p.last[of] = lastReconcile{changes: changes, due: due}
	return due
}

// countChanges counts the changes of objects and of Azure, and the timers that fired. A reconciliation depends on nothing else but the time: it
// ends when Azure has answered its writes, because the clock stands still meanwhile.
func (p *run) countChanges() int { return p.changed + p.azure.Changes() + p.clock.called }

// withActor returns the context of a reconciliation of an object.
func (p *run) withActor(ctx context.Context, object string) context.Context {
	turn, known := p.turns[object]
	if !known {
		turn = len(p.turns)
		p.turns[object] = turn
	}
	return overlay.WithActor(ctx, object, turn)
}
