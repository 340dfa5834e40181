package arm_test

import (
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestIsUnanswered(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"connection":   {"there was no answer", &arm.Error{Code: "ConnectionFailed"}, true},
		"token":        {"Entra ID did not answer, so no request was sent", &arm.Error{Code: "TokenUnavailable"}, true},
		"throttled":    {"the request was not accepted", &arm.Error{Status: 429, Code: "TooManyRequests"}, true},
		"timeout":      {"the answer took too long", &arm.Error{Status: 408}, true},
		"server error": {"Azure could not answer", fmt.Errorf("zones: %w", &arm.Error{Status: 503}), true},
		"credentials": {"Entra ID answered, and the user has to correct something",
			&arm.Error{Status: 401, Code: "CredentialsInvalid"}, false},
		"permission": {"Azure answered, and the user has to grant a role", &arm.Error{Status: 403, Code: "AuthorizationFailed"}, false},
		"conflict":   {"Azure checked the resource", &arm.Error{Status: 409, Code: "Conflict"}, false},
		"operation": {"an operation that failed inside Azure was Azure's answer",
			&arm.Error{Status: 200, Code: "InternalServerError"}, false},
		"not from Azure": {"its cause is unknown", errors.New("broken"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := arm.IsUnanswered(test.err); got != test.want {
				t.Errorf("%s: %v", test.reason, got)
			}
		})
	}
}
