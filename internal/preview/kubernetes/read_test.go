package kubernetes

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestReads reads objects of all kinds, one by one and as lists: a read returns what the client returns that converts them to JSON and back.
func TestReads(t *testing.T) {
	for _, kind := range append(WatchedKinds(), &corev1.Secret{}, &corev1.ConfigMap{}) {
		t.Run(fmt.Sprintf("%T", kind), func(t *testing.T) {
			server, err := New(nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, namespace := range []string{"a", "a", "b"} {
				createFilled(t, server, kind, namespace, fmt.Sprintf("o%d", i))
			}
			read := func(reader client.Reader) (out []any) {
				for _, key := range []client.ObjectKey{{Namespace: "a", Name: "o0"}, {Namespace: "b", Name: "o2"}, {Namespace: "b", Name: "o0"}} {
					object := newLike(kind)
					object.SetName("before the read")
					err := reader.Get(t.Context(), key, object)
					out = append(out, object, fmt.Sprint(err))
				}
				for _, options := range [][]client.ListOption{nil, {client.InNamespace("a")}, {client.MatchingLabels{"name": "o1"}}, {client.InNamespace("none")}} {
					list := newList(t, server, kind)
					if err := reader.List(t.Context(), list, options...); err != nil {
						t.Fatal(err)
					}
					out = append(out, list)
				}
				return out
			}
			if diff := cmp.Diff(read(server.converting), read(server), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Errorf("reads (-converted +as stored):\n%s", diff)
			}
		})
	}
}

// createFilled creates an object whose times have nanoseconds, which JSON does not have, and patches its status.
func createFilled(t *testing.T, server *Server, kind client.Object, namespace, name string) {
	t.Helper()
	object := newLike(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{"name": name})
	object.SetFinalizers([]string{})
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "someone"}})
	switch o := object.(type) {
	case *corev1.Secret:
		o.Data = map[string][]byte{"key": []byte("value")}
	case *infrav1.AzureMachine:
		o.Spec.DataDisks = []infrav1.DataDisk{}
	}
	if err := server.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if conditioned, is := object.(interface {
		SetConditions(conditions []metav1.Condition)
	}); is {
		before := object.DeepCopyObject().(client.Object)
		conditioned.SetConditions([]metav1.Condition{{Type: "Ready", Status: "True", Reason: "Ready", LastTransitionTime: metav1.NewTime(time.Now())}})
		if err := server.Status().Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}

func newLike(kind client.Object) client.Object {
	return reflect.New(reflect.TypeOf(kind).Elem()).Interface().(client.Object)
}

func newList(t *testing.T, server *Server, kind client.Object) client.ObjectList {
	t.Helper()
	of, err := apiutil.GVKForObject(kind, server.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	of.Kind += "List"
	list, err := server.Scheme().New(of)
	if err != nil {
		t.Fatal(err)
	}
	return list.(client.ObjectList)
}

// TestPatchOfMetadata patches the metadata of a Secret: its data stay.
func TestPatchOfMetadata(t *testing.T) {
	server, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	createFilled(t, server, &corev1.Secret{}, "default", "s")
	for _, finalizer := range []string{"a.example.com", "a.example.com"} { // The second patch changes nothing.
		metadata := &metav1.PartialObjectMetadata{}
		metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		if err := server.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "s"}, metadata); err != nil {
			t.Fatal(err)
		}
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"finalizers":[%q]}}`, finalizer))
		if err := server.Patch(t.Context(), metadata, patch); err != nil {
			t.Fatal(err)
		}
		secret := &corev1.Secret{}
		if err := server.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "s"}, secret); err != nil {
			t.Fatal(err)
		}
		if string(secret.Data["key"]) != "value" || len(secret.Finalizers) != 1 {
			t.Errorf("the Secret has %d data and the finalizers %v after a patch of its metadata", len(secret.Data), secret.Finalizers)
		}
	}
}

// TestRestore restores an object of a list and reads it as it was.
func TestRestore(t *testing.T) {
	server, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", UID: "u", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: metav1.NewTime(time.Unix(1, 5))}, Status: infrav1.AzureMachineStatus{Ready: true}}
	if err := server.Restore(machine); err != nil {
		t.Fatal(err)
	}
	list := &infrav1.AzureMachineList{}
	if err := server.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	want := machine.DeepCopy()
	want.CreationTimestamp = metav1.NewTime(time.Unix(1, 0)) // JSON has seconds.
	if diff := cmp.Diff([]runtime.Object{want}, items); diff != "" {
		t.Errorf("restored objects (-want +got):\n%s", diff)
	}
}
