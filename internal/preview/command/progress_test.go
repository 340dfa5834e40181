package command

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress checks that a plan that takes long shows its progress every two seconds, and a short one shows none.
func TestProgress(t *testing.T) {
	tests := map[string]struct {
		reason string
		rounds int
		// each is how long a round takes.
		each time.Duration
		want int
	}{
		"short":       {"a plan of less than two seconds needs no message", 100, 10 * time.Millisecond, 0},
		"many rounds": {"the number of messages depends on the time and not on the rounds", 2000, 10 * time.Millisecond, 10},
		"long rounds": {"a round has one message", 5, time.Minute, 5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &bytes.Buffer{}
				show := newProgress(out)
				for i := range test.rounds {
					<-time.After(test.each)
					show(i+1, 7)
				}
				if got := strings.Count(out.String(), "\n"); got != test.want || strings.Count(out.String(), "planning: round ") != got {
					t.Errorf("%s: got %d messages, want %d:\n%s", test.reason, got, test.want, out)
				}
			})
		})
	}
}
