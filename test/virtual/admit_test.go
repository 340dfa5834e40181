package virtual_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestStatusesPassTheSchema patches the status of an object in a complete scenario, which has an API server that checks them.
func TestStatusesPassTheSchema(t *testing.T) {
	condition := func(change func(*metav1.Condition)) func(*infrav1.AzureCluster) {
		return func(c *infrav1.AzureCluster) {
			ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.Now()}
			change(&ready)
			c.Status.Conditions = []metav1.Condition{ready}
		}
	}
	virtual.PlayComplete(t, func(s *virtual.Scenario) {
		s.CreateIdentity()
		s.ApplyNetwork("c1", nil)
		for _, test := range []struct {
			name    string
			change  func(*infrav1.AzureCluster)
			refused bool
		}{
			{"a condition", condition(func(*metav1.Condition) {}), false},
			{"a status of no condition", condition(func(c *metav1.Condition) { c.Status = "Perhaps" }), true},
			{"a condition without a reason", condition(func(c *metav1.Condition) { c.Reason = "" }), true},
			{"a type of no condition", condition(func(c *metav1.Condition) { c.Type = "not ready" }), true},
			// A patch of a status changes nothing else.
			{"a spec that cannot change", func(c *infrav1.AzureCluster) {
				condition(func(*metav1.Condition) {})(c)
				c.Spec.Location = "westus"
			}, false},
		} {
			stored := &infrav1.AzureCluster{}
			s.ReadObject(stored, "c1")
			before := stored.DeepCopy()
			test.change(stored)
			err := s.Client.Status().Patch(s.T.Context(), stored, client.MergeFrom(before))
			if apierrors.IsInvalid(err) != test.refused || !test.refused && err != nil {
				s.T.Errorf("%s: %v", test.name, err)
			}
		}
	})
}
