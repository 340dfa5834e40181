package v1beta1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FailureDomains are the failure domains in the status of a cluster: availability zones. In JSON it is a list of
// objects with a name, as in contract v1beta2 of Cluster API. A map from name to object, as in contract v1beta1, can be
// read as well, in the order of its keys, because clusters created under that contract have it stored.
type FailureDomains struct {
	// Domains are the failure domains.
	Domains []clusterv1.FailureDomain
	// Map is true if the domains were read from a map. They are then written as a map again, so that a patch from the
	// stored value to a list replaces the stored map.
	Map bool
}

// IsZero returns true if there is nothing to write.
func (d FailureDomains) IsZero() bool { return len(d.Domains) == 0 && !d.Map }

// MarshalJSON writes a list. It writes a map if the domains were read from a map.
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

// ReconcileRequestedAnnotation requests a full reconciliation at once whenever its value changes, even if the object is
// Ready or its next retry is not due. The value can be any text. By convention it is the time of the request.
const ReconcileRequestedAnnotation = "infrastructure.cluster.x-k8s.io/reconcile-requested-at"

// ObservedStatus has the generation and the request that a status was computed for.
type ObservedStatus struct {
	// observedGeneration is metadata.generation of the object at the time when the status was computed. It is -1 before the
	// first reconciliation.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastHandledReconcileAt is the last value of the annotation infrastructure.cluster.x-k8s.io/reconcile-requested-at
	// for which the provider has reconciled the object.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// ResourceStatus is the state of one Azure resource of an object. It is information for users. The controllers never
// read it.
type ResourceStatus struct {
	// id is the Azure resource ID.
	// +required
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id,omitempty"`

	// state is the state of the resource in one word: Ready, Foreign (it exists and does not belong to the cluster),
	// Creating, Updating, Deleting, Gone, Waiting, Blocked (a resource that it depends on is not in place), Failed, or
	// Absent (it does not exist and is not created, because the object is observed).
	// +required
	// +kubebuilder:validation:MinLength=1
	State string `json:"state,omitempty"`

	// message explains why the resource is not Ready: the resource that it waits for, or Azure's error.
	// +optional
	Message string `json:"message,omitempty"`
}

// InitializationStatus is the progress of the first provisioning of an object. Cluster API reads it.
// +kubebuilder:validation:MinProperties=1
type InitializationStatus struct {
	// provisioned becomes true when the infrastructure is in place for the first time. It never becomes false again.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}
