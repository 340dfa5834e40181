package virtual

import (
	"context"

	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

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
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/queue"
)

// StartProvider starts a manager with the controllers of all clusters.
func (s *Scenario) StartProvider() *Manager {
	s.T.Helper()
	return s.StartDyingManager(0, false)
}

// StartDyingManager is StartProvider of a manager that dies at its nth write to Azure, 0 for never.
func (s *Scenario) StartDyingManager(n int, before bool) *Manager {
	s.T.Helper()
	return s.StartManager(func(ctx context.Context, m *Manager) error {
		if n > 0 {
			m.DieAtWrite(n, before)
		}
		if s.complete {
			return registerInstalled(ctx, m)
		}
		return RegisterControllers(ctx, m)
	})
}

// RegisterControllers registers the controllers of all clusters.
func RegisterControllers(ctx context.Context, m *Manager) error {
	return RegisterControllersWith(ctx, m, controller.Options{MaxConcurrentReconciles: 10})
}

// RegisterControllersWith is RegisterControllers with options of the controllers.
func RegisterControllersWith(ctx context.Context, m *Manager, options controller.Options) error {
	options = m.exploreOrder(options)
	c, workloads := m.GetClient(), fake.NewClientset()
	if err := register(ctx, m, options,
		reconcile.NewAzureRunner(m.Services, &azurecluster.Kind{Client: c, Facts: m.Facts, Features: m.Features}),
		reconcile.NewAzureRunner(m.Services, &azuremachine.Kind{Client: c, Facts: m.Facts, Features: m.Features, Secrets: c}),
		reconcile.NewLocalRunner(m.Services, &azuremanagedcluster.Kind{Client: c}),
		reconcile.NewAzureRunner(m.Services, &azuremanagedcontrolplane.Kind{Client: c, Facts: m.Facts,
			Workload: func([]byte) (corev1client.ConfigMapsGetter, error) { return workloads.CoreV1(), nil }}),
		reconcile.NewAzureRunner(m.Services, &azuremanagedmachinepool.Kind{Client: c, Engine: m.Engine, Facts: m.Facts}),
		reconcile.NewAzureRunner(m.Services, &azureasomanagedcluster.Kind{Client: c, Facts: m.Facts, Features: m.Features}),
		reconcile.NewAzureRunner(m.Services, &azureasomanagedcontrolplane.Kind{Client: c, Facts: m.Facts, Features: m.Features}),
		reconcile.NewAzureRunner(m.Services, &azuremachinepool.Kind{Client: c, Engine: m.Engine, Facts: m.Facts, Features: m.Features,
			Secrets: c}),
		reconcile.NewAzureRunner(m.Services, &azureasomanagedmachinepool.Kind{Client: c, Engine: m.Engine, Facts: m.Facts, Features: m.Features}),
	); err != nil {
		return err
	}
	options.SkipNameValidation = new(true)
	credentials := &credentialsecret.Reconciler{Client: c, Recorder: m.Services.Recorder("credential"), Identities: m.Gate.Identities,
		ASOResources: true}
	return credentials.SetupWithManager(m, options)
}

// RegisterAll registers all controllers of an installed release.
func RegisterAll(ctx context.Context, m *Manager) error {
	if err := registerInstalled(ctx, m); err != nil {
		return err
	}
	secrets := &azurejson.Reconciler{Client: m.GetClient(), Recorder: m.Services.Recorder("azurejson"), Access: m.Gate, Facts: m.Facts,
		Features: m.Features, WatchFilter: m.Services.WatchFilter, Secrets: m.GetClient(), Now: m.Services.Now}
	return secrets.SetupWithManager(ctx, m, controller.Options{SkipNameValidation: new(true)}, azurejson.Kinds{Machines: true, Pools: true})
}

// registerInstalled registers the controllers of an installed release that reconcile objects, with the manager's queue.
func registerInstalled(ctx context.Context, m *Manager) error {
	options := controller.Options{MaxConcurrentReconciles: 10, NewQueue: queue.New(engine.SystemClock{})}
	if err := RegisterControllersWith(ctx, m, options); err != nil {
		return err
	}
	return register(ctx, m, options,
		&azuremachinetemplate.Reconciler{Client: m.GetClient(), Recorder: m.Services.Recorder("template"), Access: m.Gate, Facts: m.Facts,
			WatchFilter: m.Services.WatchFilter},
		reconcile.NewLocalRunner(m.Services, &azureclusteridentity.Kind{Client: m.GetClient(), Identities: m.Gate.Identities}),
	)
}

// registrable is a controller that registers itself.
type registrable interface {
	SetupWithManager(context.Context, ctrl.Manager, controller.Options) error
}

// register registers controllers. A process may have several of one name.
func register(ctx context.Context, m *Manager, options controller.Options, controllers ...registrable) error {
	options.SkipNameValidation = new(true)
	for _, each := range controllers {
		if err := each.SetupWithManager(ctx, m, options); err != nil {
			return err
		}
	}
	return nil
}
