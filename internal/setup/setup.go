// Package setup is the composition root: it creates the manager with its scheme, engine, identities, facts, webhooks and
// controllers. No other package imports all of them.
package setup

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
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

// Run runs the manager until ctx ends or an error stops it.
func Run(ctx context.Context, config *rest.Config, o *Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	for _, set := range o.withoutEffect() {
		ctrl.Log.WithName("setup").Info("Accepted and without effect", "set", set)
	}
	o.settleTenancy(ctrl.Log.WithName("setup"))
	config.QPS, config.Burst = o.KubernetesQPS, o.KubernetesBurst
	config.UserAgent = "cluster-api-provider-azure/" + o.Version
	options, tlsOptions, err := o.managerOptions()
	if err != nil {
		return err
	}
	if err := o.recordFormerOnce(ctx, config, options.Scheme); err != nil {
		return fmt.Errorf("credentials that were in use before the upgrade: %w", err)
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if o.Diagnostics.ProfilerAddress != "" {
		profiles, err := metricsserver.NewServer(o.Diagnostics.Profiles(tlsOptions), mgr.GetConfig(), mgr.GetHTTPClient())
		if err != nil {
			return fmt.Errorf("profiles: %w", err)
		}
		if err := mgr.Add(profiles); err != nil {
			return err
		}
	}
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := webhook.SetupWithManager(mgr, o.PlanFeatures(), o.Identity.Tenancy == identity.Trusted); err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	if err := o.checkRights(mgr, config); err != nil {
		return fmt.Errorf("check of rights: %w", err)
	}
	if err := AddControllers(ctx, mgr, o); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// AddControllers adds the controllers and the engine to a manager.
func AddControllers(ctx context.Context, mgr ctrl.Manager, o *Options) error {
	shared, err := newShared(mgr, o)
	if err != nil {
		return err
	}
	if err := shared.setupSelfManaged(ctx); err != nil {
		return err
	}
	return shared.setupMachinePools(ctx)
}
