// Package kubernetes is an API server in memory, as far as controllers see one: it sets UIDs, generations and creation times, it separates
// the status from the rest, and it calls a function after each change. Plans and tests in virtual time run the manager's controllers
// against it.
//
// It validates nothing and fills in no defaults: stored objects have passed admission. It serves one process and keeps nothing.
package kubernetes

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Server has objects. It is safe for concurrent use.
type Server struct {
	client.WithWatch
	// converting is the client below WithWatch. It converts each object that it reads to JSON and back.
	converting client.WithWatch
	scheme     *runtime.Scheme
	tracker    testing.ObjectTracker
	// changed is called after each change with the object before and after it; nil means that there is none.
	changed func(ctx context.Context, before, after client.Object)

	// changing is held while an object is changed: its generation counts with its spec, and changes are reported in order.
	changing sync.Mutex
	// storing is held while an object is changed and stored: reads see the state before it or after it.
	storing sync.RWMutex

	mu   sync.Mutex
	uids int
	// Ahead is how much the API server's clock is ahead of the manager's, in nanoseconds.
	Ahead atomic.Int64
}

// WatchedKinds returns the kinds that a manager has a cache of. All have a status.
func WatchedKinds() []client.Object {
	return []client.Object{
		&infrav1.AzureCluster{}, &infrav1.AzureMachine{}, &infrav1.AzureMachineTemplate{}, &infrav1.AzureMachinePool{},
		&infrav1.AzureMachinePoolMachine{}, &infrav1.AzureClusterIdentity{},
		&infrav1.AzureManagedCluster{}, &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedMachinePool{},
		&infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}, &infrav1.AzureASOManagedMachinePool{},
		&clusterv1.Cluster{}, &clusterv1.MachinePool{}, &clusterv1.Machine{},
	}
}

// NewScheme returns the kinds that the server knows: some of Kubernetes', those of Cluster API, and those of this provider.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metav1.AddMetaToScheme, corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	// Control planes belong to another provider. Objects of their kind have no Go type here.
	scheme.AddKnownTypeWithName(ControlPlaneKind, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(ControlPlaneKind.GroupVersion().WithKind(ControlPlaneKind.Kind+"List"), &unstructured.UnstructuredList{})
	return scheme, nil
}

// ControlPlaneKind is the kind of control planes of self-managed clusters.
var ControlPlaneKind = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmControlPlane"}

// newMapper returns the REST mapper for the kinds of NewScheme. It maps each kind as namespaced. All servers use one mapper, because a
// mapper needs two thirds of the memory of a server and does not change. Each server has its own scheme, because its client registers
// unstructured kinds in the scheme.
var newMapper = sync.OnceValues(func() (meta.RESTMapper, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	return mapper, nil
})

// New returns a server without objects. changed is called after each change with copies of the object before and after it, of which one is
// nil if it is new or gone; nil is not called.
func New(changed func(ctx context.Context, before, after client.Object)) (*Server, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	namespaced, err := newMapper()
	if err != nil {
		return nil, err
	}
	s := &Server{scheme: scheme, changed: changed,
		tracker: testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())}
	s.converting = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(namespaced).
		// The default one converts every object to the form of server-side apply, which is not used here.
		WithObjectTracker(s.tracker).
		// Cluster API's own controllers may run beside the provider.
		WithStatusSubresource(append(WatchedKinds(), &clusterv1.MachineHealthCheck{})...).Build()
	s.WithWatch = interceptor.NewClient(s.converting, interceptor.Funcs{
		Get: s.getObject, List: s.listObjects, Create: s.createObject, Update: s.updateObject, Patch: s.patchObject, Delete: s.deleteObject,
		SubResourceUpdate: func(ctx context.Context, c client.Client, _ string, obj client.Object, options ...client.SubResourceUpdateOption) error {
			return s.changeObject(ctx, c, obj, func() error { return c.Status().Update(ctx, obj, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption) error {
			return s.changeObject(ctx, c, obj, func() error { return c.Status().Patch(ctx, obj, patch, options...) })
		},
	})
	return s, nil
}

// Restore stores an object as it was in another API server, with its UID and its status.
func (s *Server) Restore(object client.Object) error {
	if err := s.tracker.Add(object.DeepCopyObject()); err != nil {
		return err
	}
	stored, is := s.readStored(context.Background(), s.converting, object)
	if !is {
		return fmt.Errorf("%T %s cannot be read after it was restored", object, client.ObjectKeyFromObject(object))
	}
	return s.putBack(stored)
}

// SkipUIDs makes the UIDs of new objects differ from those of n earlier ones.
func (s *Server) SkipUIDs(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uids = n
}

func (s *Server) createObject(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
	s.mu.Lock()
	s.uids++
	obj.SetUID(types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", s.uids)))
	s.mu.Unlock()
	obj.SetGeneration(1)
	obj.SetCreationTimestamp(metav1.NewTime(time.Now().Add(time.Duration(s.Ahead.Load()))))
	// An API server drops the status of a new object.
	if status := reflect.ValueOf(obj).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
	// The schemas of CRDs have this default.
	if object, ok := obj.(interface {
		GetObserved() *infrav1.ObservedStatus
	}); ok {
		object.GetObserved().ObservedGeneration = -1
	}
	return s.changeObject(ctx, c, obj, func() error { return c.Create(ctx, obj, options...) })
}

func (s *Server) updateObject(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.UpdateOption) error {
	return s.changeObject(ctx, c, obj, func() error { return c.Update(ctx, obj, options...) })
}

func (s *Server) patchObject(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch,
	options ...client.PatchOption) error {
	return s.changeObject(ctx, c, obj, func() error { return c.Patch(ctx, obj, patch, options...) })
}

func (s *Server) deleteObject(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
	// The answer to a deletion does not change the caller's object.
	target := obj.DeepCopyObject().(client.Object)
	return s.changeObject(ctx, c, target, func() error { return c.Delete(ctx, target, options...) })
}

// changeObject changes an object with a function, counts its generation, and reports the change.
func (s *Server) changeObject(ctx context.Context, c client.Client, obj client.Object, change func() error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	before, existed := s.readStored(ctx, s, obj)
	after, exists, err := s.storeChange(ctx, c, obj, before, existed, change)
	if err != nil || existed && exists && after.GetResourceVersion() == before.GetResourceVersion() {
		return err
	}
	if !existed {
		before = nil
	}
	if !exists {
		after = nil
	}
	if s.changed != nil {
		s.changed(ctx, before, after)
	}
	return nil
}

// storeChange carries out a change of an object. It returns the object that the server has then, and false if the change has deleted it. Like an
// API server, it keeps the resource version of an object that a patch leaves as it was.
func (s *Server) storeChange(ctx context.Context, c client.Client, obj, before client.Object, existed bool,
	change func() error) (after client.Object, exists bool, err error) {
	s.storing.Lock()
	defer s.storing.Unlock()
	if err := change(); err != nil {
		return nil, false, err
	}
	if after, exists = s.readStored(ctx, c, obj); !exists {
		return nil, false, nil
	}
	if existed && (!isSameSpec(before, after) || isDeletionBegun(before, after)) {
		after.SetGeneration(before.GetGeneration() + 1)
		obj.SetGeneration(after.GetGeneration())
	}
	if existed {
		same := after.DeepCopyObject().(client.Object)
		if same.SetResourceVersion(before.GetResourceVersion()); equality.Semantic.DeepEqual(before, same) {
			obj.SetResourceVersion(before.GetResourceVersion())
			after = before
		}
	}
	return after, true, s.putBack(after) // It has been converted to JSON and back, so reads need not convert it.
}

// putBack stores an object with the resource version that it has.
func (s *Server) putBack(object client.Object) error {
	resource, err := s.resourceOf(object)
	if err != nil {
		return err
	}
	stored := object.DeepCopyObject()
	switch o := stored.(type) {
	case *unstructured.Unstructured:
		stored, err = s.typedForm(o)
	case *metav1.PartialObjectMetadata: // The tracker has the whole object, with this metadata.
		if stored, err = s.tracker.Get(resource, object.GetNamespace(), object.GetName()); err == nil {
			stored.(client.Object).SetResourceVersion(object.GetResourceVersion())
			stored.(client.Object).SetGeneration(object.GetGeneration())
		}
	}
	if err != nil {
		return err
	}
	return s.tracker.Update(resource, stored, object.GetNamespace())
}

// typedForm returns an unstructured object as one of its type, if the scheme has one.
func (s *Server) typedForm(object *unstructured.Unstructured) (runtime.Object, error) {
	typed, err := s.scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if _, raw := typed.(runtime.Unstructured); raw {
		return object, nil
	}
	return typed, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed)
}

func (s *Server) readStored(ctx context.Context, c client.Reader, obj client.Object) (client.Object, bool) {
	out := obj.DeepCopyObject().(client.Object)
	return out, c.Get(ctx, client.ObjectKeyFromObject(obj), out) == nil
}

// isSameSpec compares the specs of two states of an object: a change of the spec raises the generation.
func isSameSpec(before, after client.Object) bool {
	if raw, is := before.(*unstructured.Unstructured); is {
		return equality.Semantic.DeepEqual(raw.Object["spec"], after.(*unstructured.Unstructured).Object["spec"])
	}
	was, is := reflect.ValueOf(before).Elem().FieldByName("Spec"), reflect.ValueOf(after).Elem().FieldByName("Spec")
	return !was.IsValid() || equality.Semantic.DeepEqual(was.Interface(), is.Interface())
}

// isDeletionBegun reports whether a change has set the deletion timestamp of an object that finalizers keep. It raises the generation:
// https://github.com/kubernetes/apiserver/blob/v0.36.3/pkg/registry/generic/registry/store.go#L1024
func isDeletionBegun(before, after client.Object) bool {
	return before.GetDeletionTimestamp().IsZero() && !after.GetDeletionTimestamp().IsZero()
}
