package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestOwnsName decides which of two objects has a resource of Azure that both name.
func TestOwnsName(t *testing.T) {
	start := time.Unix(1e9, 0)
	user := func(name string, age time.Duration, planned bool) plan.NameUser {
		return plan.NameUser{Planned: planned,
			Object: &metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(start.Add(-age))}}
	}
	for name, test := range map[string]struct {
		reason       string
		owner, other plan.NameUser
	}{
		"planned":        {"a moved object may be younger than its copy", user("b", 0, true), user("a", time.Hour, false)},
		"older":          {"nothing exists yet", user("b", time.Hour, false), user("a", 0, false)},
		"older, planned": {"a copy has the record of the original", user("b", time.Hour, true), user("a", 0, true)},
		"same second":    {"the names decide", user("a", 0, false), user("b", 0, false)},
	} {
		if !test.owner.OwnsName(test.other) || test.other.OwnsName(test.owner) {
			t.Errorf("%s: %s: got %t and %t", name, test.reason, test.owner.OwnsName(test.other), test.other.OwnsName(test.owner))
		}
	}
}
