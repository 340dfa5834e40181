package drift_test

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// changeDNSLabel changes the DNS label of the API server's address.
func (w *world) changeDNSLabel(label string) {
	w.T.Helper()
	w.EditResource(address, body{"properties": body{"dnsSettings": body{"domainNameLabel": label}}})
}

func groupRows() []row {
	const name = "resourceGroups/c1"
	return []row{
		tagChanged("Resource group", "c1", name),
		tagAdded("Resource group", "c1", name),
		disownedRow("Resource group", "c1", name, "c1"),
		groupStripped("c1", name),
	}
}

func networkRows() []row {
	return []row{
		tagAdded("Virtual network", "c1", vnet),
		{
			resource: "Virtual network", change: "an address range is added", outcome: kept, note: "peerings take it over", object: "c1", path: vnet,
			follows: "PUT resourceGroups/hub/Microsoft.Network/virtualNetworks/hub/virtualNetworkPeerings/",
			do: func(w *world) {
				w.EditResource(vnet, body{"properties": body{"addressSpace": body{"addressPrefixes": []any{"10.0.0.0/8", "192.168.0.0/16"}}}})
			},
			holds: func(w *world) bool {
				prefixes, _ := w.FindProperty(vnet, "properties.addressSpace.addressPrefixes").([]any)
				return len(prefixes) == 2
			},
		},
		{
			resource: "Virtual network", change: "DNS servers are set", outcome: kept,
			note: "the spec has no field for them. The same holds for encryption and DDoS protection", object: "c1", path: vnet,
			do: func(w *world) {
				w.EditResource(vnet, body{"properties": body{"dhcpOptions": body{"dnsServers": []any{"10.0.0.4"}}}})
			},
			holds: func(w *world) bool {
				servers, _ := w.FindProperty(vnet, "properties.dhcpOptions.dnsServers").([]any)
				return len(servers) == 1
			},
		},
		{
			resource: "Virtual network", change: "a subnet is added", outcome: kept, object: "c1", path: vnet,
			do: func(w *world) {
				w.PutResource(vnet+"/subnets/theirs", body{"properties": body{"addressPrefix": "10.100.0.0/16"}})
			},
			holds: func(w *world) bool { _, ok := w.FindResource(vnet + "/subnets/theirs"); return ok },
		},
		{
			resource: "Virtual network", change: "a peering with another network is added", outcome: kept, object: "c1", path: vnet,
			do: func(w *world) {
				w.PutResource(vnet+"/virtualNetworkPeerings/theirs",
					body{"properties": body{"remoteVirtualNetwork": body{"id": string(w.ResourceID("resourceGroups/hub/providers/" + network + "virtualNetworks/spoke"))}}})
			},
			holds: func(w *world) bool { _, ok := w.FindResource(vnet + "/virtualNetworkPeerings/theirs"); return ok },
		},
		tagChanged("Virtual network", "c1", vnet),
		disownedRow("Virtual network", "c1", vnet, "c1"),
		strippedRow("Virtual network", "c1", vnet),
		editedRow("Virtual network", "an address range of the spec is removed", "Azure refuses the removal if the range has subnets", "c1", vnet,
			body{"properties": body{"addressSpace": body{"addressPrefixes": []any{"10.0.0.0/9", "192.168.0.0/16"}}}}),
		removedRow("Subnet", "a subnet of the spec is removed", "Azure removes only empty subnets", "c1", spare),
		{
			resource: "Subnet", change: "a service endpoint is added", outcome: kept, note: "one that was removed from the spec is removed in Azure",
			object: "c1", path: nodes,
			do: func(w *world) {
				w.addElement(nodes, "serviceEndpoints", body{"service": "Microsoft.Sql", "locations": []any{"*"}, "provisioningState": "Succeeded"})
			},
			holds: func(w *world) bool {
				return w.HasElement(nodes, "properties.serviceEndpoints", "service", "Microsoft.Sql")
			},
		},
		{
			resource: "Subnet", change: "a service endpoint of the spec is removed", outcome: repaired, object: "c1", path: nodes,
			do: func(w *world) { w.dropElementBy(nodes, "serviceEndpoints", "service", "Microsoft.Storage") },
		},
		{
			resource: "Subnet", change: "a service endpoint of the spec is changed", outcome: repaired, object: "c1", path: nodes,
			do: func(w *world) {
				list, _ := w.FindProperty(nodes, "properties.serviceEndpoints").([]any)
				for _, item := range list {
					if element := item.(body); element["service"] == "Microsoft.Storage" {
						element["locations"] = []any{"westus"}
					}
				}
				w.EditResource(nodes, body{"properties": body{"serviceEndpoints": list}})
			},
		},
		keptRow("Subnet", "settings without a field, such as network policies for private endpoints, are changed",
			"the spec has no field for them",
			"c1", nodes,
			body{"properties": body{"privateEndpointNetworkPolicies": "Enabled"}}, "properties.privateEndpointNetworkPolicies", "Enabled"),
		editedRow("Subnet", "security group, route table and NAT gateway of the spec are detached", "", "c1", nodes,
			body{"properties": body{"networkSecurityGroup": nil, "routeTable": nil, "natGateway": nil}}),
		{
			resource: "Subnet", change: "a NAT gateway, route table or security group is attached and the spec has none", outcome: kept,
			note: "Azure Policy attaches route tables. One that was removed from the spec is detached", object: "c1", path: cp,
			do: func(w *world) {
				w.putPublicIP("egress")
				w.PutResource(network+"natGateways/theirs", body{"location": "eastus", "sku": body{"name": "Standard"},
					"properties": body{"publicIpAddresses": []any{body{"id": string(w.ResourceID(network + "publicIPAddresses/egress"))}}}})
				w.EditResource(cp, body{"properties": body{"natGateway": body{"id": string(w.ResourceID(network + "natGateways/theirs"))}}})
			},
			holds: func(w *world) bool { return w.FindProperty(cp, "properties.natGateway") != nil },
		},
		editedRow("Subnet", "the security group is detached", "resources that others attached stay", "c1", cp,
			body{"properties": body{"networkSecurityGroup": nil}}),
		{
			resource: "Subnet", change: "a delegation is added", outcome: kept, note: "the spec has no field for it", object: "c1", path: spare,
			do: func(w *world) {
				w.addElement(spare, "delegations", body{"name": "theirs", "properties": body{"serviceName": "Microsoft.Web/serverFarms"}})
			},
			holds: func(w *world) bool { return w.FindProperty(spare, "properties.delegations.theirs") != nil },
		},

		{
			resource: "Security group", change: "a rule is added", outcome: kept,
			note: "cloud-provider-azure adds one for each Service of type LoadBalancer, and users add their own", object: "c1", path: group,
			do: func(w *world) {
				w.PutResource(group+"/securityRules/k8s-azure-lb",
					body{"properties": body{"priority": 500, "protocol": "Tcp", "access": "Allow", "direction": "Inbound",
						"sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "80"}})
			},
			holds: func(w *world) bool { return w.FindProperty(group, "properties.securityRules.k8s-azure-lb") != nil },
		},
		tagChanged("Security group", "c1", group),
		disownedRow("Security group", "c1", group, "c1"),
		strippedRow("Security group", "c1", group),
		{
			resource: "Security group", change: "a rule of the spec is removed", outcome: repaired, object: "c1", path: group,
			do: func(w *world) { w.dropElement(group, "securityRules", "one") },
		},
		{
			resource: "Security group", change: "a rule of the spec is changed", outcome: repaired, object: "c1", path: group,
			do: func(w *world) {
				w.amendElement(group, "securityRules", "two", body{"access": "Deny", "priority": 444})
			},
		},
		{
			resource: "Route table", change: "a route is added", outcome: kept,
			note: "cloud-provider-azure adds one for the pods of each node with kubenet", object: "c1", path: table,
			do: func(w *world) {
				w.PutResource(table+"/routes/pods",
					body{"properties": body{"addressPrefix": "192.168.1.0/24", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.0.9"}})
			},
			holds: func(w *world) bool { return w.FindProperty(table, "properties.routes.pods") != nil },
		},
		tagChanged("Route table", "c1", table),
		{
			resource: "Route table", change: "a table is detached from its subnets and removed", outcome: repaired, object: "c1",
			path: network + "routeTables/spare-rt",
			do: func(w *world) {
				w.EditResource(spare, body{"properties": body{"routeTable": nil}})
				w.RemoveResource(network + "routeTables/spare-rt")
			},
		},

		tagChanged("Public IP address", "c1", address),
		disownedRow("Public IP address", "c1", address, "c1"),
		strippedRow("Public IP address", "c1", address),
		{
			resource: "Public IP address", change: "the DNS label is changed", outcome: reported, note: "the name is in machines and kubeconfigs",
			object: "c1", path: address,
			do: func(w *world) { w.changeDNSLabel("theirs") },
			want: metav1.Condition{Type: infrav1.PublicIPsReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason,
				Message: "properties.dnsSettings.domainNameLabel"},
			undo: func(w *world) {
				azureCluster := &infrav1.AzureCluster{}
				w.ReadObject(azureCluster, "c1")
				label, _, _ := strings.Cut(azureCluster.Spec.ControlPlaneEndpoint.Host, ".")
				w.changeDNSLabel(label)
			},
		},
		keptRow("Public IP address", "the idle timeout is changed", "the spec has no field for it", "c1", address,
			body{"properties": body{"idleTimeoutInMinutes": 15}}, "properties.idleTimeoutInMinutes", 15.0),
		{
			resource: "NAT gateway", change: "a public IP address is added", outcome: kept, note: "users add them for more ports", object: "c1",
			path: gateway,
			do: func(w *world) {
				w.putPublicIP("theirs")
				w.addElement(gateway, "publicIpAddresses", body{"id": string(w.ResourceID(network + "publicIPAddresses/theirs"))})
			},
			holds: func(w *world) bool {
				return w.HasElement(gateway, "properties.publicIpAddresses", "id", string(w.ResourceID(network+"publicIPAddresses/theirs")))
			},
		},
		tagChanged("NAT gateway", "c1", gateway),
		{
			resource: "NAT gateway", change: "its public IP address is detached", outcome: repaired,
			note: "an address that was attached instead stays in addition", object: "c1", path: gateway,
			do: func(w *world) {
				w.dropElementBy(gateway, "publicIpAddresses", "id", string(w.ResourceID(network+"publicIPAddresses/pip-nodes-nat")))
			},
		},
		keptRow("NAT gateway", "the idle timeout is changed", "the spec has no field for it", "c1", gateway,
			body{"properties": body{"idleTimeoutInMinutes": 15}}, "properties.idleTimeoutInMinutes", 15.0),

		removedRow("Peering", "the peering there is removed", "", "c1", peering),
		removedRow("Peering", "the peering back is removed", "", "c1", back),
		editedRow("Peering", "a setting of the spec is changed", "", "c1", peering, body{"properties": body{"allowForwardedTraffic": false}}),
		removedRow("Private endpoint", "it is removed", "", "c1", network+"privateEndpoints/storage"),
		tagChanged("Private endpoint", "c1", network+"privateEndpoints/storage"),
		removedRow("Bastion host", "it is removed", "", "c1", host),
		editedRow("Bastion host", "tunnelling is turned off", "", "c1", host, body{"properties": body{"enableTunneling": false}}),
		keptRow("Bastion host", "scale units or features without a field in the spec are changed", "", "c1", host,
			body{"properties": body{"scaleUnits": 5}}, "properties.scaleUnits", 5.0),
	}
}

func balancerRows() []row {
	frontend := func(w *world, balancer, name string) body {
		return body{"id": string(w.ResourceID(balancer)) + "/frontendIPConfigurations/" + name}
	}
	const theirNIC = network + "networkInterfaces/theirs"
	return []row{
		tagAdded("Load balancer", "c1", public),
		{
			resource: "Load balancer", change: "a rule is added", outcome: kept,
			note: "cloud-provider-azure adds rules, probes and frontends for Services", object: "c1", path: public,
			do: func(w *world) {
				w.InsertElements(public, "loadBalancingRules",
					body{"name": "theirs", "properties": body{"protocol": "Tcp", "frontendPort": 80, "backendPort": 80,
						"frontendIPConfiguration": frontend(w, public, "c1-public-lb-frontEnd")}})
			},
			holds: func(w *world) bool { return w.FindProperty(public, "properties.loadBalancingRules.theirs") != nil },
		},
		{
			resource: "Load balancer", change: "a probe is added", outcome: kept, note: "cloud-provider-azure adds probes for Services", object: "c1", path: public,
			do: func(w *world) {
				w.InsertElements(public, "probes",
					body{"name": "theirs", "properties": body{"protocol": "Tcp", "port": 30080, "intervalInSeconds": 5, "numberOfProbes": 2}})
			},
			holds: func(w *world) bool { return w.FindProperty(public, "properties.probes.theirs") != nil },
		},
		{
			resource: "Load balancer", change: "an inbound NAT rule is added", outcome: kept, object: "c1", path: public,
			do: func(w *world) {
				w.PutResource(public+"/inboundNatRules/theirs", body{"properties": body{"protocol": "Tcp", "frontendPort": 5000, "backendPort": 22,
					"frontendIPConfiguration": frontend(w, public, "c1-public-lb-frontEnd")}})
			},
			holds: func(w *world) bool { return w.FindProperty(public, "properties.inboundNatRules.theirs") != nil },
		},
		{
			resource: "Load balancer", change: "a frontend is added", outcome: kept, note: "cloud-provider-azure adds frontends for Services", object: "c1", path: out,
			do: func(w *world) {
				w.putPublicIP("service")
				w.InsertElements(out, "frontendIPConfigurations", body{"name": "theirs", "properties": body{"privateIPAllocationMethod": "Dynamic",
					"publicIPAddress": body{"id": string(w.ResourceID(network + "publicIPAddresses/service"))}}})
			},
			holds: func(w *world) bool { return w.FindProperty(out, "properties.frontendIPConfigurations.theirs") != nil },
		},
		{
			resource: "Load balancer", change: "a backend pool is added", outcome: kept, note: "cloud-provider-azure adds pools for Services", object: "c1", path: out,
			do: func(w *world) {
				w.InsertElements(out, "backendAddressPools", body{"name": "kubernetes", "properties": body{}})
			},
			holds: func(w *world) bool { return w.FindProperty(out, "properties.backendAddressPools.kubernetes") != nil },
		},
		{
			resource: "Load balancer", change: "an outbound rule is added", outcome: kept, note: "users add rules for outbound connections", object: "c1", path: out,
			do: func(w *world) {
				w.InsertElements(out, "outboundRules", body{"name": "theirs", "properties": body{"protocol": "All", "idleTimeoutInMinutes": 4,
					"backendAddressPool":       body{"id": string(w.ResourceID(out)) + "/backendAddressPools/kubernetes"},
					"frontendIPConfigurations": []any{frontend(w, out, "theirs")}}})
			},
			holds: func(w *world) bool { return w.FindProperty(out, "properties.outboundRules.theirs") != nil },
		},
		{
			resource: "Load balancer", change: "a network interface of another owner is added to a backend pool of the spec", outcome: kept,
			object: "c1", path: out,
			do: func(w *world) {
				w.PutResource(theirNIC, body{"location": "eastus",
					"properties": body{"ipConfigurations": []any{body{"name": "ip", "properties": body{"subnet": body{"id": string(w.ResourceID(nodes))},
						"loadBalancerBackendAddressPools": []any{body{"id": string(w.ResourceID(out)) + "/backendAddressPools/c1-outboundBackendPool"}}}}}}})
			},
			holds: func(w *world) bool {
				list, _ := w.FindProperty(theirNIC, "properties.ipConfigurations").([]any)
				pools, _ := harness.FindValue(list, "ip.properties.loadBalancerBackendAddressPools").([]any)
				return len(pools) == 1
			},
		},
		tagsOnly("Load balancer", "c1", public),
		disownedRow("Load balancer", "c1", public, "c1"),
		strippedRow("Load balancer", "c1", public),
		{
			resource: "Load balancer", change: "a rule of the spec is removed", outcome: repaired, object: "c1", path: public,
			do: func(w *world) { w.dropElement(public, "loadBalancingRules", "konnectivity") },
		},
		{
			resource: "Load balancer", change: "a rule of the spec is changed", outcome: repaired, object: "c1", path: public,
			do: func(w *world) {
				w.amendElement(public, "loadBalancingRules", "LBRuleHTTPS", body{"idleTimeoutInMinutes": 30, "disableOutboundSnat": false})
			},
		},
		{
			resource: "Load balancer", change: "the probe is changed", outcome: repaired, object: "c1", path: public,
			do: func(w *world) {
				w.amendElement(public, "probes", "HTTPSProbe", body{"requestPath": "/healthz", "intervalInSeconds": 60})
			},
		},
		{
			resource: "Load balancer", change: "the outbound rule is removed", outcome: repaired, object: "c1", path: out,
			do: func(w *world) { w.dropElement(out, "outboundRules", "OutboundNATAllProtocols") },
		},
	}
}

func dnsRows() []row {
	return []row{
		tagsOnly("Private DNS zone", "p1", zone),
		disownedRow("Private DNS zone", "p1", zone, "p1"),
		strippedRow("Private DNS zone", "p1", zone),
		tagsOnly("Private DNS link", "p1", link),
		removedRow("Private DNS link", "it is removed", "", "p1", link),
		editedRow("Private DNS link", "automatic registration of machines is turned on", "", "p1", link,
			body{"properties": body{"registrationEnabled": true}}),
		removedRow("Private DNS record", "the record of the API server is removed", "", "p1", record),
		editedRow("Private DNS record", "the record of the API server has another address", "", "p1", record,
			body{"properties": body{"aRecords": []any{body{"ipv4Address": "10.9.9.9"}}}}),
		{
			resource: "Private DNS record", change: "another record is added", outcome: kept, object: "p1", path: zone,
			do: func(w *world) {
				w.PutResource(zone+"/A/theirs", body{"properties": body{"ttl": 60, "aRecords": []any{body{"ipv4Address": "10.0.0.7"}}}})
			},
			holds: func(w *world) bool { _, ok := w.FindResource(zone + "/A/theirs"); return ok },
		},
	}
}
