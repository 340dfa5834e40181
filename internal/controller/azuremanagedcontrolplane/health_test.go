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
	unhealthy := func(message string) outcome {
		return outcome{metav1.ConditionFalse, "AzureResourceUnavailable", "Azure Resource Health reports " + message}
	}
	tests := map[string]struct {
		reason string
		health facts.Health
		age    time.Duration
		want   outcome
	}{
		"available": {"all is well", facts.Health{State: "Available", Summary: "There aren't any known problems"}, 2 * time.Hour, fine},
		"degraded": {"the message has Azure's words", facts.Health{State: "Degraded", Reason: "Customer initiated", Summary: "s"},
			2 * time.Hour, unhealthy("Degraded (Customer initiated): s")},
		"new": {"in the first hour Azure often does not know yet", facts.Health{State: "Unknown"}, 59 * time.Minute, fine},
		"new and down": {"unavailable is unavailable at any age", facts.Health{State: "Unavailable", Reason: "Unplanned", Summary: "s"},
			time.Minute, unhealthy("Unavailable (Unplanned): s")},
		"without reason": {"the state is enough", facts.Health{State: "Unavailable", Summary: "s"}, 2 * time.Hour,
			unhealthy("Unavailable: s")},
		"empty answer": {"an empty answer does not prove health", facts.Health{}, 2 * time.Hour,
			unhealthy("nothing: no details")},
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
