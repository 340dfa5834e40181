package reconcile

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/wake"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// Services are what the runners of one manager share.
type Services struct {
	Client client.Client
	Engine *engine.Engine
	Access *access.Gate
	// Facts reads whose the resources are that a plan with a lent identity names.
	Facts *facts.Facts
	// Recorder is the recorder of events of a controller with this name.
	Recorder func(name string) events.EventRecorder
	// Resync is how long an object found in order is left alone.
	Resync time.Duration
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; "" is all.
	WatchFilter string
}

// Runner runs the passes of one kind. It is safe for concurrent use for different objects.
type Runner[O Object, I any] struct {
	Services
	loader   Loader[O, I]
	declared Declaration
	// asks tells that passes ask Azure as an identity.
	asks bool
	// work is what a pass does once it has been entered.
	work     func(context.Context, *pass[O, I]) (outcome, time.Duration, error)
	recorder events.EventRecorder
	teller   *eventlog.Teller
	settled  *stable.Memory
	wake     wake.Source
	written  patch.Written
}

// New makes the runner of a kind that has something in Azure.
func New[O Object, I any](services Services, kind Kind[O, I]) *Runner[O, I] {
	r := newRunner(services, kind, func(ctx context.Context, p *pass[O, I]) (outcome, time.Duration, error) {
		a := &azure[O, I]{pass: p, kind: kind}
		p.held = a.heldUp
		return a.work(ctx)
	})
	r.asks = true
	return r
}

// NewLocal makes the runner of a kind that has nothing in Azure.
func NewLocal[O Object, I any](services Services, kind Local[O, I]) *Runner[O, I] {
	return newRunner(services, kind, func(ctx context.Context, p *pass[O, I]) (outcome, time.Duration, error) {
		return settles, 0, kind.Show(ctx, p.in)
	})
}

func newRunner[O Object, I any](services Services, loader Loader[O, I], work func(context.Context, *pass[O, I]) (outcome, time.Duration, error)) *Runner[O, I] {
	declared := loader.Declare()
	recorder := eventlog.Bounded(services.Recorder(strings.ToLower(declared.Name) + "-reconciler"))
	return &Runner[O, I]{
		Services: services, loader: loader, declared: declared, work: work, recorder: recorder,
		teller: eventlog.New(recorder), settled: stable.New(services.Resync, time.Now),
	}
}

// SetupWithManager registers the controller.
func (r *Runner[O, I]) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	watches, err := r.loader.Watches(ctx, mgr)
	if err != nil {
		return fmt.Errorf("%s controller: %w", r.declared.Name, err)
	}
	log := ctrl.LoggerFrom(ctx)
	own := watch.Own()
	if r.declared.Manageable {
		own = managedHere(own)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(r.loader.New(), builder.WithPredicates(own)).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		WatchesRawSource(r.wake.Source())
	if users := r.declared.Users; users != nil {
		b = b.Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(users.OfIdentity), builder.WithPredicates(watch.Identity())).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(users.OfSecret), builder.OnlyMetadata)
	}
	if r.asks {
		namespaces, err := r.namespaces(mgr)
		if err != nil {
			return fmt.Errorf("%s controller: %w", r.declared.Name, err)
		}
		b = b.WatchesRawSource(namespaces)
	}
	for _, w := range watches {
		options := []builder.WatchesOption{builder.WithPredicates(w.Predicates...)}
		if w.MetadataOnly {
			options = append(options, builder.OnlyMetadata)
		}
		b = b.Watches(w.Object, handler.EnqueueRequestsFromMapFunc(w.Wakes), options...)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("%s controller: %w", r.declared.Name, err)
	}
	return nil
}

// Reconcile does one pass over one object. Every error that it returns is shown on the object, but those that IsFailure of package story
// leaves out, and those of an object that could not be read or is gone.
func (r *Runner[O, I]) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	begun := time.Now()
	ended := nothing
	defer func() { r.measure(begun, ended, err) }()
	p, err := r.load(ctx, request)
	if p == nil {
		return ctrl.Result{}, err
	}
	if err == nil {
		ended, result, err = p.run(ctx)
	}
	if err != nil {
		p.showFailure(ctx, err)
	}
	return result, err
}

// run enters the pass, does its work and writes what it found. It sets p.shown when the object shows the error that it returns.
func (p *pass[O, I]) run(ctx context.Context) (ended outcome, result ctrl.Result, err error) {
	p.changes, result, err = lifecycle.Enter(ctx, p.Client, &p.written, p.subject.Cluster, p.object, p.declared.Finalizer)
	if kind, ok := p.loader.(Pausing[I]); ok && err == nil && annotations.IsPaused(p.subject.Cluster, p.object) {
		return nothing, result, kind.Paused(ctx, p.in)
	}
	if err != nil || p.changes == nil {
		return nothing, result, err
	}
	p.story = p.teller.Begin(ctx, p.object)
	ended, result.RequeueAfter, err = p.judge(ctx)
	if eventlog.IsFailure(ctx, err) && !p.ofStatus(err) {
		p.fail(err)
	}
	p.end()
	if err = p.write(ctx, err); err != nil {
		return ended, ctrl.Result{}, err
	}
	return ended, result, nil
}

// load reads the object and what it belongs to. It returns nil when there is nothing to do, and a pass with the error that kept it from
// reading what the object belongs to.
func (r *Runner[O, I]) load(ctx context.Context, request ctrl.Request) (*pass[O, I], error) {
	p := &pass[O, I]{Runner: r, key: request.NamespacedName, object: r.loader.New()}
	if err := r.Client.Get(ctx, p.key, p.object); err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("get %s %s: %w", r.declared.Name, p.key, err)
		}
		r.settled.Forget(p.key)
		r.written.Gone(p.key)
		r.teller.Forget(p.object, p.key)
		if r.declared.Users == nil {
			return nil, nil
		}
		// Somebody may have taken its finalizer off, and its name on the identity with nobody to remove it.
		return nil, r.Access.Release(ctx, r.declared.Finalizer, p.key)
	}
	if r.declared.Manageable && annotations.IsExternallyManaged(p.object) {
		return nil, p.hear(ctx)
	}
	var err error
	p.in, p.subject, err = r.loader.Load(ctx, p.object)
	if v := verdictOf(err); v != nil {
		if v.event != "" {
			r.recorder.Eventf(p.object, nil, corev1.EventTypeNormal, v.event, "Reconcile", "%s", v.says.Message)
		}
		return nil, nil
	}
	if err != nil {
		return p, fmt.Errorf("%s %s: %w", r.declared.Name, p.key, err)
	}
	return p, nil
}
