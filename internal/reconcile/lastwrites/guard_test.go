package lastwrites

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const namespace = "default"

// server is an API server and a cache of it that shows changes only after show.
type server struct {
	stored client.WithWatch
	cached client.WithWatch
	// asked counts reads past the cache.
	asked int
	// onCacheRead is called after each read of the cache; nil disables it.
	onCacheRead func()
	// answer is the error that follows a write that was carried out, and refusal the one that comes instead of it.
	answer, refusal error
}

func newServer(t *testing.T) *server {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{infrav1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return &server{stored: fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&infrav1.AzureMachine{}).Build(),
		cached: fake.NewClientBuilder().WithScheme(scheme).Build()}
}

// newServerWithMachine returns a server with the machine "own", which its cache shows.
func newServerWithMachine(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	if err := s.stored.Create(t.Context(), newMachine("own")); err != nil {
		t.Fatal(err)
	}
	s.show(t)
	return s
}

// client returns a client that reads typed objects from the cache.
func (s *server) client() client.Client {
	return interceptor.NewClient(s.stored, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if _, raw := obj.(*unstructured.Unstructured); raw {
				s.asked++
				return c.Get(ctx, key, obj)
			}
			err := s.cached.Get(ctx, key, obj)
			if s.onCacheRead != nil {
				s.onCacheRead()
			}
			return err
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			return s.write(func() error { return c.Patch(ctx, obj, patch, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption) error {
			return s.write(func() error { return c.SubResource(sub).Patch(ctx, obj, patch, options...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			return s.write(func() error { return c.Create(ctx, obj, options...) })
		},
	})
}

func (s *server) write(do func() error) error {
	if s.refusal != nil {
		return s.refusal
	}
	if err := do(); err != nil {
		return err
	}
	return s.answer
}

// show brings the stored machines into the cache.
func (s *server) show(t *testing.T) {
	t.Helper()
	cached := fake.NewClientBuilder().WithScheme(s.stored.Scheme())
	list := &infrav1.AzureMachineList{}
	if err := s.stored.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		cached.WithObjects(&list.Items[i])
	}
	s.cached = cached.Build()
}

func newMachine(name string) *infrav1.AzureMachine {
	return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "first",
		Finalizers: []string{infrav1.MachineFinalizer}}}
}

// label changes the metadata of an object.
func label(ctx context.Context, c client.Client, object client.Object) error {
	before := object.DeepCopyObject().(client.Object)
	object.SetLabels(map[string]string{"changed": time.Now().String()})
	return c.Patch(ctx, object, client.MergeFrom(before))
}

// TestGuard lets the reconciliation of the machine "own" write once, and checks whether the next one is postponed.
func TestGuard(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		write  func(ctx context.Context, c client.Client, own, other *infrav1.AzureMachine) error
		// after happens between the write and the next reconciliation.
		after func(t *testing.T, s *server)
		want  bool
		// wantAsked is the number of reads past the cache.
		wantAsked int
	}{
		"nothing": {write: func(context.Context, client.Client, *infrav1.AzureMachine, *infrav1.AzureMachine) error { return nil }},
		"own object": {
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				return label(ctx, c, own)
			},
			want: true,
		},
		"own status": {
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				before := own.DeepCopy()
				own.Status.VMState = infrav1.VMStateDeleting
				return c.Status().Patch(ctx, own, client.MergeFrom(before))
			},
			want: true,
		},
		"the cache shows it": {
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				return label(ctx, c, own)
			},
			after: func(t *testing.T, s *server) { s.show(t) },
		},
		"another client wrote later": {
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				return label(ctx, c, own)
			},
			after: func(t *testing.T, s *server) {
				if err := label(t.Context(), s.stored, read(t, s.stored, "own")); err != nil {
					t.Fatal(err)
				}
				s.show(t)
			},
		},
		"another object": {
			reason: "the next reconciliation may decide by it",
			write: func(ctx context.Context, c client.Client, _, other *infrav1.AzureMachine) error {
				return label(ctx, c, other)
			},
			want: true,
		},
		"a created object": {
			reason: "it would be created twice",
			write: func(ctx context.Context, c client.Client, _, _ *infrav1.AzureMachine) error {
				return c.Create(ctx, newMachine("new"))
			},
			want: true,
		},
		"a created object that others deleted before the cache showed it": {
			write: func(ctx context.Context, c client.Client, _, _ *infrav1.AzureMachine) error {
				created := newMachine("new")
				created.Finalizers = nil
				return c.Create(ctx, created)
			},
			after: func(t *testing.T, s *server) {
				if err := s.stored.Delete(t.Context(), read(t, s.stored, "new")); err != nil {
					t.Fatal(err)
				}
				<-time.After(askAfter)
			},
			wantAsked: 1,
		},
		"a deleted object": {
			write: func(ctx context.Context, c client.Client, _, other *infrav1.AzureMachine) error {
				return c.Delete(ctx, other)
			},
			want: true,
		},
		"a deleted object with a finalizer, shown": {
			write: func(ctx context.Context, c client.Client, _, other *infrav1.AzureMachine) error {
				return c.Delete(ctx, other)
			},
			after: func(t *testing.T, s *server) { s.show(t) },
		},
		"the last finalizer": {
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				if err := c.Delete(ctx, own); err != nil {
					return err
				}
				deleted := &infrav1.AzureMachine{}
				if err := c.(*Client).Client.(client.WithWatch).Get(ctx, client.ObjectKeyFromObject(own), deleted); err != nil {
					return err
				}
				now := metav1.Now()
				deleted.DeletionTimestamp = &now
				before := deleted.DeepCopy()
				deleted.Finalizers = nil
				return c.Patch(ctx, deleted, client.MergeFrom(before))
			},
			want: true,
		},
		"a Secret": {
			reason: "Secrets are read from the API server",
			write: func(ctx context.Context, c client.Client, _, _ *infrav1.AzureMachine) error {
				return c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s"}})
			},
		},
		"the cache lags for long": {
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				return label(ctx, c, own)
			},
			after: func(*testing.T, *server) { <-time.After(askAfter) },
			want:  true, wantAsked: 1,
		},
		"the API server was restored from a backup": {
			reason: "the cache never shows the write",
			write: func(ctx context.Context, c client.Client, own, _ *infrav1.AzureMachine) error {
				return c.Patch(ctx, own, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
			},
			after: func(t *testing.T, s *server) {
				restored := newMachine("own")
				restored.ResourceVersion = "1"
				s.stored = fake.NewClientBuilder().WithScheme(s.stored.Scheme()).WithObjects(restored).Build()
				s.show(t)
				<-time.After(askAfter)
			},
			wantAsked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				for _, each := range []string{"own", "other"} {
					if err := s.stored.Create(t.Context(), newMachine(each)); err != nil {
						t.Fatal(err)
					}
				}
				s.show(t)
				c := NewClient(s.client(), time.Now, &corev1.Secret{})
				calls := 0
				guarded := Guard(c, "AzureMachine", &infrav1.AzureMachine{}, reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
					if calls++; calls > 1 {
						return ctrl.Result{}, nil
					}
					return ctrl.Result{}, test.write(ctx, c, read(t, s.stored, "own"), read(t, s.stored, "other"))
				}))
				request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "own"}}
				if _, err := guarded.Reconcile(t.Context(), request); err != nil {
					t.Fatal(err)
				}
				if test.after != nil {
					test.after(t, s)
					c.Client = s.client()
				}
				s.asked = 0
				result, err := guarded.Reconcile(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				if postponed := calls == 1; postponed != test.want || postponed != (result.RequeueAfter > 0) || s.asked != test.wantAsked {
					t.Errorf("%s: postponed %t with %+v, read %d times past the cache", test.reason, postponed, result, s.asked)
				}
				s.show(t)
				if _, err := guarded.Reconcile(t.Context(), request); err != nil || calls == 1 {
					t.Errorf("postponed although the cache shows everything: %v", err)
				}
				if test.want && len(c.written)+len(c.writtenBy) != 0 {
					t.Errorf("remembers %v, %v", c.written, c.writtenBy)
				}
			})
		})
	}
}

// TestGuardAfterUnclearAnswer lets a write of the machine "own" end with an error, and checks whether the next reconciliation is postponed.
func TestGuardAfterUnclearAnswer(t *testing.T) {
	patchStatus := func(ctx context.Context, c client.Client, own *infrav1.AzureMachine) error {
		before := own.DeepCopy()
		own.Status.VMState = infrav1.VMStateDeleting
		return c.Status().Patch(ctx, own, client.MergeFrom(before))
	}
	resource := schema.GroupResource{Resource: "azuremachines"}
	for name, test := range map[string]struct {
		reason          string
		write           func(ctx context.Context, c client.Client, own *infrav1.AzureMachine) error
		answer, refusal error
		want            bool
		// wantAsked is the number of reads past the cache in the two next reconciliations.
		wantAsked int
	}{
		"a lost answer": {reason: "the status was stored", write: patchStatus, answer: io.ErrUnexpectedEOF, want: true, wantAsked: 1},
		"a timeout": {reason: "etcd may have stored it", write: patchStatus,
			answer: apierrors.NewTimeoutError("etcdserver: request timed out", 0), want: true, wantAsked: 1},
		"a lost answer to a patch": {reason: "the metadata was stored", answer: io.ErrUnexpectedEOF, want: true, wantAsked: 1,
			write: func(ctx context.Context, c client.Client, own *infrav1.AzureMachine) error { return label(ctx, c, own) }},
		"a lost answer to a creation": {reason: "it would be created twice", answer: io.ErrUnexpectedEOF, want: true, wantAsked: 1,
			write: func(ctx context.Context, c client.Client, _ *infrav1.AzureMachine) error {
				return c.Create(ctx, newMachine("new"))
			}},
		"a lost request": {reason: "the cache has the current state", write: patchStatus, refusal: io.ErrUnexpectedEOF, wantAsked: 1},
		"a conflict":     {reason: "nothing was written", write: patchStatus, refusal: apierrors.NewConflict(resource, "own", nil)},
		"no right":       {reason: "nothing was written", write: patchStatus, refusal: apierrors.NewForbidden(resource, "own", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServerWithMachine(t)
				s.answer, s.refusal = test.answer, test.refusal
				c := NewClient(s.client(), time.Now)
				calls := 0
				guarded := Guard(c, "AzureMachine", &infrav1.AzureMachine{}, reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
					if calls++; calls > 1 {
						return ctrl.Result{}, nil
					}
					return ctrl.Result{}, test.write(ctx, c, read(t, s.stored, "own"))
				}))
				request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "own"}}
				if _, err := guarded.Reconcile(t.Context(), request); err == nil {
					t.Fatal("the write must fail")
				}
				for range 2 {
					if _, err := guarded.Reconcile(t.Context(), request); err != nil {
						t.Fatal(err)
					}
				}
				if postponed := calls == 1; postponed != test.want || s.asked != test.wantAsked {
					t.Errorf("%s: postponed %t, read %d times past the cache", test.reason, postponed, s.asked)
				}
				s.show(t)
				if _, err := guarded.Reconcile(t.Context(), request); err != nil || calls == 1 {
					t.Errorf("postponed although the cache shows everything: %v", err)
				}
				if len(c.written)+len(c.writtenBy) != 0 || s.asked != test.wantAsked {
					t.Errorf("remembers %v, %v, and read %d times past the cache", c.written, c.writtenBy, s.asked)
				}
			})
		})
	}
}

// TestGuardOfAnotherController lets a controller read an object that another controller of the manager wrote.
func TestGuardOfAnotherController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWithMachine(t)
		c := NewClient(s.client(), time.Now)
		var calls []string
		request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "own"}}
		pool := Guard(c, "AzureMachinePool", &infrav1.AzureMachinePool{}, reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
			calls = append(calls, "pool")
			return ctrl.Result{}, label(ctx, c, read(t, s.stored, "own"))
		}))
		machine := Guard(c, "AzureMachine", &infrav1.AzureMachine{}, reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
			calls = append(calls, "machine")
			return ctrl.Result{}, nil
		}))
		for _, each := range []reconcile.Reconciler{pool, machine, pool} {
			if _, err := each.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		s.show(t)
		for _, each := range []reconcile.Reconciler{machine, pool} {
			if _, err := each.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"pool", "machine", "pool"}, calls); diff != "" {
			t.Error(diff)
		}
	})
}

// TestIsSettled asks about a machine before, during and after a reconciliation that writes it.
func TestIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWithMachine(t)
		c := NewClient(s.client(), time.Now)
		request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "own"}}
		before := read(t, s.cached, "own")
		expect := func(when string, object client.Object, kind string, want bool) {
			t.Helper()
			if got, err := IsSettled(t.Context(), c, kind, object); err != nil || got != want {
				t.Errorf("%s: %t, %v, want %t", when, got, err, want)
			}
		}
		expect("before", before, "AzureMachine", true)
		writing := Guard(c, "AzureMachine", &infrav1.AzureMachine{}, reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
			expect("during", before, "AzureMachine", false)
			expect("while its controller is at rest", before, "AzureMachinePool", true)
			return ctrl.Result{}, label(ctx, c, read(t, s.stored, "own"))
		}))
		if _, err := writing.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		expect("with a cache from before", before, "AzureMachine", false)
		s.show(t)
		expect("with an object from before", before, "AzureMachine", false)
		expect("after", read(t, s.cached, "own"), "AzureMachine", true)
		gone := newMachine("gone")
		expect("gone", gone, "AzureMachine", false)
		if settled, err := IsSettled(t.Context(), s.stored, "AzureMachine", before); err != nil || !settled {
			t.Errorf("with a client that records nothing: %t, %v", settled, err)
		}
	})
}

// TestGuardWhileCacheLags lets the cache lag for half a minute, as behind an overloaded API server: the guard asks that server a few times,
// in growing intervals, and the reconciliation begins soon after the cache shows the write.
func TestGuardWhileCacheLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWithMachine(t)
		c := NewClient(s.client(), time.Now)
		calls := 0
		guarded := Guard(c, "AzureMachine", &infrav1.AzureMachine{}, reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
			if calls++; calls > 1 {
				return ctrl.Result{}, nil
			}
			return ctrl.Result{}, label(ctx, c, read(t, s.stored, "own"))
		}))
		request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "own"}}
		start, tries := time.Now(), 0
		for shown := false; calls < 2; tries++ {
			result, err := guarded.Reconcile(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(result.RequeueAfter)
			if !shown && time.Since(start) >= 30*time.Second {
				s.show(t)
				shown = true
			}
		}
		if s.asked > 5 || tries > 30 {
			t.Errorf("read %d times past the cache and tried %d times in 30 s", s.asked, tries)
		}
		if late := time.Since(start) - 30*time.Second; late > 5*time.Second {
			t.Errorf("the reconciliation began %s after the cache showed the write", late)
		}
	})
}

// TestGuardSeesWriteDuringCheck lets another controller write the object while the guard reads it: the guard still waits for that write.
func TestGuardSeesWriteDuringCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWithMachine(t)
		c := NewClient(s.client(), time.Now)
		calls := 0
		guarded := Guard(c, "AzureMachine", &infrav1.AzureMachine{}, reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
			calls++
			return ctrl.Result{}, nil
		}))
		if err := label(t.Context(), c, read(t, s.stored, "own")); err != nil {
			t.Fatal(err)
		}
		s.show(t)
		s.onCacheRead = func() {
			s.onCacheRead = nil
			if err := label(t.Context(), c, read(t, s.stored, "own")); err != nil {
				t.Error(err)
			}
		}
		request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: "own"}}
		for range 2 {
			if _, err := guarded.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		if calls != 0 {
			t.Errorf("%d reconciliations began before the cache showed the second write", calls)
		}
		s.show(t)
		if _, err := guarded.Reconcile(t.Context(), request); err != nil || calls != 1 {
			t.Errorf("%d reconciliations began after the cache showed both writes: %v", calls, err)
		}
	})
}

// TestSweep writes objects once and never reads them again; it expects that the guard forgets them.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		c := NewClient(s.client(), time.Now)
		ctx := context.WithValue(t.Context(), requestKey{}, Request{Kind: "AzureMachinePool"})
		for _, each := range []string{"a", "b", "c"} {
			if err := c.Create(ctx, newMachine(each)); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(2 * retention)
		if err := c.Create(t.Context(), newMachine("d")); err != nil {
			t.Fatal(err)
		}
		if len(c.written) != 1 || len(c.writtenBy) != 0 {
			t.Errorf("remembers %v, %v", c.written, c.writtenBy)
		}
	})
}

func read(t *testing.T, c client.Client, name string) *infrav1.AzureMachine {
	t.Helper()
	machine := &infrav1.AzureMachine{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, machine); err != nil {
		t.Fatal(err)
	}
	return machine
}
