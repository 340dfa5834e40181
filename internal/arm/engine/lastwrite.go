package engine

import (
	"errors"
	"net/http"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// writeResult is what is known of the last write of a resource in this process, "" if there was none or the resource has been seen in its
// desired state since.
type writeResult string

const (
	// writeOpen means that Azure may have carried out the write.
	writeOpen writeResult = "open"
	// writeRefused means that Azure refused the request.
	writeRefused writeResult = "refused"
)

// LastWrite returns what is known of the last write of a resource in this process. refused means that Azure refused the request, so that
// the resource has nothing of it. open means that the resource may have what was sent and was not seen in that state yet.
func (e *Engine) LastWrite(id arm.ID) (refused, open bool) {
	result := e.states.lastWrite(id.Key())
	return result == writeRefused, result == writeOpen
}

// isRefusedRequest reports whether the answer to a request means that Azure has changed nothing: by the contract of resource providers a
// request is checked before it is accepted. The failure of an operation is no such answer.
// https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/resource-api-reference.md
func isRefusedRequest(err error) bool {
	var azure *arm.Error
	return errors.As(err, &azure) && azure.Status >= 400 && azure.Status < 500 && azure.Status != http.StatusRequestTimeout
}

func (s *stateStore) lastWrite(key string) writeResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.findState(key); found != nil {
		return found.write
	}
	return ""
}

// recordWriteSent records that a write is being sent.
func (s *stateStore) recordWriteSent(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateFor(key)
	state.write, state.writeBefore = writeOpen, state.write
}

// recordWriteUnsent records that the write was not sent after all.
func (s *stateStore) recordWriteUnsent(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.findState(key); found != nil {
		found.write = found.writeBefore
		s.dropIfEmpty(key)
	}
}

// recordAnswer records the error of a request. partly means that an earlier request of the same write was accepted.
func (s *stateStore) recordAnswer(key string, err error, partly bool) {
	switch {
	case arm.IsBudgetEmpty(err):
		s.recordWriteUnsent(key)
	case isRefusedRequest(err) && !partly:
		s.recordWriteRefused(key)
	}
}

// recordWriteRefused records that Azure refused the request.
func (s *stateStore) recordWriteRefused(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateFor(key).write = writeRefused
}
