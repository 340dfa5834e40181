package setup

import (
	"context"
	"fmt"
	"slices"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurecluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureclusteridentity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurejson"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinetemplate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/credentialsecret"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/queue"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// shared has the services that the controllers of one manager share.
type shared struct {
	mgr     ctrl.Manager
	options *Options
	engine  *engine.Engine
	access  *access.Opener
	facts   *facts.Facts
	tracer  *tracing.Tracer
	reads   *metrics.Reads
	work    metrics.Work
	// recorder returns the event recorder of a controller with this name.
	recorder func(name string) events.EventRecorder
	clock    engine.Clock
}

func newShared(mgr ctrl.Manager, o *Options) (*shared, error) {
	tracer, err := o.startTracing(mgr)
	if err != nil {
		return nil, err
	}
	// A plan counts nothing, and must not replace the metrics of a manager in the same process.
	work := metrics.Work{Uncounted: o.Plan != nil}
	armEngine := engine.New(engine.Options{Log: mgr.GetLogger().WithName("engine"), Clock: o.Clock,
		Hooks: work.EngineHooks().WithTracer(tracer), MaxConfirmedAge: o.fullSyncPeriod(),
		RepeatPeriod: 12 * o.SyncPeriod})
	if err := mgr.Add(armEngine); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	clock := o.Clock
	if clock == nil {
		clock = engine.SystemClock{}
	}
	tokens := o.Identity
	// The client reads Secrets and their metadata from the API server; the cache has the watched metadata.
	tokens.Transport, tokens.Now, tokens.Secrets = o.Transport, clock.Now, mgr.GetCache()
	tokens.FormerNamespace = o.leaseNamespace()
	budgets, reads := o.requestBudgets(), metrics.NewReads()
	out := &shared{
		mgr: mgr, options: o, engine: armEngine, tracer: tracer, reads: reads, work: work,
		access: &access.Opener{
			Client:     mgr.GetClient(),
			APIReader:  mgr.GetAPIReader(),
			Identities: identity.New(mgr.GetClient(), tokens),
			Clients: identity.NewClients(armclient.Options{Version: o.Version, Transport: o.Transport, Budgets: budgets,
				OnRequestEnd: work.CountRequest}),
		},
		facts: facts.New(facts.Options{Read: facts.ReadThrough(armEngine), Unchanged: facts.UnchangedIn(armEngine), Now: clock.Now, TTL: o.SyncPeriod,
			Wait: o.Plan != nil, Catalogs: o.catalogs()}),
		clock: clock,
	}
	if out.recorder, err = o.startEvents(mgr); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	if !work.Uncounted {
		metrics.WatchOperations(armEngine.OperationAges)
		metrics.WatchBudgets(budgets)
		metrics.WatchReads(reads)
		out.watchObjects()
	}
	return out, nil
}

// runnerServices returns the services that the runners of all kinds share.
func (s *shared) runnerServices() reconcile.Services {
	return reconcile.Services{
		Client: s.mgr.GetClient(), Engine: s.engine, Access: s.access, Facts: s.facts, Recorder: s.recorder,
		Now: s.clock.Now, Resync: s.options.SyncPeriod, Observe: s.options.Observe, WatchFilter: s.options.WatchFilter, Tracer: s.tracer,
		Reads: s.reads, Work: s.work,
	}
}

// controllerOptions returns the options of a controller with that number of workers.
func (s *shared) controllerOptions(n int) controller.Options {
	return controller.Options{MaxConcurrentReconciles: n, NewQueue: queue.New(s.clock)}
}

// setupSelfManaged registers the controllers of clusters on virtual machines, and the controller of identities, which all kinds use.
func (s *shared) setupSelfManaged(ctx context.Context) error {
	mgr, o, gates := s.mgr, s.options, s.options.PlanFeatures()
	network := &azurecluster.Kind{Client: mgr.GetClient(), Facts: s.facts, Features: gates}
	if err := reconcile.NewAzureRunner(s.runnerServices(), network).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	machines := &azuremachine.Kind{Client: mgr.GetClient(), Facts: s.facts, Features: gates, Secrets: mgr.GetCache()}
	if err := reconcile.NewAzureRunner(s.runnerServices(), machines).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureMachineConcurrency)); err != nil {
		return err
	}
	if err := (&azuremachinetemplate.Reconciler{
		Client: mgr.GetClient(), Recorder: s.recorder("azuremachinetemplate-reconciler"), Access: s.access,
		Facts: s.facts, WatchFilter: o.WatchFilter, Work: s.work,
	}).SetupWithManager(ctx, mgr, s.controllerOptions(o.AzureMachineConcurrency)); err != nil {
		return fmt.Errorf("AzureMachineTemplate controller: %w", err)
	}
	identities := &azureclusteridentity.Kind{Client: mgr.GetClient(), Identities: s.access.Identities}
	if err := reconcile.NewLocalRunner(s.runnerServices(), identities).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	credentials := &credentialsecret.Reconciler{
		Client: mgr.GetClient(), Recorder: eventlog.NewBoundedRecorder(s.recorder("credential-reconciler")),
		Identities: s.access.Identities, ASOResources: s.hasASOKinds(),
	}
	if err := credentials.SetupWithManager(mgr, s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	if err := (&azurejson.Reconciler{
		Client: mgr.GetClient(), Recorder: s.recorder("azurejson-reconciler"), Access: s.access, Facts: s.facts,
		Features: gates, WatchFilter: o.WatchFilter, Secrets: mgr.GetCache(), Now: s.clock.Now,
	}).SetupWithManager(ctx, mgr, s.controllerOptions(o.AzureMachineConcurrency), azurejson.Kinds{
		Machines: !slices.Contains(o.DisabledControllers, disableAzureJSONMachine), Pools: o.Gates.Enabled(gateMachinePool),
	}); err != nil {
		return fmt.Errorf("azure.json controllers: %w", err)
	}
	return nil
}

// setupMachinePools registers the controllers of scale sets and of AKS clusters. All their pools are MachinePools, so they need Cluster API's
// feature gate MachinePool.
func (s *shared) setupMachinePools(ctx context.Context) error {
	mgr, o := s.mgr, s.options
	if !o.Gates.Enabled(gateMachinePool) {
		return nil
	}
	clusters := &azuremanagedcluster.Kind{Client: mgr.GetClient()}
	if err := reconcile.NewLocalRunner(s.runnerServices(), clusters).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	controlPlanes := &azuremanagedcontrolplane.Kind{
		Client: mgr.GetClient(), Facts: s.facts, Workload: o.workloadClient(), ResourceHealth: o.Gates.Enabled(gateAKSResourceHealth),
	}
	if err := reconcile.NewAzureRunner(s.runnerServices(), controlPlanes).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	if err := s.setupASOKinds(ctx); err != nil {
		return err
	}
	scaleSets := &azuremachinepool.Kind{Client: mgr.GetClient(), Engine: s.engine, Facts: s.facts, Features: o.PlanFeatures(),
		Secrets: mgr.GetCache(), PlaceholderData: o.Plan != nil}
	if err := reconcile.NewAzureRunner(s.runnerServices(), scaleSets).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureMachinePoolConcurrency)); err != nil {
		return err
	}
	pools := &azuremanagedmachinepool.Kind{Client: mgr.GetClient(), Engine: s.engine, Facts: s.facts}
	return reconcile.NewAzureRunner(s.runnerServices(), pools).SetupWithManager(ctx, mgr, s.controllerOptions(o.AzureMachinePoolConcurrency))
}

// setupASOKinds registers the controllers of AKS clusters that consist of resource manifests.
func (s *shared) setupASOKinds(ctx context.Context) error {
	mgr, o := s.mgr, s.options
	if !s.hasASOKinds() {
		return nil
	}
	clusters := &azureasomanagedcluster.Kind{Client: mgr.GetClient(), Facts: s.facts, Features: o.PlanFeatures()}
	if err := reconcile.NewAzureRunner(s.runnerServices(), clusters).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	controlPlanes := &azureasomanagedcontrolplane.Kind{Client: mgr.GetClient(), Facts: s.facts, Features: o.PlanFeatures()}
	if err := reconcile.NewAzureRunner(s.runnerServices(), controlPlanes).SetupWithManager(ctx, mgr,
		s.controllerOptions(o.AzureClusterConcurrency)); err != nil {
		return err
	}
	pools := &azureasomanagedmachinepool.Kind{Client: mgr.GetClient(), Engine: s.engine, Facts: s.facts, Features: o.PlanFeatures()}
	return reconcile.NewAzureRunner(s.runnerServices(), pools).SetupWithManager(ctx, mgr, s.controllerOptions(o.AzureMachinePoolConcurrency))
}

// hasASOKinds returns true if the controllers of kinds with resource manifests run.
func (s *shared) hasASOKinds() bool {
	return s.options.Gates.Enabled(gateMachinePool) && s.options.Gates.Enabled(gateASOAPI)
}

// newWorkloadClient returns a client for the ConfigMaps of a workload cluster.
func newWorkloadClient(kubeconfig []byte) (corev1client.ConfigMapsGetter, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		// The cause may quote the kubeconfig.
		return nil, fmt.Errorf("the kubeconfig cannot be used")
	}
	return corev1client.NewForConfig(config)
}
