package virtual

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// Kubernetes is an API server that managers watch.
type Kubernetes struct {
	*kubernetes.Server
	scheme *runtime.Scheme

	mu sync.Mutex
	// views are those of the managers that run.
	views []*view
	// recording records changes; nil records nothing.
	recording *recording
	// t fails if a tool contradicts the conditions of an object.
	t testing.TB
	// objects counts the objects.
	objects atomic.Int64
	// Changed has a value after each change.
	Changed chan struct{}
}

// listedKinds are the kinds that a manager lists when it starts. It watches Secrets and ConfigMaps, too, but reads their current content.
func listedKinds() []client.Object {
	return append(kubernetes.WatchedKinds(), &corev1.Secret{}, &corev1.ConfigMap{})
}

// newKubernetes returns an API server. changing is called before each change that is not by a manager, and the
// function that it returns after it.
func newKubernetes(t testing.TB, changing func() (done func())) (*Kubernetes, error) {
	k := &Kubernetes{t: t, Changed: make(chan struct{}, 1)}
	server, err := kubernetes.New(func(ctx context.Context, before, after client.Object) {
		k.recordChange(ctx, before, after)
		switch {
		case before == nil:
			k.objects.Add(1)
		case after == nil:
			k.objects.Add(-1)
		}
		k.checkStatus(after)
		k.announceChange(ctx, before, after)
	})
	if err != nil {
		return nil, err
	}
	k.Server, k.scheme = server, server.Scheme()
	server.WithWatch = announceChanges(server.WithWatch, changing)
	return k, nil
}

// announceChange delivers a change to the managers that run, and signals it to waiting tests.
func (k *Kubernetes) announceChange(ctx context.Context, before, after client.Object) {
	k.SignalChange()
	k.mu.Lock()
	views := slices.Clone(k.views)
	k.mu.Unlock()
	for _, each := range views {
		each.deliverChange(ctx, change{before: before, after: after})
	}
}

// openView makes the view of a manager that starts.
func (k *Kubernetes) openView(lag time.Duration, explorer *Explorer) *view {
	out := newView(k.scheme, &watches{FakeInformers: &informertest.FakeInformers{Scheme: k.scheme}}, lag)
	out.explorer = explorer
	k.mu.Lock()
	defer k.mu.Unlock()
	k.views = append(k.views, out)
	return out
}

// closeView ends a view: its manager gets no more events.
func (k *Kubernetes) closeView(gone *view) {
	gone.closeView()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.views = slices.DeleteFunc(k.views, func(each *view) bool { return each == gone })
}

// deliverAll delivers all objects to the managers that run, as their first lists do.
func (k *Kubernetes) deliverAll(ctx context.Context) error {
	for _, kind := range listedKinds() {
		gvk, err := apiutil.GVKForObject(kind, k.scheme)
		if err != nil {
			return err
		}
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := k.List(ctx, all); err != nil {
			return err
		}
		for i := range all.Items {
			typed := kind.DeepCopyObject().(client.Object)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(all.Items[i].Object, typed); err != nil {
				return err
			}
			k.SignalChange()
			k.mu.Lock()
			views := slices.Clone(k.views)
			k.mu.Unlock()
			for _, each := range views {
				each.deliverListed(ctx, typed)
			}
		}
	}
	return nil
}

// SignalChange signals a change to waiting tests.
func (k *Kubernetes) SignalChange() {
	select {
	case k.Changed <- struct{}{}:
	default: // The earlier signal is not read yet.
	}
}
