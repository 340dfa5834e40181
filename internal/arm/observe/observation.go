package observe

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compressed"
)

// Observed is a resource as Azure last showed it.
type Observed struct {
	ID arm.ID
	// Exists is false when Azure answered 404 for the resource or what holds it.
	Exists bool
	// Body is the resource; nil when it does not exist or Err is set.
	Body json.RawMessage
	// ETag is the value for If-Match, from the body or the header; "" when Azure gave none.
	ETag string
	// Err is why the resource could not be read. It is never a 404.
	Err error
	// At is when Azure was asked.
	At time.Time
}

// Observation is a resource as read, or as a write answered. The zero value is of a resource that was not looked at.
type Observation struct {
	Observed
	// FromList means that the absence was concluded from a collection, which may lag behind.
	FromList bool
	// FromWrite means that the body is the answer to a PUT, which may still change and whose etag is old by then.
	FromWrite bool
	// VouchedByDigest means that it was read earlier than what was asked for, and that a digest shows no write since. It is good for seeing
	// that all is in order, and no ground for a write.
	VouchedByDigest bool
	// changeCount is the cache's count of changes when the read began.
	changeCount uint64
	// mark is how the digest before it showed the resource, vouched when another one last did the same. wanted tells that somebody
	// asked for the resource, and not only for others that the same list showed.
	mark      DigestMark
	vouchedAt time.Time
	requested bool
	// compressed is the body as the cache keeps it for long; it is empty when Body is it. sum is the hash of what was packed, came when the
	// cache first had that body.
	compressed compressed.Body
	bodyHash   uint64
	bodySince  time.Time
}

// WasRead tells whether the resource was looked at.
func (o Observation) WasRead() bool { return o.ID != "" }

// Head is what any resource has.
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

// ParseHead reads the head of a body.
func ParseHead(body json.RawMessage) Head {
	var out Head
	// A body of another shape has none of these.
	_ = json.Unmarshal(body, &out)
	return out
}

// ProvisioningState reads the provisioningState of a body: what Azure is doing to the resource, "" for nothing, and whether the
// last operation failed.
func ProvisioningState(body json.RawMessage) (doing arm.State, failed bool) {
	switch strings.ToLower(ParseHead(body).Properties.ProvisioningState) {
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

// AffectsEveryRequest tells whether an error would be the answer to any other request of the same client, too.
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
