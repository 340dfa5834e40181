package properties

// What goes wrong in tests that look for it. The names are those of the outcomes of an explorer.
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

// Sometimes are the things that tests which look for faults have to meet. A test that meets none of them shows nothing.
func Sometimes() []string {
	return []string{LostAnswer, KilledBefore, KilledAfter, LeaseLost, Conflict, Throttled, ServerError, OperationFailed, StaleAnswer, StaleRead,
		EventLate, EventsMerged, EventsReordered, CrashBetweenWrites}
}

// CountMet returns how often each of them was met in a history.
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
