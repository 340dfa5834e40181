package patch

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestFinalizersOfOthers lets another program add its finalizer after the object was read; it expects that a patch with the list of
// finalizers leaves it.
func TestFinalizersOfOthers(t *testing.T) {
	const own, others = "own.example.com/a", "others.example.com/b"
	for name, test := range map[string]struct {
		stored, want []string
		change       func(*infrav1.AzureMachine)
		conflict     bool
	}{
		"own finalizer added": {want: []string{others}, conflict: true,
			change: func(m *infrav1.AzureMachine) { m.Finalizers = append(m.Finalizers, own) }},
		"own finalizer removed": {stored: []string{own}, want: []string{own, others}, conflict: true,
			change: func(m *infrav1.AzureMachine) { m.Finalizers = nil }},
		"own finalizer added with a status": {want: []string{others}, conflict: true, change: func(m *infrav1.AzureMachine) {
			m.Finalizers, m.Status.Ready = append(m.Finalizers, own), true
		}},
		"something else changed": {stored: []string{own}, want: []string{own, others},
			change: func(m *infrav1.AzureMachine) { m.Annotations = map[string]string{"a": "b"} }},
	} {
		t.Run(name, func(t *testing.T) {
			stored := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Finalizers: test.stored}}
			c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(stored).WithStatusSubresource(stored).Build()
			read := func() *infrav1.AzureMachine {
				out := &infrav1.AzureMachine{}
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), out); err != nil {
					t.Fatal(err)
				}
				return out
			}
			mine, theirs := read(), read()
			theirs.Finalizers = append(theirs.Finalizers, others)
			if err := c.Update(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			changes := TrackChanges(c, mine)
			test.change(mine)
			if err := changes.Write(t.Context()); apierrors.IsConflict(err) != test.conflict {
				t.Errorf("the write returned %v", err)
			}
			if got := read().Finalizers; !slices.Equal(got, test.want) {
				t.Errorf("the object has the finalizers %q, want %q", got, test.want)
			}
		})
	}
}

// TestStatusBesideOthers lets another program label the object after the first of two patches; it expects that the status needs no other
// version.
func TestStatusBesideOthers(t *testing.T) {
	stored := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	labelled := false
	c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(stored).WithStatusSubresource(stored).
		WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, change client.Patch,
			options ...client.PatchOption) error {
			if err := c.Patch(ctx, obj, change, options...); err != nil || labelled {
				return err
			}
			labelled = true
			other := &infrav1.AzureMachine{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(stored), other); err != nil {
				return err
			}
			other.Labels = map[string]string{"a": "b"}
			return c.Update(ctx, other)
		}}).Build()
	machine := &infrav1.AzureMachine{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), machine); err != nil {
		t.Fatal(err)
	}
	changes := TrackChanges(c, machine)
	machine.Spec.ProviderID, machine.Status.Ready = new("azure:///x"), true
	if err := changes.Write(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), machine); err != nil || !machine.Status.Ready || machine.Labels["a"] != "b" {
		t.Errorf("stored: ready %t, labels %v, %v", machine.Status.Ready, machine.Labels, err)
	}
}

// TestTransitionTimes lets a reconciliation set a condition twice; it expects that the transition time stays if the last value is the
// stored one.
func TestTransitionTimes(t *testing.T) {
	since := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	stopped := metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: "Stopped", Message: "it is stopped",
		LastTransitionTime: since}
	other := stopped
	other.Message = "it is stopped by others"
	for name, test := range map[string]struct {
		last metav1.Condition
		kept bool
	}{
		"as before": {stopped, true}, "otherwise": {other, false},
	} {
		t.Run(name, func(t *testing.T) {
			stored := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
			stored.Status.Conditions = []metav1.Condition{stopped}
			c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(stored).WithStatusSubresource(stored).Build()
			machine := &infrav1.AzureMachine{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), machine); err != nil {
				t.Fatal(err)
			}
			changes := TrackChanges(c, machine)
			test.last.LastTransitionTime = metav1.Time{}
			conditions.Set(machine, metav1.Condition{Type: stopped.Type, Status: metav1.ConditionTrue, Reason: "Ready"})
			conditions.Set(machine, test.last)
			if err := changes.write(t.Context()); err != nil {
				t.Fatal(err)
			}
			if at := conditions.Get(machine, stopped.Type).LastTransitionTime; at.Equal(&since) != test.kept {
				t.Errorf("the condition is of %s, and was of %s", at, since)
			}
		})
	}
}
