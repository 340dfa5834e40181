package v1beta1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FailureDomains are the failure domains of a cluster as its status lists them: availability zones. In JSON it is a list
// of objects with a name, as contract v1beta2 of Cluster API has it. A map from name to object, as contract v1beta1 had it,
// is read as well, in the order of its keys, because clusters made under that contract have it stored.
type FailureDomains []clusterv1.FailureDomain

// UnmarshalJSON reads a list, or a map of contract v1beta1.
func (d *FailureDomains) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		var list []clusterv1.FailureDomain
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("failureDomains is neither a list nor a map of failure domains: %w", err)
		}
		*d = list
		return nil
	}
	byName := map[string]clusterv1.FailureDomain{}
	if err := json.Unmarshal(raw, &byName); err != nil {
		return fmt.Errorf("failureDomains is neither a list nor a map of failure domains: %w", err)
	}
	*d = nil
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		domain := byName[name]
		domain.Name = name
		*d = append(*d, domain)
	}
	return nil
}

// ResourceStatus tells where one Azure resource of an object stands. It is for people to read; the controllers never read
// it back.
type ResourceStatus struct {
	// id is the Azure resource ID.
	// +required
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id,omitempty"`

	// state is one word for where the resource stands: Ready, Foreign (it exists and is somebody else's), Creating,
	// Updating, Deleting, Gone, Waiting, Blocked (something it needs is not in place) or Failed.
	// +required
	// +kubebuilder:validation:MinLength=1
	State string `json:"state,omitempty"`

	// message says what the resource waits for or why it failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// InitializationStatus tells how far the first provisioning of an object is. Cluster API reads it.
// +kubebuilder:validation:MinProperties=1
type InitializationStatus struct {
	// provisioned is true once the infrastructure is there for the first time. It stays true whatever happens later.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}
