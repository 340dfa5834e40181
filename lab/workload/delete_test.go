package workload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestNotDeleted tells a user who interrupts a deletion from one who has waited for too long.
func TestNotDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		reason      string
		err         error
		want        string
		interrupted bool
	}{
		"interrupted": {"the user knows the time", context.Canceled, "interrupted before Cluster c was gone. Its deletion continues", true},
		"too long": {"the cause helps", context.DeadlineExceeded,
			"deleting Cluster c takes longer than 1m0s: ", false},
	} {
		err := notDeleted(&settings.Settings{}, &Object{}, "c", time.Minute, test.err)
		if !strings.HasPrefix(err.Error(), test.want) || errors.Is(err, ErrInterrupted) != test.interrupted {
			t.Errorf("%s: %s: got %v", name, test.reason, err)
		}
	}
}
