package trim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// TestRemoveUnusedParts tests which parts of a Machine are cached.
func TestRemoveUnusedParts(t *testing.T) {
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"l": "v"}, Annotations: map[string]string{
		corev1.LastAppliedConfigAnnotation: `{"spec":{}}`, "a": "v",
	}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}}
	machine.Spec.ClusterName = "c"
	machine.Status.NodeRef.Name = "node"
	machine.Status.NodeInfo = &corev1.NodeSystemInfo{KubeletVersion: "v1.34.0", BootID: "boot"}
	machine.Status.Addresses = clusterv1.MachineAddresses{{Address: "10.0.0.4"}}
	machine.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.MachineReadyCondition, Status: metav1.ConditionTrue},
		{Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue},
		{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionTrue, Message: "long"},
		{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: "DrainingNode"},
	}
	want := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"l": "v"}, Annotations: map[string]string{
		corev1.LastAppliedConfigAnnotation: "", "a": "v",
	}}}
	want.Spec.ClusterName = "c"
	want.Status.NodeRef.Name = "node"
	want.Status.NodeInfo = &corev1.NodeSystemInfo{KubeletVersion: "v1.34.0"}
	want.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.MachineReadyCondition, Status: metav1.ConditionTrue},
		{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionTrue},
		{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: "DrainingNode"},
	}
	RemoveUnusedParts(machine)
	if diff := cmp.Diff(want, machine); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPatchKeepsTrimmedFields patches an object as a reconciliation does that has read it from the cache.
func TestPatchKeepsTrimmedFields(t *testing.T) {
	const applied = `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1"}`
	tests := map[string]struct {
		reason        string
		before, after map[string]string
	}{
		"one more":    {"an annotation is added to the existing ones", nil, map[string]string{"own": "1"}},
		"the last":    {"a patch without annotations would remove the trimmed ones", map[string]string{"own": "1"}, nil},
		"one of two":  {"others stay", map[string]string{"own": "1", "other": "2"}, map[string]string{"other": "2"}},
		"another one": {"a value changes", map[string]string{"own": "1"}, map[string]string{"own": "2"}},
	}
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stored := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m",
				Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: applied}}}
			want := map[string]string{corev1.LastAppliedConfigAnnotation: applied}
			for key, value := range test.before {
				stored.Annotations[key] = value
			}
			for key, value := range test.after {
				want[key] = value
			}
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).WithStatusSubresource(stored).Build()
			cached := &infrav1.AzureMachine{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), cached); err != nil {
				t.Fatal(err)
			}
			RemoveUnusedParts(cached)
			changes := patch.TrackChanges(c, cached)
			for key := range test.before {
				delete(cached.Annotations, key)
			}
			for key, value := range test.after {
				cached.Annotations[key] = value
			}
			cached.Finalizers, cached.Status.Ready = []string{infrav1.MachineFinalizer}, true
			if err := changes.Write(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, stored.Annotations); diff != "" || !stored.Status.Ready || len(stored.Finalizers) != 1 {
				t.Errorf("%s: finalizers %v, annotations (-want +got):\n%s", test.reason, stored.Finalizers, diff)
			}
		})
	}
}
