// Package resourcehealth simulates Microsoft.ResourceHealth: the current availability of resources.
//
// Its promise: every existing resource is Available until another status is set. That status stays until it is set
// again or the resource is deleted. Azure's own health follows signals of the platform and not the outcome of
// requests; so does this one.
//
// Source: module armresourcehealth v1.4.0, https://learn.microsoft.com/azure/service-health/resource-health-overview
package resourcehealth

import (
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Statuses is the full name of the type.
const Statuses = "Microsoft.ResourceHealth/availabilityStatuses"

// Provider returns the resource provider.
func Provider() *provider.Provider {
	return &provider.Provider{Namespace: "Microsoft.ResourceHealth", Types: []*provider.Type{{
		Name: Statuses, APIVersions: []string{"2025-05-01", "2025-04-01", "2024-02-01", "2023-10-01-preview", "2022-10-01", "2020-05-01"},
		Style: provider.Sync, Extension: true, Untracked: true, NoState: true, ReadOnly: true,
	}}}
}

// Status is the availability of a resource.
type Status struct {
	State      string    `json:"state"`                // Available, Degraded, Unavailable or Unknown
	ReasonType string    `json:"reasonType,omitempty"` // such as "Unplanned", "Planned", "Customer Initiated"
	Title      string    `json:"title,omitempty"`
	Summary    string    `json:"summary,omitempty"`
	Since      time.Time `json:"since,omitzero"` // "": now
}

var states = []string{"Available", "Degraded", "Unavailable", "Unknown"}

// SetStatus sets the availability of a resource; the zero Status means Available again. The error names the fault in the
// resource or status.
func SetStatus(tx *store.Tx, id string, s Status) error {
	r := tx.Get(id)
	if r == nil {
		return fmt.Errorf("no resource has the ID %q", id)
	}
	if s == (Status{}) {
		tx.SetMeta(statusKey(r), nil)
		return nil
	}
	if !slices.Contains(states, s.State) {
		return fmt.Errorf("state must be one of %v, not %q", states, s.State)
	}
	if s.Since.IsZero() {
		s.Since = tx.Now()
	}
	tx.SetMeta(statusKey(r), s)
	return nil
}

// statusKey also holds when the resource was made, so that a new one under the same ID is healthy.
func statusKey(r *store.Resource) string {
	return "health/" + store.Key(r.ID) + "/" + r.Created.UTC().Format(time.RFC3339Nano)
}

// AnswerCurrent answers GET <resource>/providers/Microsoft.ResourceHealth/availabilityStatuses/current.
func AnswerCurrent(c *provider.Call, id string) (*provider.Reply, error) {
	parsed, err := store.ParseID(id)
	if err != nil {
		return nil, provider.Errorf(404, "ResourceNotFound", "The resource '%s' was not found.", id)
	}
	it := c.FindItem(id)
	if it == nil {
		return nil, provider.ResourceNotFound(parsed)
	}
	s := Status{State: "Available", Title: "Available", Summary: "There aren't any known Azure platform problems affecting this resource.",
		Since: it.Resource.Created}
	c.ReadNote(statusKey(it.Resource), &s)
	if s.Title == "" {
		s.Title = s.State
	}
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
	return provider.OK(body.Object{"id": it.ID + "/providers/" + Statuses + "/current", "name": "current",
		"type": "Microsoft.ResourceHealth/AvailabilityStatuses", "location": it.Location,
		"properties": body.Object{"availabilityState": s.State, "title": s.Title, "summary": s.Summary, "reasonType": s.ReasonType,
			"reasonChronicity": "Persistent", "occuredTime": stamp(s.Since), "reportedTime": stamp(c.Now())}}), nil
}
