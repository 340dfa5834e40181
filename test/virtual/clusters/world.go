// Package clusters has the manager of clusters in virtual time, with the controllers of all their kinds, and brings clusters up and down
// with it, as Cluster API and users do.
package clusters

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurecluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/credentialsecret"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// World is a world of clusters.
type World struct {
	*virtual.World
	// Meanwhile is called again and again while something is waited for; nil is nothing.
	Meanwhile func()
}

// New returns a world without a manager. It has to be called in a bubble of virtual time.
func New(t *testing.T) *World {
	t.Helper()
	return &World{World: virtual.New(t, options)}
}

// NewAtOnce is New with an Azure whose operations end as soon as they are polled.
func NewAtOnce(t *testing.T) *World {
	t.Helper()
	return &World{World: virtual.NewAtOnce(t, options)}
}

var options = server.Options{Locations: []string{"eastus"}, Seed: 7}

// StartProvider starts a manager with the controllers of all clusters.
func (w *World) StartProvider() *virtual.Manager {
	w.T.Helper()
	return w.StartDyingManager(0, false)
}

// StartDyingManager is Manage of a manager that dies at its nth write to Azure, 0 for never.
func (w *World) StartDyingManager(n int, before bool) *virtual.Manager {
	w.T.Helper()
	return w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
		if n > 0 {
			m.DieAtWrite(n, before)
		}
		return RegisterControllers(ctx, m)
	})
}

// RegisterControllers registers the controllers of all clusters.
func RegisterControllers(ctx context.Context, m *virtual.Manager) error {
	return RegisterControllersWith(ctx, m, controller.Options{MaxConcurrentReconciles: 10})
}

// RegisterControllersWith is Register with options of the controllers.
func RegisterControllersWith(ctx context.Context, m *virtual.Manager, options controller.Options) error {
	options.SkipNameValidation = new(true)
	network := &azurecluster.Kind{Client: m.GetClient(), Facts: m.Facts}
	if err := reconcile.NewAzureRunner(m.Services, network).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	machines := &azuremachine.Kind{Client: m.GetClient(), Facts: m.Facts}
	if err := reconcile.NewAzureRunner(m.Services, machines).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	if err := reconcile.NewLocalRunner(m.Services, &azuremanagedcluster.Kind{Client: m.GetClient()}).SetupWithManager(ctx, m,
		options); err != nil {
		return err
	}
	workloads := fake.NewClientset()
	controlPlanes := &azuremanagedcontrolplane.Kind{Client: m.GetClient(), Facts: m.Facts,
		Workload: func([]byte) (corev1client.ConfigMapsGetter, error) { return workloads.CoreV1(), nil }}
	if err := reconcile.NewAzureRunner(m.Services, controlPlanes).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	pools := &azuremanagedmachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}
	if err := reconcile.NewAzureRunner(m.Services, pools).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	if err := reconcile.NewAzureRunner(m.Services, &azureasomanagedcluster.Kind{Client: m.GetClient(), Facts: m.Facts}).SetupWithManager(ctx,
		m, options); err != nil {
		return err
	}
	if err := reconcile.NewAzureRunner(m.Services,
		&azureasomanagedcontrolplane.Kind{Client: m.GetClient(), Facts: m.Facts}).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	vms := &azuremachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}
	if err := reconcile.NewAzureRunner(m.Services, vms).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	ofDocuments := &azureasomanagedmachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}
	if err := reconcile.NewAzureRunner(m.Services, ofDocuments).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	credentials := &credentialsecret.Reconciler{Client: m.GetClient(), Recorder: m.Services.Recorder("credential"),
		Identities: m.Gate.Identities, ASOResources: true}
	return credentials.SetupWithManager(m, options)
}

// WaitUntil waits until something is so, for an hour at most.
func (w *World) WaitUntil(what string, so func() bool) {
	w.T.Helper()
	for deadline := time.Now().Add(time.Hour); !so(); {
		if time.Now().After(deadline) {
			requests := w.Azure.RequestsSince(0)
			w.T.Fatalf("%s: not so after an hour\n%s", what, strings.Join(requests[max(0, len(requests)-30):], "\n"))
		}
		virtual.WaitForSignal(w.Kubernetes.Changed, time.Second)
		if w.Meanwhile != nil {
			w.Meanwhile()
		}
	}
}

// IsReadyFunc reports whether an object is.
func IsReadyFunc[T client.Object](w *World, object T, name string, is func(T) bool) func() bool {
	return func() bool {
		w.ReadObject(object, name)
		return is(object)
	}
}
