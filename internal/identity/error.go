package identity

import (
	"errors"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Code is the kind of an Error. The values are condition reasons.
type Code string

const (
	// IdentityNotFound means that there is no identityRef, or that the object it names does not exist.
	IdentityNotFound Code = infrav1.IdentityNotFoundReason
	// IdentityBeingDeleted means that the identity is being deleted, so new objects cannot use it.
	IdentityBeingDeleted Code = "IdentityBeingDeleted"
	// NamespaceNotAllowedByIdentity means that spec.allowedNamespaces of the identity leaves the namespace out.
	NamespaceNotAllowedByIdentity Code = infrav1.NamespaceNotAllowedByIdentityReason
	// SecretNotFound means that the Secret or file that the identity names does not exist.
	SecretNotFound Code = "SecretNotFound"
	// SecretKeyMissing means that the Secret lacks the key, or has an empty value for it.
	SecretKeyMissing Code = "SecretKeyMissing"
	// CredentialsInvalid means that the values of the identity are not a valid credential, for example a certificate that does not
	// parse.
	CredentialsInvalid Code = infrav1.CredentialsInvalidReason
	// NotSupported means that the identity's type or the cloud environment cannot be used here.
	NotSupported Code = infrav1.NotSupportedReason
	// NotAllowedByTenancy means that tenants are isolated and the identity names a credential outside its namespace.
	NotAllowedByTenancy Code = infrav1.NotAllowedByTenancyReason
	// ServiceAccountNotFound means that the ServiceAccount of a workload identity does not exist.
	ServiceAccountNotFound Code = "ServiceAccountNotFound"
	// NamespaceTerminating means that the API server issues no tokens in the identity's namespace, because the namespace is being
	// deleted.
	NamespaceTerminating Code = "NamespaceTerminating"
	// SubscriptionMissing means that neither the object nor the manager names a subscription.
	SubscriptionMissing Code = "SubscriptionMissing"
)

// Error is an error that needs action by a user. Its message names object and field, and never a secret value.
type Error struct {
	Code    Code
	Message string
	// Err is the cause, or nil.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the Error in err's chain, or "" if there is none. Without a code the error is one of the Kubernetes
// API, and the caller tries again.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
