// Package machine plans the Azure resources of one machine of a self-managed cluster: its VM, disks, network interfaces
// and the resources that belong to them.
//
// It is pure: BuildPlan, BuildDeletePlan, CheckSpec and UnsupportedFields are functions of their input alone. CheckSpec
// and UnsupportedFields come before the creation of a VM; if they return errors, nothing may be created. The cluster's
// network and load balancers are referenced by ID and are not part of the graph, so that reconciling a machine does not
// read all of them.
package machine

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildPlan returns the desired state of the machine's resources. The error is a fault of the input that CheckSpec
// refuses, or an inconsistent graph, which is a bug.
func BuildPlan(in plan.MachineInput) (*arm.Graph, error) {
	g, p := &arm.Graph{}, buildProfile(in)
	addPublicIP(in, g)
	addNATRule(in, g)
	if err := addNetworkInterfaces(in, p, g); err != nil {
		return nil, err
	}
	addAvailabilitySet(in, g)
	if err := addVirtualMachine(in, p, g); err != nil {
		return nil, err
	}
	addRoleAssignment(in, g)
	addExtensions(in, p, g)
	addDiskTags(in, g)
	LastApplied(in).AddRemovals(g)
	return g, g.Validate()
}

// FailureDomain returns the availability zone of the machine: the Machine's, else the AzureMachine's; "" for any.
func FailureDomain(in plan.MachineInput) string {
	if in.Machine != nil && in.Machine.Spec.FailureDomain != "" {
		return in.Machine.Spec.FailureDomain
	}
	if zone := in.AzureMachine.Spec.FailureDomain; zone != nil {
		return *zone
	}
	return ""
}

// nicIDs returns the IDs of the machine's network interfaces.
func nicIDs(in plan.MachineInput) []arm.ID {
	var out []arm.ID
	interfaces := vm.ListInterfaces(in.AzureMachine.Spec.VirtualMachineProfile)
	for i := range interfaces {
		out = append(out, plan.NICID(in, plan.NICName(in, i, len(interfaces))))
	}
	return out
}
