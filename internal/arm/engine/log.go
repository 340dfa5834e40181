package engine

import (
	"context"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// sentLevel is the verbosity of lines about requests that are sent. Their ends are logged for all.
const sentLevel = 3

// logger returns the logger of a reconciliation, with the keys of its object. Without one, it is the engine's with the object.
func (e *Engine) logger(ctx context.Context, object string) logr.Logger {
	if log, err := logr.FromContext(ctx); err == nil {
		return log
	}
	return e.log.WithValues("object", object)
}

// logValues returns the keys and values of the log line about a change.
func logValues(change arm.Change) []any {
	out := []any{"change", change.Kind}
	if len(change.Paths) > 0 {
		out = append(out, "paths", change.Paths)
	}
	return out
}
