package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRepeatedEvents records an event twice. A test that counts Warnings sees both, and a test of the course of events sees what an API server lists.
func TestRepeatedEvents(t *testing.T) {
	s := NewVirtualStage(t, nil, nil)
	for range 2 {
		s.RecordEvent(Event{Kind: "AzureCluster", Name: "c1", Type: "Warning", Reason: "Failed", Note: "no quota"})
	}
	if diff := cmp.Diff([]string{"AzureCluster c1: Failed no quota", "AzureCluster c1: Failed no quota"}, s.ListWarnings()); diff != "" {
		t.Errorf("Warnings: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Warning Failed no quota"}, s.ListEvents("AzureCluster", "c1")); diff != "" {
		t.Errorf("events: -want +got\n%s", diff)
	}
}
