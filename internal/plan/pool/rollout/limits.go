package rollout

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Limits are how far a rollout may go beyond and below the number of VMs wanted.
type Limits struct {
	MaxSurge, MaxUnavailable int
}

// ResolveLimits computes limits for a number of VMs. Percentages are rounded as those of a Deployment: up for the surge, down for
// unavailable VMs; if both are 0, one VM may be unavailable, because otherwise no VM could ever be replaced. nil is 1 for the surge and 0
// for unavailable VMs. The error is that of a value that is neither a number nor a percentage.
func ResolveLimits(maxSurge, maxUnavailable *intstr.IntOrString, replicas int) (Limits, error) {
	surge, err := scaleLimit("maxSurge", maxSurge, 1, replicas, true)
	if err != nil {
		return Limits{}, err
	}
	unavailable, err := scaleLimit("maxUnavailable", maxUnavailable, 0, replicas, false)
	if err != nil {
		return Limits{}, err
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return Limits{MaxSurge: surge, MaxUnavailable: min(unavailable, replicas)}, nil
}

func scaleLimit(field string, value *intstr.IntOrString, absent, replicas int, up bool) (int, error) {
	if value == nil {
		return absent, nil
	}
	out, err := intstr.GetScaledValueFromIntOrPercent(value, replicas, up)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s %q: write a number, or a percentage such as 25%%: %w", field, value, err)
	case out < 0:
		return 0, fmt.Errorf("%s %q: write a number from 0", field, value)
	}
	return out, nil
}
