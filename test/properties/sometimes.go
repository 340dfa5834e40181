package properties

// Names of failures of requests, and of disorders of events.
const (
	LostAnswer      = "answer lost"
	KilledBefore    = "killed before"
	KilledAfter     = "killed after"
	LeaseLost       = "lease lost"
	Conflict        = "conflict"
	Throttled       = "throttled"
	ServerError     = "server error"
	OperationFailed = "operation failed"
	StaleAnswer     = "stale answer"
	StaleRead       = "stale read"
	EventLate       = "event late"
	EventsMerged    = "events merged"
	EventsReordered = "events reordered"
	// CrashBetweenWrites is a manager that died after a write to Azure and before the next one, which its successor sent.
	CrashBetweenWrites = "crash between writes"
)

// Sometimes returns the failures that an exploration of many seeds has to meet. One that it does not meet was not explored.
func Sometimes() []string {
	return []string{LostAnswer, KilledBefore, KilledAfter, LeaseLost, Conflict, Throttled, ServerError, OperationFailed, StaleAnswer, StaleRead,
		EventLate, EventsMerged, EventsReordered, CrashBetweenWrites}
}

// CountMet returns how often a history has each of them.
func CountMet(h *History) map[string]int {
	out := map[string]int{}
	hasWritten, died := false, false
	for _, step := range h.Steps {
		switch {
		case step.Met != "":
			out[step.Met]++
			died = died || step.Met == KilledBefore || step.Met == KilledAfter
		case step.Request != nil && step.Request.isWrite():
			if died && hasWritten {
				out[CrashBetweenWrites]++
			}
			hasWritten, died = true, false
		case step.Stable:
			hasWritten, died = false, false
		}
	}
	return out
}
