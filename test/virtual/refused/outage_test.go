package refused_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPauseInOutage changes a spec while Azure does not answer, and pauses and resumes the object before it does. Until Azure has the new spec,
// Ready is as last seen and Reconciling is True, so that no program takes the object for one that is in line with its spec.
func TestPauseInOutage(t *testing.T) {
	for name, setPaused := range map[string]func(s *virtual.Scenario, paused bool){
		"Cluster": func(s *virtual.Scenario, paused bool) {
			harness.ChangeObject(s.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *clusterv1.Cluster) { c.Spec.Paused = &paused })
		},
		"annotation": func(s *virtual.Scenario, paused bool) {
			harness.ChangeObject(s.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
				if delete(c.Annotations, clusterv1.PausedAnnotation); paused {
					metav1.SetMetaDataAnnotation(&c.ObjectMeta, clusterv1.PausedAnnotation, "")
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := virtual.New(t)
				s.StartProvider()
				s.ApplyNetwork("c1", nil)
				s.WaitClusterProvisioned("c1")
				s.AdvanceClock(time.Hour)
				check := func(when, ready, message string, isReconciling bool) {
					t.Helper()
					object := &infrav1.AzureCluster{}
					s.ReadObject(object, "c1")
					got := harness.FindCondition(object, infrav1.ReadyCondition)
					if got.Status != metav1.ConditionTrue || got.Reason != ready || !strings.Contains(got.Message, message) {
						t.Errorf("%s: Ready is %s, %s: %s", when, got.Status, got.Reason, got.Message)
					}
					if got := harness.FindCondition(object, infrav1.ReconcilingCondition); (got.Status == metav1.ConditionTrue) != isReconciling {
						t.Errorf("%s: Reconciling is %q: %s", when, got.Status, got.Message)
					}
				}
				s.AddFault(fault.Rule{Kind: fault.Status, Status: 503, Code: "ServiceUnavailable", Message: "The service is unavailable.", Count: -1})
				s.AdvanceClock(time.Hour)
				check("in the outage", infrav1.LastSeenReason, "as last seen; Azure does not answer", false)
				harness.ChangeObject(s.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
					func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"team": "blue"} })
				s.AdvanceClock(10 * time.Minute)
				check("with a newer spec", infrav1.LastSeenReason, "as last seen; Azure does not answer", true)
				setPaused(s, true)
				s.AdvanceClock(10 * time.Minute)
				check("paused", infrav1.LastSeenReason, "; before that: as last seen; Azure does not answer", true)
				setPaused(s, false)
				s.AdvanceClock(10 * time.Minute)
				check("resumed", infrav1.LastSeenReason, "as last seen; Azure does not answer", true)
				s.Sim.ClearFaults()
				s.AdvanceClock(time.Hour)
				check("after the outage", infrav1.ReadyReason, "", false)
			})
		})
	}
}
