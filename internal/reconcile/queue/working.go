package queue

import "time"

// measureWork updates the metrics of running work until the shutdown.
func (q *queue) measureWork() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-q.down:
			return
		case <-ticker.C:
			q.showWork(q.clock.Now())
		}
	}
}

func (q *queue) showWork(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all, longest time.Duration
	for _, since := range q.working {
		all += now.Sub(since)
		longest = max(longest, now.Sub(since))
	}
	q.metrics.SetWorking(all, longest)
}
