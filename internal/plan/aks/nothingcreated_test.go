package aks_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

func TestNothingCreated(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*infrav1.AzureManagedControlPlane)
		want   bool
	}{
		"new": {"nothing can be in Azure", func(*infrav1.AzureManagedControlPlane) {}, true},
		"only waiting": {"a condition about its identity is no sign of a plan", func(c *infrav1.AzureManagedControlPlane) {
			conditions.Set(c, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse, Reason: "IdentityNotFound"})
		}, true},
		"sent": {"a plan was about to be sent", func(c *infrav1.AzureManagedControlPlane) {
			c.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{}}`}
		}, false},
		"inventory": {"something without a tag was made", func(c *infrav1.AzureManagedControlPlane) {
			c.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"inventory":{"object":"AzureManagedControlPlane/default/c1"}}`}
		}, false},
		"endpoint": {"AKS gave it, also after clusterctl move and from a backup", func(c *infrav1.AzureManagedControlPlane) {
			c.Annotations = map[string]string{infrav1.EndpointAnnotation: "h:443"}
			c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "h", Port: 443}
		}, false},
		"endpoint of the established provider": {"it overwrites that of a user, too", func(c *infrav1.AzureManagedControlPlane) {
			c.Finalizers = []string{infrav1.ManagedControlPlaneFinalizer}
			c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "h", Port: 443}
		}, false},
		"endpoint of a user": {"a placeholder is no proof that a cluster exists", func(c *infrav1.AzureManagedControlPlane) {
			c.Finalizers = []string{infrav1.ManagedControlPlaneFinalizer}
			c.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"migration":{}}`}
			c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "placeholder", Port: 443}
		}, true},
		"ready": {"the established provider's status proves it", func(c *infrav1.AzureManagedControlPlane) { c.Status.Ready = true },
			false},
		"initialized": {"the established provider's status proves it", func(c *infrav1.AzureManagedControlPlane) { c.Status.Initialized = true },
			false},
		"group reported": {"a reconciliation came as far as the group", func(c *infrav1.AzureManagedControlPlane) {
			conditions.Set(c, metav1.Condition{Type: infrav1.ResourceGroupReadyCondition, Status: metav1.ConditionFalse, Reason: "Failed"})
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}}
			test.change(object)
			if got := aks.NothingCreated(object); got != test.want {
				t.Errorf("%s: got %t", test.reason, got)
			}
		})
	}
}
