package harness

import "testing"

func TestStuckQueues(t *testing.T) {
	const sending = "goroutine 8 [chan send, 1 minutes]:\npriorityqueue.(*priorityqueue[...]).handleReadyItems.func1.1()"
	var queues stuckQueues
	for _, step := range []struct {
		reason, stacks string
		want           bool
	}{
		{"a worker of ours is at work", "goroutine 7 [select]:\nengine.(*Engine).Converge()", false},
		{"a queue that waits for work is not stuck", "goroutine 8 [select]:\npriorityqueue.(*priorityqueue[...]).handleReadyItems()", false},
		{"nobody takes what it hands out", "goroutine 7 [select]:\nx()\n\n" + sending, true},
		{"that of an earlier manager is no excuse for the next", sending, false},
		{"another one is", sending + "\n\n" + sending, true},
	} {
		if got := queues.more(step.stacks); got != step.want {
			t.Errorf("%s: %t", step.reason, got)
		}
	}
}
