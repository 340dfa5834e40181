package kubernetes

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestWrites patches and updates an object and its status. Each change is announced once. What an object already has is not announced, and the
// resource version stays, as with an API server.
func TestWrites(t *testing.T) {
	for _, test := range []struct {
		name       string
		change     func(*infrav1.AzureMachine)
		status     bool
		unchanged  bool
		generation int64
	}{
		{name: "metadata as it is", change: func(m *infrav1.AzureMachine) { m.Labels = map[string]string{"a": "b"} }, unchanged: true, generation: 1},
		{name: "status as it is", change: func(m *infrav1.AzureMachine) { m.Status.Ready = false }, status: true, unchanged: true, generation: 1},
		{name: "another label", change: func(m *infrav1.AzureMachine) { m.Labels["c"] = "d" }, generation: 1},
		{name: "another spec", change: func(m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_D2s_v3" }, generation: 2},
		{name: "another status", change: func(m *infrav1.AzureMachine) { m.Status.Ready = true }, status: true, generation: 1},
	} {
		for _, update := range []bool{false, true} {
			changes := 0
			server, err := New(func(context.Context, client.Object, client.Object) { changes++ })
			if err != nil {
				t.Fatal(err)
			}
			machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", Labels: map[string]string{"a": "b"}}}
			if err := server.Create(t.Context(), machine); err != nil {
				t.Fatal(err)
			}
			stored := &infrav1.AzureMachine{}
			if err := server.Get(t.Context(), client.ObjectKeyFromObject(machine), stored); err != nil {
				t.Fatal(err)
			}
			changes = 0
			written := stored.DeepCopy()
			test.change(written)
			if err := write(t.Context(), server, written, stored, test.status, update); err != nil {
				t.Fatal(err)
			}
			now := &infrav1.AzureMachine{}
			if err := server.Get(t.Context(), client.ObjectKeyFromObject(machine), now); err != nil {
				t.Fatal(err)
			}
			same := now.ResourceVersion == stored.ResourceVersion
			if same != test.unchanged || same != (changes == 0) || changes > 1 || written.ResourceVersion != now.ResourceVersion ||
				now.Generation != test.generation {
				t.Errorf("%s, update %v: version %s, before %s, in the answer %s; generation %d; %d announcements", test.name, update,
					now.ResourceVersion, stored.ResourceVersion, written.ResourceVersion, now.Generation, changes)
			}
		}
	}
}

// TestDeletions deletes objects twice. The first deletion of an object with a finalizer raises its generation, as with an API server.
func TestDeletions(t *testing.T) {
	byMetadata := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}
	byMetadata.SetGroupVersionKind(infrav1.GroupVersion.WithKind("AzureMachine"))
	for name, test := range map[string]struct {
		reason     string
		by         client.Object
		finalizers []string
		// generations are those after each deletion; 0 is none.
		generations [2]int64
	}{
		"with a finalizer": {"controllers see the deletion as a new generation", &infrav1.AzureMachine{}, []string{"a/b"}, [2]int64{2, 2}},
		"by metadata":      {"the whole object has the generation", byMetadata, []string{"a/b"}, [2]int64{2, 2}},
		"without":          {"nothing keeps the object", &infrav1.AzureMachine{}, nil, [2]int64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := New(nil)
			if err != nil {
				t.Fatal(err)
			}
			machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", Finalizers: test.finalizers}}
			if err := server.Create(t.Context(), machine); err != nil {
				t.Fatal(err)
			}
			test.by.SetNamespace("default")
			test.by.SetName("m")
			for i, want := range test.generations {
				if err := client.IgnoreNotFound(server.Delete(t.Context(), test.by)); err != nil {
					t.Fatal(err)
				}
				now := &infrav1.AzureMachine{}
				err := server.Get(t.Context(), client.ObjectKeyFromObject(machine), now)
				if client.IgnoreNotFound(err) != nil || now.Generation != want || now.DeletionTimestamp.IsZero() != (want == 0) {
					t.Errorf("%s: after deletion %d the generation is %d, want %d: %v", test.reason, i+1, now.Generation, want, err)
				}
				if test.by.GetGeneration() != 0 {
					t.Errorf("the deletion changed the object of the caller")
				}
			}
		})
	}
}

func write(ctx context.Context, c client.Client, object, before client.Object, status, update bool) error {
	patch := client.MergeFrom(before)
	switch {
	case status && update:
		return c.Status().Update(ctx, object)
	case status:
		return c.Status().Patch(ctx, object, patch)
	case update:
		return c.Update(ctx, object)
	default:
		return c.Patch(ctx, object, patch)
	}
}
