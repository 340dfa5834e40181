package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestPausedInReady pauses objects and resumes them: Ready shows the pause meanwhile, and its earlier content
// afterwards.
func TestPausedInReady(t *testing.T) {
	const why = "Cluster spec.paused is set to true"
	condition := func(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
		return &metav1.Condition{Type: infrav1.ReadyCondition, Status: status, Reason: reason, Message: message, ObservedGeneration: 3}
	}
	for name, tc := range map[string]struct {
		reason       string
		ready, while *metav1.Condition
	}{
		"ready": {"running VMs keep running", condition("True", "Ready", ""), condition("True", "Paused", why)},
		"not ready": {"the failure may be the reason of the pause", condition("False", "QuotaExceeded", "VMRunning: no cores"),
			condition("False", "QuotaExceeded", "paused ("+why+"); before that: VMRunning: no cores")},
		"as last seen": {"it is not known if the spec is applied", condition("True", "LastSeen", "as last seen; Azure does not answer"),
			condition("True", "LastSeen", "paused ("+why+"); before that: as last seen; Azure does not answer")},
		"not known": {"the pause changes nothing about the state", condition("Unknown", "Waiting", "Azure does not answer"),
			condition("Unknown", "Waiting", "paused ("+why+"); before that: Azure does not answer")},
		"not yet any": {"an object that was paused from the start gets a condition", nil,
			condition("Unknown", "Paused", "paused ("+why+") before the first reconciliation")},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
			conditions.Set(obj, metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.PausedReason,
				Message: why})
			if tc.ready != nil {
				obj.SetConditions(append(obj.GetConditions(), *tc.ready))
			} else {
				tc.while.ObservedGeneration = 4
			}
			for range 2 {
				markReadyPaused(obj)
			}
			ready := func() *metav1.Condition {
				found := conditions.Get(obj, infrav1.ReadyCondition)
				if found != nil {
					found.LastTransitionTime = metav1.Time{}
				}
				return found
			}
			if diff := cmp.Diff(tc.while, ready()); diff != "" {
				t.Errorf("%s: while paused (-want +got):\n%s", tc.reason, diff)
			}
			for range 2 {
				restoreReady(obj)
			}
			if diff := cmp.Diff(tc.ready, ready()); diff != "" {
				t.Errorf("%s: afterwards (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReconcileRequested(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		asked, handled string
		want           bool
	}{
		"never":   {"there was no request", "", "", false},
		"asked":   {"the request is not handled yet", "12:00", "", true},
		"again":   {"another value is another wish", "13:00", "12:00", true},
		"heeded":  {"one reconciliation is enough", "12:00", "12:00", false},
		"removed": {"taking the annotation away asks for nothing", "", "12:00", false},
	} {
		obj := &infrav1.AzureMachine{}
		if tc.asked != "" {
			obj.Annotations = map[string]string{infrav1.ReconcileRequestedAnnotation: tc.asked}
		}
		obj.Status.LastHandledReconcileAt = tc.handled
		if got := IsReconcileRequested(obj); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}
