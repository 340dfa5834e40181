package engine

import (
	"testing"
	"time"
)

// TestRepeatedRepair repairs a resource three times: the second time follows within the period, and the third one after it.
func TestRepeatedRepair(t *testing.T) {
	var a alignment
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if drifted, again := a.recordRepair(now, time.Hour); drifted || again {
		t.Error("a resource that has not drifted is not repaired")
	}
	for _, step := range []struct {
		later time.Duration
		again bool
	}{{0, false}, {time.Hour, true}, {time.Hour + time.Second, false}} {
		now = now.Add(step.later)
		a.recordDrift()
		if drifted, again := a.recordRepair(now, time.Hour); !drifted || again != step.again {
			t.Errorf("%s later: drifted %t, again %t, want again %t", step.later, drifted, again, step.again)
		}
	}
}
