package observe_test

import (
	"errors"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

func TestStateOfHead(t *testing.T) {
	for name, test := range map[string]struct {
		reason, body string
		doing        arm.State
		failed       bool
	}{
		"succeeded":     {"no operation is running", `{"properties":{"provisioningState":"Succeeded"}}`, "", false},
		"none":          {"types without a provisioning state are always done", `{"properties":{}}`, "", false},
		"no properties": {"types without properties are always done", `{}`, "", false},
		"another shape": {"a body that is no object has no state", `[]`, "", false},
		"creating":      {"", `{"properties":{"provisioningState":"Creating"}}`, arm.Creating, false},
		"accepted":      {"it is about to be created", `{"properties":{"provisioningState":"Accepted"}}`, arm.Creating, false},
		"deleting":      {"", `{"properties":{"provisioningState":"Deleting"}}`, arm.Deleting, false},
		"joining":       {"the state of a fleet member in creation", `{"properties":{"provisioningState":"Joining"}}`, arm.Creating, false},
		"leaving":       {"the state of a fleet member in deletion", `{"properties":{"provisioningState":"Leaving"}}`, arm.Deleting, false},
		"failed":        {"", `{"properties":{"provisioningState":"Failed"}}`, "", true},
		"cancelled":     {"it does not match the plan either", `{"properties":{"provisioningState":"Canceled"}}`, "", true},
		"any other": {"AKS has a word for each of its operations",
			`{"properties":{"provisioningState":"UpgradingNodeImageVersion"}}`, arm.Updating, false},
		"lower case": {"states are not case-sensitive", `{"properties":{"provisioningState":"succeeded"}}`, "", false},
	} {
		if doing, failed := observe.ParseHead([]byte(test.body)).State(); doing != test.doing || failed != test.failed {
			t.Errorf("%s: %q %t, want %q %t: %s", name, doing, failed, test.doing, test.failed, test.reason)
		}
	}
}

func TestAffectsEveryRequest(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"credentials":  {"no request gets a token", &arm.Error{Code: client.CodeCredentialsInvalid}, true},
		"subscription": {"all resources of a convergence are in it", &arm.Error{Code: "SubscriptionNotFound", Status: 404}, true},
		"held back":    {"all requests share the budget", &arm.Error{Code: arm.CodeBudgetEmpty, Status: 429}, true},
		"one role":     {"other requests may be allowed", &arm.Error{Code: "AuthorizationFailed", Status: 403}, false},
		"one failure":  {"other requests may succeed", &arm.Error{Code: "InternalServerError", Status: 500}, false},
		"not Azure's":  {"its cause is unknown", errors.New("x"), false},
	} {
		if got := observe.AffectsEveryRequest(test.err); got != test.want {
			t.Errorf("%s: %t, want %t: %s", name, got, test.want, test.reason)
		}
	}
}
