package reconcile

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// endStage ends the span of a stage. A stage that ends early in good order has not failed, unless the StopReason has a cause.
func endStage(span tracing.Span, err error) {
	if reason := stopReasonOf(err); reason != nil {
		err = reason.cause
	}
	tracing.EndStage(span, err)
}
