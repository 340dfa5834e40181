package observe

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// Observed is a resource as Azure last returned it.
type Observed struct {
	ID arm.ID
	// Exists is false if Azure answered 404 for the resource or its parent.
	Exists bool
	// Body is the resource; nil when it does not exist or Err is set.
	Body json.RawMessage
	// ETag is the value for If-Match, from the body or the header; "" if Azure returned none.
	ETag string
	// Err is the error of the read. It is never a 404.
	Err error
	// At is the time of the request.
	At time.Time
}

// Observation is the result of a read or a write. The zero value means that the resource was not read.
type Observation struct {
	Observed
	// FromList means that the absence follows from a list, which may lag. The parent's document may be an element of one, too.
	FromList bool
	// listed means that the body is an element of a list.
	listed bool
	// FromWrite means that the body is the answer to a PUT, which may still change. Its etag is outdated by then.
	FromWrite bool
	// ConfirmedByDigest means that the read is older than requested and a digest shows no write since. It is good enough to find that a
	// resource is in order, but no basis for a write.
	ConfirmedByDigest bool
	// changeCount is the cache's count of changes when the read began.
	changeCount uint64
	// mark is the mark of the digest before the read. confirmedAt is when another digest last showed the same mark. requested means that
	// a caller asked for the resource, and not only for others of the same list.
	mark        DigestMark
	confirmedAt time.Time
	requested   bool
	// compressed is the body in compressed form; it is empty while Body is set. bodyHash is the hash of the compressed body, bodySince
	// the time when the cache first had it.
	compressed CompressedBody
	bodyHash   uint64
	bodySince  time.Time
	// head is the Head that Head has parsed, shared by all copies of the observation; nil if it is parsed each time. Each convergence asks
	// for it several times for each resource.
	head *atomic.Pointer[parsedHead]
}

// parsedHead is the Head of one body.
type parsedHead struct {
	// first is the first byte of that body. A copy of an observation may have another body, as an element of a list has.
	first *byte
	head  Head
}

// Head returns the Head of the body.
func (o Observation) Head() Head {
	if o.head == nil || len(o.Body) == 0 {
		return ParseHead(o.Body)
	}
	if kept := o.head.Load(); kept != nil && kept.first == &o.Body[0] {
		return kept.head
	}
	head := ParseHead(o.Body)
	o.head.Store(&parsedHead{first: &o.Body[0], head: head})
	return head
}

// WasRead reports whether the resource was read.
func (o Observation) WasRead() bool { return o.ID != "" }

// Head holds the members that all resources share.
type Head struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	ETag       string            `json:"etag"`
	Tags       map[string]string `json:"tags"`
	Properties struct {
		ProvisioningState string `json:"provisioningState"`
	} `json:"properties"`
	Identity struct {
		PrincipalID string `json:"principalId"`
	} `json:"identity"`
}

// ParseHead reads the Head of a body.
func ParseHead(body json.RawMessage) Head {
	var out Head
	// A body of another shape has none of these.
	_ = json.Unmarshal(body, &out)
	return out
}

// State reads the provisioningState. inProgress is the change that Azure is carrying out on the resource, "" if there is none; failed means
// that the last change of the resource failed.
func (h Head) State() (inProgress arm.State, failed bool) {
	switch strings.ToLower(h.Properties.ProvisioningState) {
	case "", "succeeded", "ready":
		return "", false
	case "failed", "canceled", "cancelled":
		return "", true
	// Members of fleets join and leave.
	case "deleting", "leaving":
		return arm.Deleting, false
	case "creating", "accepted", "joining":
		return arm.Creating, false
	}
	return arm.Updating, false
}

// AffectsEveryRequest reports whether every other request of the same client would fail with this error, too.
func AffectsEveryRequest(err error) bool {
	var e *arm.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case client.CodeCredentialsInvalid, client.CodeTokenUnavailable, client.CodeCanceled, arm.CodeBudgetEmpty,
		"SubscriptionNotFound", "InvalidAuthenticationToken", "InvalidAuthenticationTokenTenant", "ReadOnlyDisabledSubscription":
		return true
	}
	return false
}
