package engine

import (
	"errors"
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// lastWrite records the last write of a resource by this process.
type lastWrite struct {
	// result is "" if there was no write or the resource has been seen in its desired state since. before is that of the write before.
	result, before writeResult
}

// writeResult is the result of a write.
type writeResult string

const (
	// writeOpen means that Azure may have carried out the write.
	writeOpen writeResult = "open"
	// writeRefused means that Azure refused the request.
	writeRefused writeResult = "refused"
)

// LastWrite returns the result of the last write of a resource in this process. refused means that Azure refused the request, so that the
// resource has no property of it. open means that the resource may have the properties of the request and was not seen in that state yet.
func (e *Engine) LastWrite(id arm.ID) (refused, open bool) {
	result := e.states.get(id.Key()).write.result
	return result == writeRefused, result == writeOpen
}

// isRefusedRequest reports whether the answer to a request means that Azure has changed nothing: by the contract of resource providers a
// request is checked before it is accepted. The failure of an operation is no such answer.
// https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/resource-api-reference.md
func isRefusedRequest(err error) bool {
	var azure *arm.Error
	return errors.As(err, &azure) && azure.Status >= 400 && azure.Status < 500 && azure.Status != http.StatusRequestTimeout
}

// recordSent records that a write is being sent.
func (w *lastWrite) recordSent() { w.result, w.before = writeOpen, w.result }

// recordUnsent records that the write was not sent after all.
func (w *lastWrite) recordUnsent() { w.result = w.before }

// recordAnswer records the error of a request. partly means that an earlier request of the same write was accepted.
func (w *lastWrite) recordAnswer(err error, partly bool) {
	switch {
	case arm.IsBudgetEmpty(err):
		w.recordUnsent()
	case isRefusedRequest(err) && !partly:
		w.result = writeRefused
	}
}
