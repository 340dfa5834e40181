package agentpool

import "strings"

// scaleSetType is the type of a pool whose nodes are the VMs of a scale set.
const scaleSetType = "VirtualMachineScaleSets"

// UnsupportedType returns the message about a pool of a type without a scale set, "" for other pools. A pool without type has a scale set, which is
// AKS's default.
//
// No recording shows the VMs and the number of nodes of types VirtualMachines and AvailabilitySet, so their VMs are not listed. Their source is
// AgentPoolType of armcontainerservice.
func UnsupportedType(poolType string) string {
	if poolType == "" || strings.EqualFold(poolType, scaleSetType) {
		return ""
	}
	return "the provider does not list the VMs of agent pools of type " + poolType + ", so the pool gets no provider IDs and its MachinePool no Nodes. " +
		"Create a pool of type " + scaleSetType + " with another name, and delete this one"
}
