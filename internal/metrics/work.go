package metrics

// Work counts the work of the controllers of a manager. The zero value counts it in the metrics of the process.
type Work struct {
	// Uncounted counts nothing: a plan in the process of a manager does no work of that manager.
	Uncounted bool
}
