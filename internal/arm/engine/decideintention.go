package engine

import (
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// observingRetryAfter is how often an absent resource of an observed object is read again.
const observingRetryAfter = 10 * time.Minute

// intendWrite reports the write of d in place of sending it. The state is that which Azure shows.
func intendWrite(s situation, d decision) decision {
	if !s.removing && (s.found.FromList && !s.found.Exists || s.found.ConfirmedByDigest) {
		// A write would read the resource again, too.
		return decision{step: stepConfirm}
	}
	if s.intendsDependency && s.found.Exists && !s.removing && len(s.differences) > 0 && hasPlannedBody(s) {
		// The write of the dependency may end the state, as when a network gets its address ranges back.
		return decision{step: stepReport, state: arm.Ready}
	}
	out := decision{step: stepReport, state: arm.Ready, intended: d.method, drift: d.drift}
	if _, failed := s.found.Head().State(); failed && !s.removing {
		out.state, out.retryAfter = arm.Failed, observingRetryAfter
		if out.err = s.failure; out.err == nil {
			out.err = &arm.Error{Method: http.MethodGet, ID: s.id, Status: http.StatusOK, Code: CodeProvisioningFailed,
				Message: "Azure shows the resource in the state Failed. It is not written again while the object is observed"}
		}
	}
	if !s.found.Exists {
		out.state, out.retryAfter = arm.Absent, observingRetryAfter
		out.message = "does not exist and is not created while the object is observed"
	}
	return out
}
