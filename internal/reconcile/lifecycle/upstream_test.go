package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestPausedConditionIsClusterAPIs compares the Paused condition with that of Cluster API's helper, which patches each object by itself
// and would make the manager a quarter larger. A release that changes the condition fails the test.
func TestPausedConditionIsClusterAPIs(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason      string
		cluster     *clusterv1.Cluster
		annotations map[string]string
	}{
		"no cluster":     {reason: "The Cluster may not exist yet."},
		"not paused":     {reason: "Neither asks for a pause.", cluster: &clusterv1.Cluster{}},
		"explicitly not": {reason: "False is no pause.", cluster: &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: new(false)}}},
		"cluster":        {reason: "The Cluster is paused.", cluster: &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: new(true)}}},
		"annotation":     {reason: "The object is paused.", annotations: map[string]string{clusterv1.PausedAnnotation: ""}},
		"false as a text": {reason: "The annotation pauses with every value.",
			annotations: map[string]string{clusterv1.PausedAnnotation: "false"}},
		"both": {reason: "Both are named.", cluster: &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: new(true)}},
			annotations: map[string]string{clusterv1.PausedAnnotation: "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "n", Generation: 3, Annotations: tc.annotations}}
			ours := pausedCondition(object, "AzureMachine", tc.cluster)
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
			isPaused, _, err := paused.EnsurePausedCondition(t.Context(), c, tc.cluster, object)
			if err != nil {
				t.Fatal(err)
			}
			theirs := conditions.Get(object, clusterv1.PausedCondition)
			if diff := cmp.Diff(*theirs, ours, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
				t.Errorf("%s (-Cluster API +ours):\n%s", tc.reason, diff)
			}
			if got := ours.Status == metav1.ConditionTrue; got != isPaused {
				t.Errorf("%s Paused is %t, Cluster API's is %t.", tc.reason, got, isPaused)
			}
		})
	}
}
