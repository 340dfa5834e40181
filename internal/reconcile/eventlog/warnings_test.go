package eventlog_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
)

// TestWarningsOfOneReconciliation emits several Warnings with the same reason. The API server has to get one event for each reason, and
// each text in a note.
func TestWarningsOfOneReconciliation(t *testing.T) {
	withSender(t, func(t *testing.T, sender *eventlog.Sender, server *eventServer) {
		machine := newMachine("m")
		recording := eventlog.NewRecorder(sender.Recorder("machines")).StartRecording(t.Context(), machine)
		texts := []string{"the annotation a has no effect", "the annotation b has no effect", "c " + strings.Repeat("x", 2000)}
		for _, text := range texts {
			recording.AddIgnored(text)
		}
		recording.AddLeftBehind("disks d")
		recording.AddLeftBehind("disks e")
		machine.Status.Conditions = []metav1.Condition{
			{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: infrav1.InvalidConfigurationReason, Message: "field f"},
			{Type: infrav1.DisksReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.InvalidConfigurationReason, Message: "field g"},
		}
		recording.EmitEvents()
		created := server.look()
		for _, want := range []string{texts[0], texts[1], "c xxx", "disks d", "disks e", "field f", "field g"} {
			if !slices.ContainsFunc(created, func(request string) bool { return strings.Contains(request, want) }) {
				t.Errorf("no event has %q: %q", want, created)
			}
		}
		if len(created) != 3 {
			t.Errorf("events: %q", created)
		}
	})
}
