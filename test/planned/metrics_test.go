package planned_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPlansAreNotCounted computes plans of a new cluster, and of an observed one, in the process of a manager. The metrics of the manager stay the same.
func TestPlansAreNotCounted(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		s.ApplyNetwork("c1", nil)
		for _, observe := range []bool{false, true} {
			if observe {
				azureCluster := &infrav1.AzureCluster{}
				azureCluster.Name = "c1"
				harness.ChangeObject(s.Stage, azureCluster, func(c *infrav1.AzureCluster) {
					c.Annotations = map[string]string{infrav1.ObserveAnnotation: ""}
				})
			}
			options := s.PlanOptions(s.Azure.SubscriptionID)
			options.KeepObserving = true
			before := listMetrics(t)
			outcome, err := preview.Compute(s.T.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			if planned := len(outcome.Writes) > 0; planned == observe {
				t.Errorf("observed %t: the plan has %d writes", observe, len(outcome.Writes))
			}
			if diff := cmp.Diff(before, listMetrics(t)); diff != "" {
				t.Errorf("observed %t: a plan is counted in the metrics of the manager (-before +after):\n%s", observe, diff)
			}
		}
	})
}

// listMetrics returns the metrics of the process that managers serve.
func listMetrics(t *testing.T) (out []string) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "go_") || strings.HasPrefix(family.GetName(), "process_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			out = append(out, fmt.Sprint(family.GetName(), " ", metric))
		}
	}
	slices.Sort(out)
	return out
}
