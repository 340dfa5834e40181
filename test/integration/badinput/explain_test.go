package badinput_test

import (
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// waitNotReady waits until the Ready condition of the object is False for this reason.
func waitNotReady[T harness.Conditioned](s *harness.Stage, o T, name, reason string) T {
	s.T.Helper()
	return harness.WaitFor(s, o, name, "not ready for the reason "+reason, func(o T) bool {
		ready := harness.FindCondition(o, infrav1.ReadyCondition)
		return ready.Status == metav1.ConditionFalse && ready.Reason == reason
	})
}

// saysWhen matches the part of a message that announces the next try.
var saysWhen = regexp.MustCompile(`again|next try|retried`)

// checkExplained checks that a condition's message contains all parts and the time of the next try.
func checkExplained(t *testing.T, reason, message string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("%s, but the message lacks %q: %s", reason, part, message)
		}
	}
	if !saysWhen.MatchString(message) {
		t.Errorf("%s, but the message lacks the time of the next try: %s", reason, message)
	}
	t.Log(message)
}
