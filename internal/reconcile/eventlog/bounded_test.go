package eventlog_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// TestLongNotesAreCut records a note that is longer than the API server takes.
func TestLongNotesAreCut(t *testing.T) {
	recorder := events.NewFakeRecorder(1)
	eventlog.NewBoundedRecorder(recorder).Eventf(&infrav1.AzureMachine{}, nil, "Warning", "Failed", "Reconcile", "%s",
		strings.Repeat("ä", 40_000))
	if got := strings.TrimPrefix(<-recorder.Events, "Warning Failed "); len(got) > text.MaxNote || !strings.HasSuffix(got, "ä...") {
		t.Errorf("the note has %d bytes", len(got))
	}
}
