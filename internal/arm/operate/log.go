package operate

import (
	"time"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// followedLevel is the verbosity of lines about operations that other parties began.
const followedLevel = 3

// logEnd logs the end of an operation. There is one line for each change in Azure: it is written when Azure has finished the operation or
// refused it, so that it has the result.
func (o *Operator) logEnd(op *Operation, took time.Duration, err error) {
	log := o.logger(op)
	if op.Method == "" {
		log = log.V(followedLevel)
	}
	values := append([]any{"resource", op.ID, "method", op.Method, "duration", took.Round(time.Millisecond).String()}, op.LogValues...)
	switch {
	case err != nil:
		// Not an error of the manager: the reconciliation shows it on the object and tries again.
		log.Info("Change in Azure failed", append(values, "class", arm.Classify(err), "cause", arm.ClassReason(err), "requestID", arm.RequestID(err),
			"error", err.Error())...)
	case op.Action:
		log.Info("Ran action in Azure", values...)
	default:
		log.Info("Changed Azure", values...)
	}
}

// longOperation is the age from which the log has a line about a running operation. Only upgrades of large AKS clusters usually take longer.
const longOperation = time.Hour

// logLong logs once that an operation takes long, with the IDs that Azure's support needs. The line about its end comes too late for one that hangs.
func (o *Operator) logLong(op *Operation) {
	age := o.options.Clock.Now().Sub(op.started)
	op.mu.Lock()
	due := age >= longOperation && !op.loggedLong
	op.loggedLong = op.loggedLong || due
	requestID, correlationID := op.requestID, op.correlationID
	op.mu.Unlock()
	if !due {
		return
	}
	values := []any{"resource", op.ID, "method", op.Method, "age", age.Round(time.Second).String()}
	if requestID != "" {
		values = append(values, "requestID", requestID)
	}
	if correlationID != "" {
		values = append(values, "correlationID", correlationID)
	}
	if op.Action {
		values = append(values, op.LogValues...)
	}
	o.logger(op).Info("Operation in Azure takes long", values...)
}

// logger returns the logger of the reconciliation that sent the request of an operation, with the keys of its object. Without one, it is the
// operator's with the object.
func (o *Operator) logger(op *Operation) logr.Logger {
	if op.Context != nil {
		if log, err := logr.FromContext(op.Context); err == nil {
			return log
		}
	}
	return o.options.Log.WithValues("object", op.Object)
}
