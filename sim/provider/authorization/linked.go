package authorization

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const network = "Microsoft.Network/"

// links are the actions that a caller needs to write a resource that refers to one of these types, at the scope of
// the referenced resource. Those of the network are listed as permissions on
// https://learn.microsoft.com/azure/virtual-network/virtual-network-network-interface#permissions and its sister
// pages about subnets (manage-subnet), peerings (manage-peering), public IP addresses and prefixes; those of the
// outbound addresses, prefixes, disk encryption sets, placement groups and identities of AKS on
// https://learn.microsoft.com/azure/aks/concepts-identity#identity-creating-and-operating-the-cluster-permissions;
// images on https://learn.microsoft.com/azure/virtual-machines/share-gallery, reserved capacity on
// https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-associate-vm.
var links = map[string]string{
	"microsoft.network/virtualnetworks/subnets":           network + "virtualNetworks/subnets/join/action",
	"microsoft.network/networksecuritygroups":             network + "networkSecurityGroups/join/action",
	"microsoft.network/routetables":                       network + "routeTables/join/action",
	"microsoft.network/natgateways":                       network + "natGateways/join/action",
	"microsoft.network/publicipaddresses":                 network + "publicIPAddresses/join/action",
	"microsoft.network/publicipprefixes":                  network + "publicIPPrefixes/join/action",
	"microsoft.network/networkinterfaces":                 network + "networkInterfaces/join/action",
	"microsoft.network/ddosprotectionplans":               network + "ddosProtectionPlans/join/action",
	"microsoft.network/loadbalancers/backendaddresspools": network + "loadBalancers/backendAddressPools/join/action",
	"microsoft.network/loadbalancers/inboundnatrules":     network + "loadBalancers/inboundNatRules/join/action",
	"microsoft.network/loadbalancers/probes":              network + "loadBalancers/probes/join/action",
	"microsoft.network/applicationsecuritygroups":         network + "applicationSecurityGroups/joinIpConfiguration/action",
	"microsoft.managedidentity/userassignedidentities":    "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
	"microsoft.compute/images":                            "Microsoft.Compute/images/read",
	"microsoft.compute/galleries/images":                  "Microsoft.Compute/galleries/images/read",
	"microsoft.compute/galleries/images/versions":         "Microsoft.Compute/galleries/images/versions/read",
	"microsoft.compute/diskencryptionsets":                "Microsoft.Compute/diskEncryptionSets/read",
	"microsoft.compute/capacityreservationgroups":         "Microsoft.Compute/capacityReservationGroups/deploy/action",
	"microsoft.compute/proximityplacementgroups":          "Microsoft.Compute/proximityPlacementGroups/write",
	"microsoft.operationalinsights/workspaces":            "Microsoft.OperationalInsights/workspaces/sharedkeys/read",
}

// fromType are links that another type than the usual asks for, or that only one type has, by the type that refers.
var fromType = map[string]map[string]string{
	// https://learn.microsoft.com/azure/virtual-network/virtual-network-manage-peering#permissions
	"microsoft.network/virtualnetworks/virtualnetworkpeerings": {"microsoft.network/virtualnetworks": network + "virtualNetworks/peer/action"},
	// https://learn.microsoft.com/azure/dns/dns-protect-private-zones-recordsets: the role has it for links
	"microsoft.network/privatednszones/virtualnetworklinks":   {"microsoft.network/virtualnetworks": network + "virtualNetworks/join/action"},
	"microsoft.network/networksecuritygroups":                 {"microsoft.network/applicationsecuritygroups": network + "applicationSecurityGroups/joinNetworkSecurityRule/action"},
	"microsoft.network/networksecuritygroups/securityrules":   {"microsoft.network/applicationsecuritygroups": network + "applicationSecurityGroups/joinNetworkSecurityRule/action"},
	"microsoft.network/privateendpoints/privatednszonegroups": {"microsoft.network/privatednszones": network + "privateDnsZones/join/action"},
}

// LinkedNeeds returns the actions that the caller of a write needs at the resources that the body refers to, ordered and
// each once. References to the resource itself and to its children need none. The creator of a private endpoint
// approves it, unless the body requests approval: https://learn.microsoft.com/azure/private-link/rbac-permissions.
func LinkedNeeds(id store.ID, content body.Object) []Need {
	own, special := id.Key()+"/", fromType[strings.ToLower(id.Type())]
	var out []Need
	add := func(key, text string) {
		if !strings.HasPrefix(text, "/subscriptions/") || strings.HasPrefix(strings.ToLower(text)+"/", own) {
			return
		}
		to, err := store.ParseID(text)
		if err != nil || to.IsCollection() {
			return
		}
		typ := strings.ToLower(to.Type())
		action := special[typ]
		if action == "" {
			action = links[typ]
		}
		if strings.EqualFold(key, "privateLinkServiceId") {
			action = to.Type() + "/privateEndpointConnectionsApproval/action"
		}
		if need := (Need{Action: action, Scope: text}); action != "" && !slices.Contains(out, need) {
			out = append(out, need)
		}
	}
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch v := value.(type) {
		case string:
			add(key, v)
		case []any:
			for _, item := range v {
				walk(key, item)
			}
		case body.Object:
			for key, item := range v {
				if strings.EqualFold(key, "manualPrivateLinkServiceConnections") {
					continue
				}
				add("", key) // userAssignedIdentities has them as keys
				walk(key, item)
			}
		}
	}
	for _, part := range []string{"properties", "identity"} {
		walk(part, content[part])
	}
	slices.SortFunc(out, func(a, b Need) int {
		return strings.Compare(a.Action+"\n"+strings.ToLower(a.Scope), b.Action+"\n"+strings.ToLower(b.Scope))
	})
	return out
}
