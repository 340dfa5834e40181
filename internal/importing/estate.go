package importing

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Resource is a resource with its body as Azure shows it.
type Resource struct {
	ID   arm.ID
	Body json.RawMessage
}

// Estate is the part of a subscription that may belong to the cluster.
type Estate struct {
	Subscription string
	// Group is the resource group of the cluster's machines.
	Group string
	// Resources are those that were read, by the Key of their ID.
	Resources map[string]Resource
	// Others are resources of the group whose types no manifest describes. They were not read.
	Others []arm.ID
	// Unreadable are resources that the cluster uses and that could not be read, with the reason.
	Unreadable map[arm.ID]string
	// RoleAssignments are those of the principals of machines, by principal ID.
	RoleAssignments map[string][]Resource
}

// head is the part of a body that all types have.
type head struct {
	Location         string
	Tags             map[string]string
	Zones            []string
	ExtendedLocation *struct{ Name, Type string }
}

// tag returns the value of a tag. Names of tags ignore case.
func (h head) tag(key string) string {
	for name, value := range h.Tags {
		if strings.EqualFold(name, key) {
			return value
		}
	}
	return ""
}

// decodeBody decodes the body of a resource.
func decodeBody[T any](r Resource) (T, error) {
	var out T
	if err := json.Unmarshal(r.Body, &out); err != nil {
		return out, fmt.Errorf("%s cannot be read, because Azure's answer does not have the expected form: %w", r.ID, err)
	}
	return out, nil
}

// list returns the resources of a type, sorted by ID.
func (e Estate) list(resourceType string) []Resource {
	var out []Resource
	for _, key := range slices.Sorted(maps.Keys(e.Resources)) {
		if r := e.Resources[key]; strings.EqualFold(r.ID.Type(), resourceType) {
			out = append(out, r)
		}
	}
	return out
}

// find returns a resource by its ID.
func (e Estate) find(id string) (Resource, bool) {
	r, ok := e.Resources[arm.ID(strings.TrimSuffix(id, "/")).Key()]
	return r, ok
}
