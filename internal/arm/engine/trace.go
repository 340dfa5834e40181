package engine

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// WithTracer returns hooks that also record a span for each operation that Azure has finished. A nil tracer changes nothing.
func (h Hooks) WithTracer(tracer *tracing.Tracer) Hooks {
	if tracer == nil {
		return h
	}
	before := h.OnOperationEnd
	h.OnOperationEnd = func(op *operate.Operation, took time.Duration, err error) {
		if before != nil {
			before(op, took, err)
		}
		tracer.RecordOperation(op.Context, tracing.Operation{Method: op.Method, ID: op.ID, Took: took, Err: err,
			WaitingObjects: op.WaitingObjects()})
	}
	return h
}
