package azuremanagedcontrolplane

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
)

func TestHealthCondition(t *testing.T) {
	type outcome struct {
		Status          metav1.ConditionStatus
		Reason, Message string
	}
	fine := outcome{metav1.ConditionTrue, "Ready", ""}
	tests := map[string]struct {
		reason string
		health facts.Health
		age    time.Duration
		want   outcome
	}{
		"available": {"all is well", facts.Health{State: "Available", Summary: "There aren't any known problems"}, 2 * time.Hour, fine},
		"degraded": {"Azure's words, the reason as one word", facts.Health{State: "Degraded", Reason: "Customer initiated", Summary: "s"},
			2 * time.Hour, outcome{metav1.ConditionFalse, "CustomerInitiated", "s"}},
		"new": {"in the first hour Azure often does not know yet", facts.Health{State: "Unknown"}, 59 * time.Minute, fine},
		"new and down": {"unavailable is unavailable at any age", facts.Health{State: "Unavailable", Reason: "Unplanned", Summary: "s"},
			time.Minute, outcome{metav1.ConditionFalse, "Unplanned", "s"}},
		"without reason": {"a condition needs one", facts.Health{State: "Unavailable", Summary: "s"}, 2 * time.Hour,
			outcome{metav1.ConditionFalse, "Unavailable", "s"}},
		"empty answer": {"an empty answer does not prove health", facts.Health{}, 2 * time.Hour,
			outcome{metav1.ConditionFalse, "Unknown", "Azure Resource Health reports Unknown without details"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := healthCondition(test.health, test.age)
			if diff := cmp.Diff(test.want, outcome{got.Status, got.Reason, got.Message}); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}
