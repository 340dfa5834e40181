// Package machine plans the Azure resources of one machine of a self-managed cluster: its VM, disks, network interfaces
// and what belongs to them.
//
// It is pure: Plan, BuildDeletePlan, Check and Unsupported are functions of their input alone. Check and Unsupported are to
// be asked before a VM is made; when they find something, nothing is to be made. The cluster's network and load balancers
// are referenced by ID and are not part of the graph, so that a pass over a machine does not read them all.
package machine

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildPlan is the desired state of the machine's resources. The error is that of input that Check refuses, or of a graph that
// does not hold together, which is a bug.
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

// FailureDomain is the availability zone the machine is to be in: what the Machine asks for, else the AzureMachine; "" is
// anywhere.
func FailureDomain(in plan.MachineInput) string {
	if in.Machine != nil && in.Machine.Spec.FailureDomain != "" {
		return in.Machine.Spec.FailureDomain
	}
	if zone := in.AzureMachine.Spec.FailureDomain; zone != nil {
		return *zone
	}
	return ""
}

// nicIDs are the IDs of the machine's network interfaces.
func nicIDs(in plan.MachineInput) []arm.ID {
	var out []arm.ID
	interfaces := vm.ListInterfaces(in.AzureMachine.Spec.VirtualMachineProfile)
	for i := range interfaces {
		out = append(out, plan.NICID(in, plan.NICName(in, i, len(interfaces))))
	}
	return out
}
