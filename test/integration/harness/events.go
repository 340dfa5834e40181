package harness

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// changing are the parts of events' notes that differ from run to run: durations and Azure's request IDs.
var changing = regexp.MustCompile(` \([0-9.hms]+\)$|[0-9a-f]{8}-[0-9a-f-]{27}\)$`)

// ListEvents returns the events of the object of a kind, in the order in which they happened, as "Normal Created created
// virtualNetworks/a". Durations are left out, and of request IDs all but the words before. Repetitions of an event are left out in virtual time, as an
// API server counts them in a series.
func (s *Stage) ListEvents(kind, name string) []string {
	s.T.Helper()
	var out []string
	seen := map[Event]bool{}
	for _, event := range s.readEvents() {
		if event.Kind == kind && event.Name == name && !(s.virtual && seen[event]) {
			seen[event] = true
			out = append(out, event.Type+" "+event.Reason+" "+changing.ReplaceAllString(event.Note, ""))
		}
	}
	return out
}

// ListWarnings returns the Warnings about all objects of the stage, in the order in which they happened, as "AzureCluster c1: Failed ...". In
// virtual time it has the repetitions of an event.
func (s *Stage) ListWarnings() (out []string) {
	s.T.Helper()
	for _, event := range s.readEvents() {
		if event.Type == corev1.EventTypeWarning {
			out = append(out, event.Kind+" "+event.Name+": "+event.Reason+" "+event.Note)
		}
	}
	return out
}

// readEvents returns all events of the stage, in the order in which they happened.
func (s *Stage) readEvents() []Event {
	s.T.Helper()
	if s.virtual {
		return s.listRecorded()
	}
	list := &eventsv1.EventList{}
	ctx, cancel := s.withPatience()
	defer cancel()
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
		s.T.Fatalf("list events: %v", err)
	}
	slices.SortStableFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	var out []Event
	for _, event := range list.Items {
		out = append(out, Event{Kind: event.Regarding.Kind, Name: event.Regarding.Name, Type: event.Type, Reason: event.Reason, Note: event.Note})
	}
	return out
}
