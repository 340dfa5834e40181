package lifecycle_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestEnter checks the stored object once a reconciliation may continue, or nothing changes any more.
func TestEnter(t *testing.T) {
	const finalizer = infrav1.MachineFinalizer
	machine := func(change func(*infrav1.AzureMachine)) *infrav1.AzureMachine {
		object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
		object.UID = "m"
		if change != nil {
			change(object)
		}
		return object
	}
	entered := func(object *infrav1.AzureMachine) {
		object.Finalizers = []string{finalizer}
		object.Annotations = map[string]string{infrav1.BlockMoveAnnotation: "true"}
	}
	tests := map[string]struct {
		reason          string
		object          *infrav1.AzureMachine
		paused          bool
		finalizer       string
		goes            bool
		held, immovable bool
	}{
		"new": {"before anything is made, the object is held and cannot be moved", machine(nil), false, finalizer, true, true,
			true},
		"known": {"the stored object is complete", machine(entered), false, finalizer, true, true, true},
		"moved here": {"clusterctl keeps finalizers and takes the block away",
			machine(func(m *infrav1.AzureMachine) { m.Finalizers = []string{finalizer} }), false, finalizer, true, true, true},
		"of a paused cluster": {"it can move at any time, and nothing is done", machine(entered), true, finalizer, false, true, false},
		"paused itself": {"it can move at any time, and nothing is done", machine(func(m *infrav1.AzureMachine) {
			entered(m)
			m.Annotations[clusterv1.PausedAnnotation] = ""
		}), false, finalizer, false, true, false},
		"new and paused": {"nothing is made of it, so it needs no finalizer", machine(nil), true, finalizer, false, false, false},
		"deleted": {"the reconciliation continues to delete the resources", storetest.MarkDeleting(machine(entered)), false, finalizer, true,
			true, true},
		"deleted before begun": {"it is not held: nothing was made", storetest.MarkDeleting(machine(nil)), false, finalizer, true, false, false},
		"deleted and paused": {"even that waits for the end of the pause", storetest.MarkDeleting(machine(entered)), true, finalizer, false,
			true, false},
		"without a finalizer": {"a kind that makes nothing in Azure needs none", machine(nil), false, "", true, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
			cluster.Spec.Paused = new(test.paused)
			store := storetest.NewClient(t, cluster, test.object)
			stored, version, goes := &infrav1.AzureMachine{}, "", false
			for reconciliations := 0; !goes; reconciliations++ {
				if reconciliations > 10 {
					t.Fatal("the object changes in every reconciliation")
				}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(test.object), stored); err != nil {
					t.Fatal(err)
				}
				if reconciliations > 0 && stored.ResourceVersion == version {
					break
				}
				version = stored.ResourceVersion
				changes, _, err := lifecycle.Enter(t.Context(), store, cluster, stored.DeepCopy(), test.finalizer)
				if err != nil {
					t.Fatal(err)
				}
				goes = changes != nil
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(test.object), stored); err != nil {
				t.Fatal(err)
			}
			if goes != test.goes {
				t.Errorf("%s: continues %t", test.reason, goes)
			}
			if held := slices.Contains(stored.Finalizers, finalizer); held != test.held {
				t.Errorf("%s: finalizers %v", test.reason, stored.Finalizers)
			}
			if _, immovable := stored.Annotations[infrav1.BlockMoveAnnotation]; immovable != test.immovable {
				t.Errorf("%s: annotations %v", test.reason, stored.Annotations)
			}
			if paused := conditions.IsTrue(stored, clusterv1.PausedCondition); paused == test.goes {
				t.Errorf("%s: Paused is %t", test.reason, paused)
			}
		})
	}
}

// TestEnterWrites counts the writes before a reconciliation goes on, and the conditions that it stores with the first status.
func TestEnterWrites(t *testing.T) {
	entered := func(status metav1.ConditionStatus) *infrav1.AzureMachine {
		object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
		object.Finalizers, object.Annotations = []string{infrav1.MachineFinalizer}, map[string]string{infrav1.BlockMoveAnnotation: "true"}
		conditions.Set(object, metav1.Condition{Type: clusterv1.PausedCondition, Status: status, Reason: "Test"})
		return object
	}
	for name, test := range map[string]struct {
		reason string
		object *infrav1.AzureMachine
		want   []string
	}{
		"new":          {"the finalizer and the block on moves are one write", &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}, []string{"object"}},
		"known":        {"it is complete", entered(metav1.ConditionFalse), nil},
		"end of pause": {"other programs wait for it", entered(metav1.ConditionTrue), []string{"status"}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
			var writes []string
			store := interceptor.NewClient(storetest.NewClient(t, cluster, test.object), interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, change client.Patch, options ...client.PatchOption) error {
					writes = append(writes, "object")
					return c.Patch(ctx, obj, change, options...)
				},
				SubResourcePatch: func(ctx context.Context, c client.Client, part string, obj client.Object, change client.Patch,
					options ...client.SubResourcePatchOption) error {
					writes = append(writes, part)
					return c.SubResource(part).Patch(ctx, obj, change, options...)
				},
			})
			object := &infrav1.AzureMachine{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(test.object), object); err != nil {
				t.Fatal(err)
			}
			changes, _, err := lifecycle.Enter(t.Context(), store, cluster, object, infrav1.MachineFinalizer)
			if err != nil || changes == nil {
				t.Fatalf("the reconciliation ends: %v", err)
			}
			if diff := cmp.Diff(test.want, writes); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", test.reason, diff)
			}
			if err := changes.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(test.object), object); err != nil {
				t.Fatal(err)
			}
			if !conditions.IsFalse(object, clusterv1.PausedCondition) {
				t.Error("the first status has the Paused condition")
			}
		})
	}
}

// TestEnterBesideOthers lets another program label a new object before the finalizer is stored; it expects that the object is read again,
// without an error.
func TestEnterBesideOthers(t *testing.T) {
	cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: storetest.Namespace, Name: "m"}}
	store := storetest.NewClient(t, cluster, machine)
	enter := func(object *infrav1.AzureMachine) ctrl.Result {
		t.Helper()
		_, result, err := lifecycle.Enter(t.Context(), store, cluster, object, "example.com/finalizer")
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	read := func() *infrav1.AzureMachine {
		t.Helper()
		out := &infrav1.AzureMachine{}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(machine), out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	stale, other := read(), read()
	other.Finalizers, other.Labels = []string{"example.com/others"}, map[string]string{"a": "b"}
	if err := store.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if result := enter(stale); result.RequeueAfter == 0 || len(read().Finalizers) != 1 {
		t.Errorf("the object is read again after %s, and has the finalizers %q", result.RequeueAfter, read().Finalizers)
	}
	if enter(read()); len(read().Finalizers) != 2 {
		t.Errorf("the object has the finalizers %q", read().Finalizers)
	}
}

// TestFinalizerKeepsMigration adds the finalizer to new objects, and to those that lost it by an apply or a restore. It expects that only a new
// object counts as created here: the differences that CAPZ left in Azure stay.
func TestFinalizerKeepsMigration(t *testing.T) {
	for name, test := range map[string]struct {
		reason       string
		stored, want map[string]string
	}{
		"new": {"it has no resources yet", nil, map[string]string{infrav1.AppliedAnnotation: `{"migration":{}}`}},
		"created here": {"its resources had no differences to keep", map[string]string{infrav1.AppliedAnnotation: `{"applied":{"rg":[""]},"migration":{}}`},
			map[string]string{infrav1.AppliedAnnotation: `{"applied":{"rg":[""]},"migration":{}}`}},
		"migrated": {"its differences stay", map[string]string{infrav1.AppliedAnnotation: `{"applied":{"rg":[""]},"migration":{"kept":{"rg/x":["0123abcd"]}}}`},
			map[string]string{infrav1.AppliedAnnotation: `{"applied":{"rg":[""]},"migration":{"kept":{"rg/x":["0123abcd"]}}}`}},
		"being migrated": {"its resources have not all been read", map[string]string{infrav1.AppliedAnnotation: `{"applied":{"rg":[""]}}`},
			map[string]string{infrav1.AppliedAnnotation: `{"applied":{"rg":[""]}}`}},
		"of CAPZ": {"its resources existed before", map[string]string{infrav1.LastAppliedScaleSetTagsAnnotation: `{"team":"a"}`},
			map[string]string{infrav1.LastAppliedScaleSetTagsAnnotation: `{"team":"a"}`}},
		"of a pre-release": {"its differences stay", map[string]string{"sigs.k8s.io/cluster-api-provider-azure-taken-over": `{"left":{"rg/x":["0123abcd"]}}`},
			map[string]string{"sigs.k8s.io/cluster-api-provider-azure-taken-over": `{"left":{"rg/x":["0123abcd"]}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
			machine := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
			machine.Annotations = test.stored
			store := storetest.NewClient(t, cluster, machine)
			stored := &infrav1.AzureMachine{}
			// The reconciliation that writes the Paused condition ends with it, and so does the one that adds the finalizer.
			for range 3 {
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(machine), stored); err != nil {
					t.Fatal(err)
				}
				if _, _, err := lifecycle.Enter(t.Context(), store, cluster, stored, infrav1.MachineFinalizer); err != nil {
					t.Fatal(err)
				}
			}
			delete(stored.Annotations, infrav1.BlockMoveAnnotation)
			if diff := cmp.Diff(test.want, stored.Annotations); diff != "" || !slices.Contains(stored.Finalizers, infrav1.MachineFinalizer) {
				t.Errorf("%s: finalizers %q, annotations (-want +got):\n%s", test.reason, stored.Finalizers, diff)
			}
		})
	}
}
