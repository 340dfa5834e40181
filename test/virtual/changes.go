package virtual

import (
	"context"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// managerKey marks the contexts of managers.
type managerKey struct{}

// byManager returns a context that marks changes by a manager.
func byManager(ctx context.Context) context.Context {
	return context.WithValue(ctx, managerKey{}, true)
}

// announceChanges returns a client that calls changing before each change that is not by a manager, and the function that it returns after it.
func announceChanges(c client.WithWatch, changing func() (done func())) client.WithWatch {
	announce := func(ctx context.Context) (done func()) {
		if ctx.Value(managerKey{}) == nil {
			return changing()
		}
		return func() {}
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			defer announce(ctx)()
			return c.Create(ctx, obj, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.UpdateOption) error {
			defer announce(ctx)()
			return c.Update(ctx, obj, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			defer announce(ctx)()
			return c.Patch(ctx, obj, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			defer announce(ctx)()
			return c.Delete(ctx, obj, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption) error {
			defer announce(ctx)()
			return c.SubResource(name).Patch(ctx, obj, patch, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object,
			options ...client.SubResourceUpdateOption) error {
			defer announce(ctx)()
			return c.SubResource(name).Update(ctx, obj, options...)
		},
	})
}

// azurePlans are the plans of the scenarios that share an Azure.
type azurePlans struct {
	mu  sync.Mutex
	all []*plans
}

// addPlans has the steps of the scenario planned.
func (s *Scenario) addPlans(test string, options server.Options) {
	s.plans = newPlans(s, test, options)
	s.azurePlans.mu.Lock()
	defer s.azurePlans.mu.Unlock()
	s.azurePlans.all = append(s.azurePlans.all, s.plans)
}

// change ends the steps of all scenarios before something is changed. Their managers write nothing until the returned function is called.
func (a *azurePlans) change() (done func()) { return a.changeOthers(nil) }

// changeOthers is change for all scenarios but one, whose manager changes something.
func (a *azurePlans) changeOthers(but *plans) (done func()) {
	a.mu.Lock()
	all := slices.Clone(a.all)
	a.mu.Unlock()
	var ends []func()
	for _, each := range all {
		if each != but {
			ends = append(ends, each.change(true))
		}
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}
