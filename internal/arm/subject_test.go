package arm_test

import (
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestAddSubject(t *testing.T) {
	azure := &arm.Error{Method: "GET", ID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/m", Code: "AuthorizationFailed"}
	for name, test := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"of Azure":          {"it names its request", azure, "GET virtualMachines/m: AuthorizationFailed"},
		"of Azure, wrapped": {"likewise", fmt.Errorf("read: %w", azure), "read: GET virtualMachines/m: AuthorizationFailed"},
		"other":             {"nothing else names the request", errors.New("unexpected end of JSON input"), "GET virtualMachines/m: unexpected end of JSON input"},
	} {
		if got := arm.AddSubject("GET virtualMachines/m", test.err); got.Error() != test.want {
			t.Errorf("%s: %s: got %v, want %s", name, test.reason, got, test.want)
		}
	}
	if arm.AddSubject("GET virtualMachines/m", nil) != nil {
		t.Error("no error became one")
	}
}
