package identity

import (
	"errors"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Code says what kind of obstacle an Error is. The values are condition reasons.
type Code string

const (
	// IdentityNotFound means that there is no identityRef, or that the object it names does not exist.
	IdentityNotFound Code = infrav1.IdentityNotFoundReason
	// IdentityBeingDeleted means that the identity waits to be gone, so that nothing new can use it.
	IdentityBeingDeleted Code = "IdentityBeingDeleted"
	// NamespaceNotAllowedByIdentity means that spec.allowedNamespaces of the identity leaves the namespace out.
	NamespaceNotAllowedByIdentity Code = infrav1.NamespaceNotAllowedByIdentityReason
	// SecretNotFound means that the Secret or file that the identity names does not exist.
	SecretNotFound Code = "SecretNotFound"
	// SecretKeyMissing means that the Secret exists and the key is not in it, or is empty.
	SecretKeyMissing Code = "SecretKeyMissing"
	// CredentialsInvalid means that what the identity gives cannot be a credential, as a certificate that does not parse.
	CredentialsInvalid Code = infrav1.CredentialsInvalidReason
	// NotSupported means that the identity's type or the cloud environment cannot be used here.
	NotSupported Code = infrav1.NotSupportedReason
	// NotAllowedByTenancy means that tenants are isolated, and that the identity names what is not its namespace's.
	NotAllowedByTenancy Code = infrav1.NotAllowedByTenancyReason
	// ServiceAccountNotFound means that the ServiceAccount that a workload identity proves itself with does not exist.
	ServiceAccountNotFound Code = "ServiceAccountNotFound"
	// NamespaceTerminating means that the API server gives no tokens of the identity's namespace, because that is being deleted.
	NamespaceTerminating Code = "NamespaceTerminating"
	// SubscriptionMissing means that neither the object nor the manager names a subscription.
	SubscriptionMissing Code = "SubscriptionMissing"
)

// Error is an obstacle that a person has to remove. Its message names object and field, and never a secret value.
type Error struct {
	Code    Code
	Message string
	// Err is the cause; nil when the message says it all.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of the Error in err's chain, or "" when there is none: the Kubernetes API could not be asked, and
// trying again is the answer.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
