package cluster_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

func TestNothingCreated(t *testing.T) {
	annotated := func(key, value string) func(*infrav1.AzureCluster) {
		return func(c *infrav1.AzureCluster) { c.Annotations = map[string]string{key: value} }
	}
	tests := map[string]struct {
		reason string
		change func(*infrav1.AzureCluster)
		want   bool
	}{
		"new": {"no reconciliation has planned yet", func(*infrav1.AzureCluster) {}, true},
		"refused": {"a condition about a refusal is no sign of resources in Azure", func(c *infrav1.AzureCluster) {
			c.Status.Conditions = []metav1.Condition{{Type: infrav1.ReadyCondition}}
		}, true},
		"resources": {"that list is for people, and does not survive a move",
			func(c *infrav1.AzureCluster) { c.Status.Resources = []infrav1.ResourceStatus{{ID: "/a"}} }, true},
		"planned": {"the plan is stored before anything is made", annotated(infrav1.AppliedAnnotation, `{"applied":{}}`), false},
		"inventory": {"so is a resource that carries no tag",
			annotated(infrav1.AppliedAnnotation, `{"inventory":{"object":"AzureCluster/default/c1"}}`), false},
		"created here": {"it was created under this provider and has its ID, and no plan yet",
			annotated(infrav1.AppliedAnnotation, `{"ownerID":"o","migration":{}}`), true},
		"damaged":                 {"something was stored", annotated(infrav1.AppliedAnnotation, `{`), false},
		"planned by v2.0.0-alpha": {"its annotations are read", annotated("sigs.k8s.io/cluster-api-provider-azure-last-applied", "{}"), false},
		"tags": {"the established provider stores them once the group exists",
			annotated("sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-rg", "{}"), false},
		"rules": {"the established provider stores them, too",
			annotated("sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules", "{}"), false},
		"endpoint": {"it survives a move", func(c *infrav1.AzureCluster) { c.Spec.ControlPlaneEndpoint.Host = "api" }, false},
		"condition": {"the established provider has begun", func(c *infrav1.AzureCluster) {
			c.Status.Conditions = []metav1.Condition{{Type: infrav1.ResourceGroupReadyCondition}}
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			azureCluster := &infrav1.AzureCluster{}
			test.change(azureCluster)
			if got := cluster.NothingCreated(azureCluster); got != test.want {
				t.Errorf("%s: %t", test.reason, got)
			}
		})
	}
}
