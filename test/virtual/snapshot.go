package virtual

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Snapshot has the objects of an API server at some time.
type Snapshot []client.Object

// TakeSnapshot returns the current objects, with their status.
func (s *Scenario) TakeSnapshot() (out Snapshot) {
	s.T.Helper()
	for _, kind := range append(listedKinds(), &corev1.Namespace{}) {
		gvk, err := apiutil.GVKForObject(kind, s.Kubernetes.scheme)
		if err != nil {
			s.T.Fatal(err)
		}
		all, err := s.Kubernetes.scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			s.T.Fatal(err)
		}
		if err := s.Kubernetes.List(s.T.Context(), all.(client.ObjectList)); err != nil {
			s.T.Fatal(err)
		}
		if err := meta.EachListItem(all, func(item runtime.Object) error {
			out = append(out, item.DeepCopyObject().(client.Object))
			return nil
		}); err != nil {
			s.T.Fatal(err)
		}
	}
	return out
}

// RestoreSnapshot replaces the objects of the API server by those of the snapshot, as a restore from a backup of etcd does. Azure stays
// unchanged. No manager may run.
func (s *Scenario) RestoreSnapshot(snapshot Snapshot) {
	s.T.Helper()
	defer s.plans.change(false)()
	objects, err := newKubernetes(s.T, func() func() { return s.plans.change(false) })
	if err != nil {
		s.T.Fatal(err)
	}
	objects.SkipUIDs(1 << 20) // UIDs are those of nothing that was made since.
	for _, object := range snapshot {
		if err := objects.Restore(object); err != nil {
			s.T.Fatal(err)
		}
	}
	s.useKubernetes(objects)
}
