package reconcile

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lastwrites"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// Services are shared by the runners of one manager.
type Services struct {
	Client client.Client
	Engine *engine.Engine
	Access *access.Opener
	// Facts reads the owners of resources that a plan with a lent identity names.
	Facts *facts.Facts
	// Recorder returns the event recorder of a controller with this name.
	Recorder func(name string) events.EventRecorder
	// Resync is the sync period: how long an object in order is left alone.
	Resync time.Duration
	// Now is the clock: it is compared with timestamps of objects.
	Now func() time.Time
	// Observe has all objects observed: nothing is written to Azure.
	Observe bool
	// WatchFilter is the required value of the label cluster.x-k8s.io/watch-filter; "" accepts all objects.
	WatchFilter string
	// Tracer records reconciliations; nil records none.
	Tracer *tracing.Tracer
	// Reads records when the resources of objects were last read from Azure; nil records nothing.
	Reads *metrics.Reads
	// Work counts reconciliations, failed status writes and observed changes in the metrics.
	Work metrics.Work
}

// Runner reconciles the objects of one kind. It is safe for concurrent use for different objects.
type Runner[O Object, I any] struct {
	Services
	loader      Loader[O, I]
	declaration Declaration
	// asksAzure is set for kinds with resources in Azure.
	asksAzure bool
	// reconcileObject is the part of a reconciliation after enter.
	reconcileObject func(context.Context, *reconciliation[O, I]) (resultKind, time.Duration, error)
	eventRecorder   events.EventRecorder
	eventLog        *eventlog.Recorder
	stability       *stable.Tracker
	wake            wakeSource
}

// NewAzureRunner returns the runner of a kind with resources in Azure.
func NewAzureRunner[O Object, I any, P PointerToInput[I]](services Services, kind Kind[O, I]) *Runner[O, I] {
	r := newRunner(services, kind, func(ctx context.Context, p *reconciliation[O, I]) (resultKind, time.Duration, error) {
		a := &azureReconciliation[O, I]{reconciliation: p, kind: kind, input: P(p.in)}
		p.deletionBlocker = a.deletionBlocker
		return a.reconcile(ctx)
	})
	r.asksAzure = true
	return r
}

// NewLocalRunner returns the runner of a kind without resources in Azure.
func NewLocalRunner[O Object, I any](services Services, kind LocalKind[O, I]) *Runner[O, I] {
	return newRunner(services, kind, func(ctx context.Context, p *reconciliation[O, I]) (resultKind, time.Duration, error) {
		if err := kind.LoadStatusInput(ctx, p.in); err != nil {
			return "", 0, err
		}
		return resultSettled, 0, kind.Report(p.in)
	})
}

func newRunner[O Object, I any](services Services, loader Loader[O, I],
	reconcileObject func(context.Context, *reconciliation[O, I]) (resultKind, time.Duration, error)) *Runner[O, I] {
	declared := loader.Declare()
	recorder := eventlog.NewBoundedRecorder(services.Recorder(strings.ToLower(declared.Name) + "-reconciler"))
	return &Runner[O, I]{
		Services: services, loader: loader, declaration: declared, reconcileObject: reconcileObject, eventRecorder: recorder,
		eventLog: eventlog.NewRecorder(recorder), stability: stable.NewTracker(services.Resync, services.Now),
	}
}

// SetupWithManager registers the controller.
func (r *Runner[O, I]) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	watches, err := r.declaration.WatchedObjects(ctx, mgr)
	if err != nil {
		return fmt.Errorf("%s controller: %w", r.declaration.Name, err)
	}
	log := ctrl.LoggerFrom(ctx)
	if woken, ok := r.loader.(WokenKind); ok {
		woken.WakeWith(func(key client.ObjectKey) { r.wake.wakeFunc(key)() })
	}
	own := watch.OwnChanges()
	if r.declaration.ExternallyManageable {
		if !patch.HasReadiness(newObject[O]()) {
			return fmt.Errorf("%s controller: other managers may reconcile its objects, and their readiness by contract v1beta1 is not known",
				r.declaration.Name)
		}
		own = excludeExternallyManaged(own)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(newObject[O](), builder.WithPredicates(own)).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		WatchesRawSource(r.wake.eventSource())
	if users := r.declaration.IdentityUsers; users != nil {
		b = b.Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(users.MapIdentity),
			builder.WithPredicates(watch.IdentityChanges())).
			Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(users.MapSecret), builder.OnlyMetadata)
	}
	if r.asksAzure {
		namespaces, err := r.namespaceSource(mgr)
		if err != nil {
			return fmt.Errorf("%s controller: %w", r.declaration.Name, err)
		}
		b = b.WatchesRawSource(namespaces)
	}
	for _, w := range watches {
		wakes := w.Predicates
		if _, isCluster := w.Object.(*clusterv1.Cluster); isCluster && r.asksAzure {
			wakes = []predicate.Predicate{predicate.Or(predicate.And(wakes...), watch.ModeChanges())}
		}
		options := []builder.WatchesOption{builder.WithPredicates(wakes...)}
		if w.MetadataOnly {
			options = append(options, builder.OnlyMetadata)
		}
		b = b.Watches(w.Object, handler.EnqueueRequestsFromMapFunc(w.MapFunc), options...)
	}
	if err := b.Complete(lastwrites.Guard(r.Client, r.declaration.Name, newObject[O](), r)); err != nil {
		return fmt.Errorf("%s controller: %w", r.declaration.Name, err)
	}
	return nil
}

// Reconcile reconciles one object. The object shows every error that is returned, except those that eventlog.IsFailure excludes and
// those of an object that could not be read or is gone.
func (r *Runner[O, I]) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	var p *reconciliation[O, I]
	begun := r.Now()
	ended := resultNothing
	ctx, span := r.Tracer.StartReconciliation(ctx,
		tracing.Reconciliation{Kind: r.declaration.Name, Namespace: request.Namespace, Name: request.Name})
	defer func() {
		r.recordMetrics(begun, ended, err)
		r.recordRead(request.NamespacedName, p, ended, err)
		r.Tracer.EndReconciliation(span, string(ended), err)
	}()
	p, after, err := r.loadObject(ctx, request)
	if p == nil {
		return ctrl.Result{RequeueAfter: after}, err
	}
	if err == nil {
		ended, result, err = p.run(ctx)
	}
	if err != nil {
		p.showFailure(ctx, err)
	}
	return result, err
}

// run enters the reconciliation, does its work and writes the result. It sets p.failureShown when the object shows the returned error.
func (p *reconciliation[O, I]) run(ctx context.Context) (ended resultKind, result ctrl.Result, err error) {
	wasPaused := conditions.IsTrue(p.object, clusterv1.PausedCondition)
	entering, span := tracing.StartStage(ctx, "enter")
	p.changes, result, err = lifecycle.Enter(entering, p.Client, p.target.Cluster, p.object, p.declaration.Finalizer)
	endStage(span, err)
	if conditions.IsTrue(p.object, clusterv1.PausedCondition) {
		p.Work.ForgetObserved(p.declaration.Name, p.key.String())
		// Others may change everything during a pause, as backups do that restore objects without owners.
		p.stability.Forget(p.key)
	}
	if err == nil && p.declaration.Dependents != nil {
		paused := annotations.IsPaused(p.target.Cluster, p.object)
		if paused || wasPaused {
			err = p.showPauseInDependents(ctx)
		}
		if paused {
			return resultNothing, result, err
		}
	}
	if err != nil || p.changes == nil {
		return resultNothing, result, err
	}
	p.recording = p.eventLog.StartRecording(ctx, p.object)
	ended, result.RequeueAfter, err = p.applyStopReason(ctx)
	result.RequeueAfter = boundBy(result.RequeueAfter, p.Now(), p.changesAt)
	if eventlog.IsFailure(ctx, err) && !p.isStatusError(err) {
		p.reportFailure(err)
	}
	p.recordResult()
	if err = p.writeChanges(ctx, err); err != nil {
		return ended, ctrl.Result{}, err
	}
	return ended, result, nil
}

// nameInEngine returns the name of an object in requests to the engine.
func (r *Runner[O, I]) nameInEngine(key client.ObjectKey) string {
	return r.declaration.Name + "/" + key.String()
}

// newObject returns an empty object of a kind.
func newObject[O Object]() O { return reflect.New(reflect.TypeFor[O]().Elem()).Interface().(O) }

// loadObject reads the object and the objects that it belongs to. It returns nil if there is nothing to do, and when to try again; 0 means
// that an event wakes the object. If the object is read and a related object is not, it returns both a reconciliation and the error.
func (r *Runner[O, I]) loadObject(ctx context.Context, request ctrl.Request) (p *reconciliation[O, I], after time.Duration, err error) {
	p = &reconciliation[O, I]{Runner: r, key: request.NamespacedName, object: newObject[O]()}
	if err := r.Client.Get(ctx, p.key, p.object); err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, 0, fmt.Errorf("get %s %s: %w", r.declaration.Name, p.key, err)
		}
		p.forgetObject()
		if err := p.releaseDependents(ctx); err != nil || r.declaration.IdentityUsers == nil {
			return nil, 0, err
		}
		// Its finalizer may have been removed by hand, which leaves its finalizer on the identity.
		return nil, 0, r.Access.RemoveFinalizers(ctx, r.declaration.Finalizer, p.key)
	}
	if !watch.MatchesFilter(p.object, r.WatchFilter) {
		// Another manager reconciles it, or did so while this one had a request for it in its queue.
		p.forgetObject()
		return nil, 0, nil
	}
	if r.declaration.ExternallyManageable && annotations.IsExternallyManaged(p.object) {
		return nil, 0, p.translateExternalReady(ctx)
	}
	ctx, span := tracing.StartStage(ctx, "load")
	p.in, p.target, err = r.loader.Load(ctx, p.object)
	endStage(span, err)
	if v := stopReasonOf(err); v != nil {
		if v.eventReason != "" {
			after, err = p.reportMissingOwner(ctx, v)
			return nil, after, err
		}
		return nil, 0, nil
	}
	if err != nil {
		return p, 0, fmt.Errorf("%s %s: %w", r.declaration.Name, p.key, err)
	}
	return p, 0, nil
}

// forgetObject drops everything that the manager remembers of an object that is gone or that another manager reconciles.
func (p *reconciliation[O, I]) forgetObject() {
	p.stability.Forget(p.key)
	p.Work.ForgetObserved(p.declaration.Name, p.key.String())
	p.Reads.Forget(p.declaration.Name, p.key.String())
	p.eventLog.Forget(p.object, p.key)
	if p.asksAzure {
		p.Engine.ForgetObject(p.nameInEngine(p.key))
	}
}
