// Package setup is the composition root: it makes the manager and puts scheme, engine, identities, facts, webhooks and
// controllers together. It is the only place that knows all of them.
package setup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurecluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureclusteridentity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurejson"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(clusterv1.AddToScheme(scheme))
	utilruntime.Must(infrav1.AddToScheme(scheme))
	return scheme
}

// Run starts the manager and returns when ctx ends or something cannot go on.
func Run(ctx context.Context, config *rest.Config, o *Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	config.QPS, config.Burst = o.KubernetesQPS, o.KubernetesBurst
	config.UserAgent = "cluster-api-provider-azure/" + o.Version
	options, err := o.managerOptions()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := webhook.SetupWithManager(mgr, features(o.Gates)); err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	if err := controllers(ctx, mgr, o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// controllers makes the parts that all controllers share, and the controllers.
func controllers(ctx context.Context, mgr ctrl.Manager, o *Options) error {
	armEngine := engine.New(engine.Options{Log: mgr.GetLogger().WithName("engine"), Clock: o.Clock})
	if err := mgr.Add(armEngine); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	tokens := o.Identity
	tokens.Transport = o.Transport
	gate := &access.Gate{
		Kubernetes: mgr.GetClient(),
		Identities: identity.New(mgr.GetClient(), tokens),
		Clients:    identity.NewClients(armclient.Options{Version: o.Version, Transport: o.Transport, Budgets: armclient.NewBudgets(time.Now)}),
	}
	questions := facts.New(facts.Options{Read: sharedRead(armEngine), Now: time.Now})
	gates := features(o.Gates)
	concurrency := func(n int) controller.Options { return controller.Options{MaxConcurrentReconciles: n} }

	if err := (&azurecluster.Reconciler{
		Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("azurecluster-reconciler"), Engine: armEngine, Access: gate,
		Facts: questions, Features: gates, Resync: o.SyncPeriod, WatchFilter: o.WatchFilter,
	}).SetupWithManager(ctx, mgr, concurrency(o.AzureClusterConcurrency)); err != nil {
		return fmt.Errorf("AzureCluster controller: %w", err)
	}
	if err := (&azuremachine.Reconciler{
		Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("azuremachine-reconciler"), Engine: armEngine, Access: gate,
		Facts: questions, Features: gates, Resync: o.SyncPeriod, WatchFilter: o.WatchFilter,
	}).SetupWithManager(ctx, mgr, concurrency(o.AzureMachineConcurrency)); err != nil {
		return fmt.Errorf("AzureMachine controller: %w", err)
	}
	if err := (&azureclusteridentity.Reconciler{
		Client: mgr.GetClient(), Identities: gate.Identities, WatchFilter: o.WatchFilter,
	}).SetupWithManager(ctx, mgr, concurrency(o.AzureClusterConcurrency)); err != nil {
		return fmt.Errorf("AzureClusterIdentity controller: %w", err)
	}
	if err := (&azurejson.Reconciler{
		Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("azurejson-reconciler"), Access: gate, Facts: questions,
		Features: gates, WatchFilter: o.WatchFilter,
	}).SetupWithManager(ctx, mgr, concurrency(o.AzureMachineConcurrency), !slices.Contains(o.DisabledControllers, disableAzureJSONMachine)); err != nil {
		return fmt.Errorf("azure.json controllers: %w", err)
	}
	return nil
}
