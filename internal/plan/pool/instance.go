package pool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// Instance is one VM of a scale set, as the list of them shows it.
type Instance struct {
	// ID is the VM as Azure deletes it: an instance of the scale set, or with flexible orchestration a VM of its own.
	ID arm.ID
	// InstanceID is the ID of the VM in actions on the scale set: its number, or with flexible orchestration its name.
	InstanceID string
	// Name is the name of the VM in Azure.
	Name string
	// ProviderID is that of its Node.
	ProviderID string
	// ProvisioningState is Azure's provisioning state, Power the power state as in "running"; "" is not known.
	ProvisioningState, PowerState string
	// Zone is its availability zone, "" for none.
	Zone string
	// ComputerName is the name of the computer.
	ComputerName string
	// Extensions are those of the VM with their provisioning states. The list of VMs that are resources of their own has none.
	Extensions []Extension
	Created    time.Time
	// PowerRequested is that of Input.
	PowerRequested bool
	// Spot means that Azure may evict the VM.
	Spot bool
	// Outdated tells that it is not as the spec wants VMs.
	Outdated bool
	// Model and Upgradable are those of rollout.Instance.
	Model      string
	Upgradable bool
}

// Extension is one of a VM.
type Extension struct{ Name, State string }

// ReadInstances returns the VMs in a list of them, in the order of their IDs. found are the differences that were found
// at the migration of the pool. The error is that of an answer of another shape.
func ReadInstances(in Input, found *applied.Differences, list []json.RawMessage) ([]Instance, error) {
	wanted, err := buildWantedVM(in)
	if err != nil {
		return nil, err
	}
	latest, err := readLatestModel(in)
	if err != nil {
		return nil, err
	}
	out := make([]Instance, 0, len(list))
	for _, raw := range list {
		var shown struct {
			ID         arm.ID   `json:"id"`
			InstanceID string   `json:"instanceId"`
			Name       string   `json:"name"`
			Zones      []string `json:"zones"`
			Properties struct {
				ProvisioningState string    `json:"provisioningState"`
				TimeCreated       time.Time `json:"timeCreated"`
				// VMs of a flexible scale set do not have it.
				LatestModelApplied *bool           `json:"latestModelApplied"`
				InstanceView       json.RawMessage `json:"instanceView"`
				OSProfile          struct {
					ComputerName string `json:"computerName"`
				} `json:"osProfile"`
			} `json:"properties"`
			Resources []struct {
				ID         arm.ID `json:"id"`
				Properties struct {
					ProvisioningState string `json:"provisioningState"`
				} `json:"properties"`
			} `json:"resources"`
		}
		if err := json.Unmarshal(raw, &shown); err != nil {
			return nil, fmt.Errorf("VMs of %s: %w", ScaleSetID(in).ShortName(), err)
		}
		if shown.ID == "" {
			return nil, fmt.Errorf("VMs of %s: one has no ID", ScaleSetID(in).ShortName())
		}
		outdated, err := differsFromSpec(in, found, wanted, raw)
		if err != nil {
			return nil, err
		}
		model, upgradable := "", false
		if shown.Properties.LatestModelApplied != nil && !*shown.Properties.LatestModelApplied {
			if model, upgradable, err = latest.classifyInstance(raw); err != nil {
				return nil, err
			}
		}
		instance := Instance{
			ID: shown.ID, InstanceID: cmp.Or(shown.InstanceID, shown.ID.Name()), Name: cmp.Or(shown.Name, shown.ID.Name()),
			ProviderID:        plan.ProviderID(shown.ID),
			ProvisioningState: shown.Properties.ProvisioningState, PowerState: plan.PowerState(shown.Properties.InstanceView),
			ComputerName: shown.Properties.OSProfile.ComputerName, Created: shown.Properties.TimeCreated, Outdated: outdated,
			Model: model, Upgradable: upgradable, PowerRequested: in.PowerRequested,
			Spot: in.AzureMachinePool.Spec.Template.SpotVMOptions != nil,
		}
		for _, resource := range shown.Resources {
			instance.Extensions = append(instance.Extensions, Extension{Name: resource.ID.Name(), State: resource.Properties.ProvisioningState})
		}
		if len(shown.Zones) > 0 {
			instance.Zone = shown.Zones[0]
		}
		out = append(out, instance)
	}
	slices.SortFunc(out, func(a, b Instance) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out, nil
}

// IsDeleting reports whether Azure deletes the VM.
func (i Instance) IsDeleting() bool { return strings.EqualFold(i.ProvisioningState, "Deleting") }

// IsChanging reports whether Azure is at making or changing the VM.
func (i Instance) IsChanging() bool {
	return !i.IsDeleting() && !strings.EqualFold(i.ProvisioningState, "Succeeded") && !strings.EqualFold(i.ProvisioningState, "Failed") &&
		!strings.EqualFold(i.ProvisioningState, "Canceled")
}

// IsStopped reports whether the VM is known not to run: it was stopped, or Azure took it back.
func (i Instance) IsStopped() bool {
	return slices.Contains([]string{"stopping", "stopped", "deallocating", "deallocated"}, i.PowerState)
}

// IsFailed reports whether the last operation of Azure on the VM failed.
func (i Instance) IsFailed() bool {
	return strings.EqualFold(i.ProvisioningState, "Failed") || strings.EqualFold(i.ProvisioningState, "Canceled")
}

// IsEvicted reports whether Azure may have evicted the VM. Azure shows an evicted VM as deallocated, like one that was stopped. One with the eviction
// policy Delete is gone.
func (i Instance) IsEvicted() bool {
	return i.Spot && i.PowerState == "deallocated" && !i.IsFailed() && !i.PowerRequested
}

// BrokenReason returns why the VM is of no use until a user or this provider acts; "" if it is not broken.
func (i Instance) BrokenReason() string {
	switch {
	case i.IsFailed():
		return "Azure has it in state " + i.ProvisioningState
	case i.IsEvicted():
		return "the spot VM is deallocated: Azure evicted it, or it was stopped"
	case i.IsStopped() && !i.PowerRequested:
		return "it is " + i.PowerState
	}
	return ""
}
