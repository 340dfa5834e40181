package engine_test

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// Resources of the tests.
var (
	group = arm.ResourceGroupID(sub, "rg")
	vnet  = arm.NewID(sub, "rg", "Microsoft.Network/virtualNetworks", "vnet")
	nsg   = arm.NewID(sub, "rg", "Microsoft.Network/networkSecurityGroups", "nsg")
	cp    = vnet.Child("subnets", "cp")
	nodes = vnet.Child("subnets", "nodes")
	pip   = arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "pip")
	nat   = arm.NewID(sub, "rg", "Microsoft.Network/natGateways", "nat")
	nic   = arm.NewID(sub, "rg", "Microsoft.Network/networkInterfaces", "nic")
	lb    = arm.NewID(sub, "rg", "Microsoft.Network/loadBalancers", "lb")
)

type object = map[string]any

func ownerTags() object { return object{owner.TagKey: owner.TagValue} }

func newReference(id arm.ID) object { return object{"id": string(id)} }

func groupNode() arm.Node {
	return arm.Node{ID: group, Policy: arm.Repair, Group: "G", Foreign: arm.UseForeign,
		Body: object{"location": "eastus", "tags": ownerTags()}}
}

func vnetNode() arm.Node {
	return arm.Node{ID: vnet, Policy: arm.Repair, Group: "N", Foreign: arm.UseForeign, Body: object{"location": "eastus", "tags": ownerTags(),
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}}}
}

func nsgNode() arm.Node {
	return arm.Node{ID: nsg, Policy: arm.Repair, Group: "N", Body: object{"location": "eastus", "tags": ownerTags(), "properties": object{
		"securityRules": []object{{"name": "ssh",
			"properties": object{"priority": 2200, "direction": "Inbound", "access": "Allow", "protocol": "Tcp",
				"sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "22"}}}}}}
}

func subnetNode(id arm.ID, prefix string) arm.Node {
	return arm.Node{ID: id, Policy: arm.Repair, Group: "N", After: []arm.ID{nsg}, Body: object{"properties": object{
		"addressPrefixes": []string{prefix}, "networkSecurityGroup": newReference(nsg)}}}
}

func pipNode() arm.Node {
	return arm.Node{ID: pip, Policy: arm.Repair, Group: "N",
		Body: object{"location": "eastus", "tags": ownerTags(), "sku": object{"name": "Standard"},
			"properties": object{"publicIPAllocationMethod": "Static"}}}
}

func natNode() arm.Node {
	return arm.Node{ID: nat, Policy: arm.Repair, Group: "N", After: []arm.ID{pip},
		Body: object{"location": "eastus", "tags": ownerTags(), "sku": object{"name": "Standard"},
			"properties": object{"publicIpAddresses": []object{newReference(pip)}}}}
}

func nicNode() arm.Node {
	return arm.Node{ID: nic, Policy: arm.CreateOnly, Group: "M", After: []arm.ID{cp}, Body: object{"location": "eastus", "tags": ownerTags(),
		"properties": object{"ipConfigurations": []object{{"name": "ip", "properties": object{"subnet": newReference(cp)}}}}}}
}

func networkNodes() []arm.Node {
	return []arm.Node{groupNode(), vnetNode(), nsgNode(), subnetNode(cp, "10.0.0.0/16"), subnetNode(nodes, "10.1.0.0/16")}
}
