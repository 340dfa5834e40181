package kubelet

import (
	"testing"
	"time"
)

// TestRenewalTime checks that a token is renewed by the wall clock, which runs on while the machine sleeps.
func TestRenewalTime(t *testing.T) {
	now := time.Now()
	got := renewalTime(now, now.Add(time.Hour))
	if !got.Equal(now.Add(48 * time.Minute)) {
		t.Errorf("a token for an hour from %v is renewed at %v", now, got)
	}
	if got != got.Round(0) {
		t.Errorf("the time %v has a reading of the monotonic clock", got)
	}
}
