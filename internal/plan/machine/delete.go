package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildDeletePlan returns a node for everything that may have been created for the machine. It needs only names: the
// Machine, the bootstrap data and the facts may not exist any more. Foreign resources stay and do not block the deletion.
//
// Disks have no ownership tag, because Azure creates them with the VM. The caller has to pass DiskIDs to the engine as
// owned.
func BuildDeletePlan(in plan.MachineInput) (*arm.Graph, error) {
	g := &arm.Graph{}
	add := func(group string, id arm.ID, after ...arm.ID) {
		if !g.Has(id) {
			g.Add(arm.Node{ID: id, After: after, Policy: arm.CreateOnly, Group: group})
		}
	}
	var network []arm.ID
	if in.ControlPlane {
		if id, ok := plan.NATRuleID(in); ok {
			add(infrav1.InboundNATRulesReadyCondition, id)
			network = append(network, id)
		}
	}
	if in.AzureMachine.Spec.AllocatePublicIP {
		id := plan.NodePublicIPID(in)
		add(infrav1.PublicIPsReadyCondition, id)
		network = append(network, id)
	}
	beforeVM := DiskIDs(in)
	for _, id := range DiskIDs(in) {
		add(infrav1.DisksReadyCondition, id)
	}
	for _, id := range nicIDs(in) {
		add(infrav1.NetworkInterfacesReadyCondition, id, network...)
		beforeVM = append(beforeVM, id)
	}
	if in.MachineFacts.AvailabilitySetEmpty {
		if name, ok := plan.AvailabilitySetName(in); ok {
			id := plan.AvailabilitySetID(in, name)
			add(infrav1.AvailabilitySetReadyCondition, id)
			beforeVM = append(beforeVM, id)
		}
	}
	// Deletion is in reverse order of the graph: the VM first, then the resources that it uses.
	machine := plan.VMID(in)
	add(infrav1.VMRunningCondition, machine, beforeVM...)
	if id, ok := vm.RoleAssignmentID(in.AzureMachine.Spec.ManagedIdentities); ok {
		add(infrav1.RoleAssignmentReadyCondition, id, machine)
	}
	return g, g.Validate()
}

// DiskIDs returns the machine's disks, the OS disk first. Their names prove that they are the machine's.
func DiskIDs(in plan.MachineInput) []arm.ID {
	name := plan.VMName(in)
	out := []arm.ID{plan.DiskID(in, vm.OSDiskName(name))}
	for _, disk := range in.AzureMachine.Spec.DataDisks {
		out = append(out, plan.DiskID(in, vm.DataDiskName(name, disk.NameSuffix)))
	}
	return out
}
