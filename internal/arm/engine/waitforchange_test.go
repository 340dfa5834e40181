package engine

import (
	"context"
	"testing"
)

// TestEndTakesPrecedenceOverAnswers lets an answer and an end arrive at the same time; it expects the end. A random choice between them
// would not be the same a hundred times.
func TestEndTakesPrecedenceOverAnswers(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		reason              string
		ctx                 context.Context
		expired, superseded chan struct{}
		want                bool
	}{
		"answer":          {reason: "the next round evaluates it", ctx: t.Context(), want: true},
		"time is over":    {reason: "the worker is needed by others", ctx: t.Context(), expired: closed},
		"newer graph":     {reason: "this graph is not wanted any more", ctx: t.Context(), superseded: closed},
		"manager stops":   {reason: "its caller has gone", ctx: cancelled},
		"several at once": {reason: "each of them ends it", ctx: cancelled, expired: closed, superseded: closed},
	} {
		t.Run(name, func(t *testing.T) {
			c := &convergence{ctx: test.ctx, request: Request{Superseded: test.superseded}, changed: make(chan struct{}, 1)}
			for range 100 {
				select {
				case c.changed <- struct{}{}:
				default:
				}
				if got := c.waitForChange(test.expired); got != test.want {
					t.Fatalf("%s: got %t, want %t", test.reason, got, test.want)
				}
			}
		})
	}
}
