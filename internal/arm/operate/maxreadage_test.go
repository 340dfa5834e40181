package operate

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestMaxReadAge(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		elapsed time.Duration
		state   arm.State
		spare   float64
		want    time.Duration
	}{
		"new":            {"the delay is a share of the duration", 20 * time.Second, arm.Creating, 1, 500 * time.Millisecond},
		"long":           {"the delay is a second at most", 2 * time.Minute, arm.Creating, 1, time.Second},
		"deleting":       {"dependants do not wait for a deletion", 5 * time.Second, arm.Deleting, 1, 500 * time.Millisecond},
		"scarce":         {"one list serves all checks meanwhile", 20 * time.Second, arm.Creating, 0.4, 2 * time.Second},
		"long, scarce":   {"an end is noticed at most that late", 2 * time.Minute, arm.Creating, 0.4, 5 * time.Second},
		"half is enough": {"the budget is not scarce yet", 20 * time.Second, arm.Creating, 0.5, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := maxReadAge(tc.elapsed, tc.state, tc.spare); got != tc.want {
				t.Errorf("%s: %s, want %s: %s", name, got, tc.want, tc.reason)
			}
		})
	}
}
