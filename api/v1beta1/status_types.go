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
type FailureDomains struct {
	// Domains are the failure domains.
	Domains []clusterv1.FailureDomain
	// Map tells that they were read from a map. They are written as one then, too, so that a patch from what was read to a
	// list replaces what is stored.
	Map bool
}

// IsZero tells whether there is nothing to write.
func (d FailureDomains) IsZero() bool { return len(d.Domains) == 0 && !d.Map }

// MarshalJSON writes a list, or what was read from a map as that map.
func (d FailureDomains) MarshalJSON() ([]byte, error) {
	if !d.Map {
		return json.Marshal(d.Domains)
	}
	byName := map[string]mapped{}
	for _, domain := range d.Domains {
		byName[domain.Name] = mapped{ControlPlane: domain.ControlPlane, Attributes: domain.Attributes}
	}
	return json.Marshal(byName)
}

// mapped is a failure domain of contract v1beta1, whose name is its key.
type mapped struct {
	ControlPlane *bool             `json:"controlPlane,omitempty"`
	Attributes   map[string]string `json:"attributes,omitempty"`
}

// UnmarshalJSON reads a list, or a map of contract v1beta1.
func (d *FailureDomains) UnmarshalJSON(raw []byte) error {
	*d = FailureDomains{}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		if err := json.Unmarshal(raw, &d.Domains); err != nil {
			return fmt.Errorf("failureDomains is neither a list nor a map of failure domains: %w", err)
		}
		return nil
	}
	byName := map[string]mapped{}
	if err := json.Unmarshal(raw, &byName); err != nil {
		return fmt.Errorf("failureDomains is neither a list nor a map of failure domains: %w", err)
	}
	d.Map = true
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		domain := byName[name]
		d.Domains = append(d.Domains, clusterv1.FailureDomain{Name: name, ControlPlane: domain.ControlPlane, Attributes: domain.Attributes})
	}
	return nil
}

// ReconcileRequestedAnnotation asks for a full pass at once when its value is changed, whatever was found in order or is not
// due for another try yet. Any text is taken; the time is usual.
const ReconcileRequestedAnnotation = "infrastructure.cluster.x-k8s.io/reconcile-requested-at"

// ObservedStatus tells what of an object its status is about.
type ObservedStatus struct {
	// observedGeneration is the generation of the object that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastHandledReconcileAt is the value of the annotation infrastructure.cluster.x-k8s.io/reconcile-requested-at that was
	// heeded last.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
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
