package virtual

import (
	"context"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// newLiveClient returns a client of the manager without a cache, whose writes fail when the manager is dead.
func (m *Manager) newLiveClient(s *Scenario) client.WithWatch {
	return interceptor.NewClient(s.Client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if err := s.refuseCall("get", obj); err != nil {
				return err
			}
			return c.Get(ctx, key, obj, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			if err := s.refuseCall("create", obj); err != nil {
				return err
			}
			return m.writeUnlessDead(s, "create", obj, func() error { return c.Create(byManager(ctx), obj, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := s.refuseCall("patch", obj); err != nil {
				return err
			}
			return m.writeUnlessDead(s, "patch", obj, func() error { return c.Patch(byManager(ctx), obj, patch, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			if err := s.refuseCall("delete", obj); err != nil {
				return err
			}
			return m.writeUnlessDead(s, "delete", obj, func() error {
				if s.Deleting != nil {
					s.Deleting(ctx, obj)
				}
				return c.Delete(byManager(ctx), obj, options...)
			})
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption) error {
			if err := s.refuseCall("patch status", obj); err != nil {
				return err
			}
			return m.writeUnlessDead(s, "patch status", obj, func() error { return c.Status().Patch(byManager(ctx), obj, patch, options...) })
		},
		SubResourceCreate: s.createSubResource,
	})
}

// newCachedClient returns a client that reads cached kinds from the manager's view, which may be late.
func (s *Scenario) newCachedClient(live client.WithWatch, view *view) client.Client {
	return interceptor.NewClient(live, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			reader := client.Reader(c)
			if view.isCached(obj) {
				if err := s.refuseCall("get", obj); err != nil {
					return err
				}
				reader = view.reader
				view.countStale(obj, key)
			}
			err := reader.Get(ctx, key, obj, options...)
			view.trim(obj)
			return err
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := s.refuseCall("list", list); err != nil {
				return err
			}
			reader := client.Reader(c)
			if view.isCached(list) {
				reader = view.reader
			}
			err := reader.List(ctx, list, options...)
			view.trim(list)
			return err
		},
	})
}

// newTransport returns what carries the manager's requests to the simulated Azure and records them. The number is that of the manager.
func (m *Manager) newTransport(s *Scenario, number int) transport {
	return transport(func(request *http.Request) (response *http.Response, _ error) {
		body, err := readBody(request)
		if err != nil {
			return nil, err
		}
		return s.recording.recordRequest(number, request, body, func(begin func()) (*http.Response, error) {
			err := m.countAndRun(s.newAzureCall(request, func() error {
				begin()
				response, err = s.serveAzure(request)
				return err
			}))
			return response, err
		})
	})
}
