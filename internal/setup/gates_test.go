package setup

import (
	"fmt"
	"testing"
)

// TestGates sets every gate both ways, as manifests do: one that cannot be set keeps the manager from starting.
func TestGates(t *testing.T) {
	t.Parallel()
	for name := range newGates().GetAll() {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		for _, on := range []bool{true, false} {
			gates := newGates()
			if err := gates.Set(fmt.Sprintf("%s=%t", name, on)); err != nil {
				t.Errorf("--feature-gates=%s=%t: %v", name, on, err)
				continue
			}
			if got := gates.Enabled(name); got != on {
				t.Errorf("%s is %t after it was set to %t", name, got, on)
			}
		}
	}
}
