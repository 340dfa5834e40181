package virtual

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Kubernetes keeps objects as an API server does, as far as controllers see: UIDs, generations, and word of every change.
type Kubernetes struct {
	client.WithWatch
	scheme  *runtime.Scheme
	tracker testing.ObjectTracker

	// changing is held while an object is changed: its generation counts with its spec, and word of it comes in order.
	changing sync.Mutex

	mu sync.Mutex
	// views are those of the managers that run.
	views []*view
	uids  int
	// Changed has a value after each change.
	Changed chan struct{}
	// Ahead is how much the API server's clock is ahead of the manager's, in nanoseconds.
	Ahead atomic.Int64
}

// watchedKinds returns the kinds that a manager has a cache of. All have a status.
func watchedKinds() []client.Object {
	return []client.Object{
		&infrav1.AzureCluster{}, &infrav1.AzureMachine{}, &infrav1.AzureMachineTemplate{}, &infrav1.AzureMachinePool{},
		&infrav1.AzureMachinePoolMachine{}, &infrav1.AzureClusterIdentity{},
		&infrav1.AzureManagedCluster{}, &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedMachinePool{},
		&infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}, &infrav1.AzureASOManagedMachinePool{},
		&clusterv1.Cluster{}, &clusterv1.MachinePool{}, &clusterv1.Machine{},
	}
}

// listedKinds are the kinds that a manager lists when it starts: of Secrets and ConfigMaps it hears too, but it reads what they are now.
func listedKinds() []client.Object {
	return append(watchedKinds(), &corev1.Secret{}, &corev1.ConfigMap{})
}

func newKubernetes() (*Kubernetes, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metav1.AddMetaToScheme, corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	namespaced := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for kind := range scheme.AllKnownTypes() {
		namespaced.Add(kind, meta.RESTScopeNamespace)
	}
	k := &Kubernetes{scheme: scheme, Changed: make(chan struct{}, 1),
		tracker: testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())}
	k.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(namespaced).
		// The default one converts every object to the form of server-side apply, which nobody here uses.
		WithObjectTracker(k.tracker).
		WithStatusSubresource(watchedKinds()...).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: k.createObject, Patch: k.patchObject, Delete: k.deleteObject,
			SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch,
				options ...client.SubResourcePatchOption) error {
				return k.changeObject(ctx, c, obj, func() error { return c.Status().Patch(ctx, obj, patch, options...) })
			},
		}).Build()
	return k, nil
}

func (k *Kubernetes) createObject(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
	k.mu.Lock()
	k.uids++
	obj.SetUID(types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", k.uids)))
	k.mu.Unlock()
	obj.SetGeneration(1)
	obj.SetCreationTimestamp(metav1.NewTime(time.Now().Add(time.Duration(k.Ahead.Load()))))
	// An API server takes no status with what is new.
	if status := reflect.ValueOf(obj).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
	return k.changeObject(ctx, c, obj, func() error { return c.Create(ctx, obj, options...) })
}

func (k *Kubernetes) patchObject(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch,
	options ...client.PatchOption) error {
	return k.changeObject(ctx, c, obj, func() error { return c.Patch(ctx, obj, patch, options...) })
}

func (k *Kubernetes) deleteObject(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
	return k.changeObject(ctx, c, obj, func() error { return c.Delete(ctx, obj, options...) })
}

// changeObject has do change an object, counts its generation, and tells of it.
func (k *Kubernetes) changeObject(ctx context.Context, c client.Client, obj client.Object, do func() error) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	before, was := k.readStored(ctx, c, obj)
	if err := do(); err != nil {
		return err
	}
	after, is := k.readStored(ctx, c, obj)
	if was && is && !bytes.Equal(encodeSpec(before), encodeSpec(after)) {
		after.SetGeneration(before.GetGeneration() + 1)
		if err := c.Update(ctx, after); err != nil {
			return err
		}
		obj.SetGeneration(after.GetGeneration())
		obj.SetResourceVersion(after.GetResourceVersion())
	}
	if was && is {
		// What changes nothing is no change to an API server either.
		same := after.DeepCopyObject().(client.Object)
		same.SetResourceVersion(before.GetResourceVersion())
		if equality.Semantic.DeepEqual(before, same) {
			return nil
		}
	}
	k.announceChange(ctx, before, was, after, is)
	return nil
}

func (k *Kubernetes) readStored(ctx context.Context, c client.Client, obj client.Object) (client.Object, bool) {
	out := obj.DeepCopyObject().(client.Object)
	return out, c.Get(ctx, client.ObjectKeyFromObject(obj), out) == nil
}

// encodeSpec returns what generations count.
func encodeSpec(obj client.Object) []byte {
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil
	}
	var parsed struct {
		Spec json.RawMessage `json:"spec"`
	}
	_ = json.Unmarshal(raw, &parsed)
	return parsed.Spec
}

// announceChange has the manager that runs, and who waits, know of a change.
func (k *Kubernetes) announceChange(ctx context.Context, before client.Object, was bool, after client.Object, is bool) {
	k.SignalChange()
	k.mu.Lock()
	views := slices.Clone(k.views)
	k.mu.Unlock()
	c := change{}
	if was {
		c.before = before
	}
	if is {
		c.after = after
	}
	for _, each := range views {
		each.deliverChange(ctx, c)
	}
}

// openView makes the view of a manager that starts.
func (k *Kubernetes) openView(lag time.Duration) *view {
	out := newView(k.scheme, &watches{FakeInformers: &informertest.FakeInformers{Scheme: k.scheme}}, lag)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.views = append(k.views, out)
	return out
}

// closeView has a manager that ends hear of nothing more.
func (k *Kubernetes) closeView(gone *view) {
	gone.closeView()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.views = slices.DeleteFunc(k.views, func(each *view) bool { return each == gone })
}

// tellAll has the manager know of everything that there is, as its first lists do.
func (k *Kubernetes) tellAll(ctx context.Context) error {
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
			k.announceChange(ctx, nil, false, typed, true)
		}
	}
	return nil
}

// SignalChange has who waits for changes look.
func (k *Kubernetes) SignalChange() {
	select {
	case k.Changed <- struct{}{}:
	default: // it is told already
	}
}
