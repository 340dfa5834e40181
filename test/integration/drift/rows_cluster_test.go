package drift_test

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// relabel changes the DNS label of the API server's address.
func (w *world) relabel(label string) {
	w.t.Helper()
	w.edit(address, body{"properties": body{"dnsSettings": body{"domainNameLabel": label}}})
}

func groupRows() []row {
	const name = "resourceGroups/c1"
	return []row{
		tagChanged("Resource group", "c1", name),
		tagAdded("Resource group", "c1", name),
	}
}

func networkRows() []row {
	return []row{
		tagChanged("Virtual network", "c1", vnet),
		tagAdded("Virtual network", "c1", vnet),
		{
			resource: "Virtual network", change: "an address range is added", outcome: kept, object: "c1", path: vnet,
			do: func(w *world) {
				w.edit(vnet, body{"properties": body{"addressSpace": body{"addressPrefixes": []any{"10.0.0.0/8", "192.168.0.0/16"}}}})
			},
			holds: func(w *world) bool {
				prefixes, _ := w.at(vnet, "properties.addressSpace.addressPrefixes").([]any)
				return len(prefixes) == 2
			},
		},
		edited("Virtual network", "an address range of the spec is removed", "where subnets are in it, Azure does not let it go in the first place", "c1", vnet,
			body{"properties": body{"addressSpace": body{"addressPrefixes": []any{"10.0.0.0/9", "192.168.0.0/16"}}}}),
		{
			resource: "Virtual network", change: "DNS servers are set", outcome: kept, note: "the spec has no field for them; as encryption, DDoS protection and the like", object: "c1", path: vnet,
			do: func(w *world) {
				w.edit(vnet, body{"properties": body{"dhcpOptions": body{"dnsServers": []any{"10.0.0.4"}}}})
			},
			holds: func(w *world) bool {
				servers, _ := w.at(vnet, "properties.dhcpOptions.dnsServers").([]any)
				return len(servers) == 1
			},
		},
		{
			resource: "Subnet", change: "a subnet is added", outcome: kept, object: "c1", path: vnet,
			do: func(w *world) {
				w.put(vnet+"/subnets/theirs", body{"properties": body{"addressPrefix": "10.100.0.0/16"}})
			},
			holds: func(w *world) bool { _, ok := w.get(vnet + "/subnets/theirs"); return ok },
		},
		removed("Subnet", "a subnet of the spec is removed", "Azure lets go only what nothing is in", "c1", vnet+"/subnets/spare"),
		edited("Subnet", "security group, route table or NAT gateway are taken off or replaced", "", "c1", nodes,
			body{"properties": body{"networkSecurityGroup": nil, "routeTable": nil, "natGateway": nil}}),
		edited("Subnet", "a service endpoint is removed", "", "c1", nodes, body{"properties": body{"serviceEndpoints": []any{}}}),
		{
			resource: "Subnet", change: "a service endpoint is added", outcome: repaired, note: "the list is the spec's: put it there", object: "c1", path: nodes,
			do: func(w *world) {
				w.add(nodes, "serviceEndpoints", body{"service": "Microsoft.Sql", "locations": []any{"*"}, "provisioningState": "Succeeded"})
			},
		},
		keeps("Subnet", "network policies for private endpoints, delegations and the like are changed", "the spec has no field for them", "c1", nodes,
			body{"properties": body{"privateEndpointNetworkPolicies": "Enabled"}}, "properties.privateEndpointNetworkPolicies", "Enabled"),

		tagChanged("Security group", "c1", group),
		disowned("Security group", "c1", group, infrav1.SecurityGroupsReadyCondition),
		{
			resource: "Security group", change: "a rule of the spec is removed", outcome: repaired, object: "c1", path: group,
			do: func(w *world) { w.drop(group, "securityRules", "one") },
		},
		{
			resource: "Security group", change: "a rule of the spec is changed", outcome: repaired, object: "c1", path: group,
			do: func(w *world) {
				w.amend(group, "securityRules", "two", body{"access": "Deny", "priority": 444})
			},
		},
		{
			resource: "Security group", change: "a rule is added", outcome: kept, note: "cloud-provider-azure adds one for each Service of type LoadBalancer", object: "c1", path: group,
			do: func(w *world) {
				w.put(group+"/securityRules/k8s-azure-lb", body{"properties": body{"priority": 500, "protocol": "Tcp", "access": "Allow", "direction": "Inbound",
					"sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "80"}})
			},
			holds: func(w *world) bool { return w.at(group, "properties.securityRules.k8s-azure-lb") != nil },
		},
		tagChanged("Route table", "c1", table),
		{
			resource: "Route table", change: "a table is taken off its subnets and removed", outcome: repaired, object: "c1", path: network + "routeTables/spare-rt",
			do: func(w *world) {
				w.edit(vnet+"/subnets/spare", body{"properties": body{"routeTable": nil}})
				w.remove(network + "routeTables/spare-rt")
			},
		},
		{
			resource: "Route table", change: "a route is added", outcome: kept, note: "cloud-provider-azure adds one for the pods of each node with kubenet", object: "c1", path: table,
			do: func(w *world) {
				w.put(table+"/routes/pods", body{"properties": body{"addressPrefix": "192.168.1.0/24", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.0.9"}})
			},
			holds: func(w *world) bool { return w.at(table, "properties.routes.pods") != nil },
		},

		tagChanged("Public IP address", "c1", address),
		{
			resource: "Public IP address", change: "the DNS label is changed", outcome: reported, note: "it is made once; machines and kubeconfigs have the name", object: "c1", path: address,
			do:   func(w *world) { w.relabel("theirs") },
			want: metav1.Condition{Type: infrav1.PublicIPsReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason, Message: "properties.dnsSettings.domainNameLabel"},
			undo: func(w *world) {
				azureCluster := &infrav1.AzureCluster{}
				w.Get(azureCluster, "c1")
				label, _, _ := strings.Cut(azureCluster.Spec.ControlPlaneEndpoint.Host, ".")
				w.relabel(label)
			},
		},
		keeps("Public IP address", "the idle timeout is changed", "the spec has no field for it", "c1", address,
			body{"properties": body{"idleTimeoutInMinutes": 15}}, "properties.idleTimeoutInMinutes", 15.0),
		tagChanged("NAT gateway", "c1", gateway),
		{
			resource: "NAT gateway", change: "its public IP address is replaced", outcome: repaired, object: "c1", path: gateway,
			do: func(w *world) {
				w.put(network+"publicIPAddresses/theirs", body{"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{"publicIPAllocationMethod": "Static"}})
				w.edit(gateway, body{"properties": body{"publicIpAddresses": []any{body{"id": string(w.id(network + "publicIPAddresses/theirs"))}}}})
			},
		},
		keeps("NAT gateway", "the idle timeout is changed", "the spec has no field for it", "c1", gateway,
			body{"properties": body{"idleTimeoutInMinutes": 15}}, "properties.idleTimeoutInMinutes", 15.0),

		removed("Peering", "the peering there is removed", "", "c1", peering),
		removed("Peering", "the peering back is removed", "", "c1", back),
		edited("Peering", "a setting of the spec is changed", "", "c1", peering, body{"properties": body{"allowForwardedTraffic": false}}),
		removed("Private endpoint", "it is removed", "", "c1", network+"privateEndpoints/storage"),
		tagChanged("Private endpoint", "c1", network+"privateEndpoints/storage"),
		removed("Bastion host", "it is removed", "", "c1", host),
		edited("Bastion host", "tunnelling is turned off", "", "c1", host, body{"properties": body{"enableTunneling": false}}),
		keeps("Bastion host", "scale units or features that the spec does not know are changed", "", "c1", host, body{"properties": body{"scaleUnits": 5}}, "properties.scaleUnits", 5.0),
	}
}

func balancerRows() []row {
	return []row{
		tagsOnly("Load balancer", "c1", public),
		tagAdded("Load balancer", "c1", public),
		disowned("Load balancer", "c1", public, infrav1.LoadBalancersReadyCondition),
		{
			resource: "Load balancer", change: "a rule of the spec is removed", outcome: repaired, object: "c1", path: public,
			do: func(w *world) { w.drop(public, "loadBalancingRules", "konnectivity") },
		},
		{
			resource: "Load balancer", change: "a rule of the spec is changed", outcome: repaired, object: "c1", path: public,
			do: func(w *world) {
				w.amend(public, "loadBalancingRules", "LBRuleHTTPS", body{"idleTimeoutInMinutes": 30, "disableOutboundSnat": false})
			},
		},
		{
			resource: "Load balancer", change: "the probe is changed", outcome: repaired, object: "c1", path: public,
			do: func(w *world) {
				w.amend(public, "probes", "HTTPSProbe", body{"requestPath": "/healthz", "intervalInSeconds": 60})
			},
		},
		{
			resource: "Load balancer", change: "the outbound rule is removed", outcome: repaired, object: "c1", path: out,
			do: func(w *world) { w.drop(out, "outboundRules", "OutboundNATAllProtocols") },
		},
		{
			resource: "Load balancer", change: "a rule or a probe is added", outcome: kept, note: "cloud-provider-azure adds them for Services", object: "c1", path: public,
			do: func(w *world) {
				frontend := string(w.id(public)) + "/frontendIPConfigurations/c1-public-lb-frontEnd"
				w.add(public, "loadBalancingRules", body{"name": "theirs", "properties": body{"protocol": "Tcp", "frontendPort": 80, "backendPort": 80,
					"frontendIPConfiguration": body{"id": frontend}, "provisioningState": "Succeeded"}})
			},
			holds: func(w *world) bool { return w.at(public, "properties.loadBalancingRules.theirs") != nil },
		},
		{
			resource: "Load balancer", change: "a backend pool is added", outcome: kept, note: "as above", object: "c1", path: out,
			do: func(w *world) {
				w.add(out, "backendAddressPools", body{"name": "kubernetes", "properties": body{"provisioningState": "Succeeded"}})
			},
			holds: func(w *world) bool { return w.at(out, "properties.backendAddressPools.kubernetes") != nil },
		},
		{
			resource: "Load balancer", change: "an inbound NAT rule is added", outcome: kept, object: "c1", path: public,
			do: func(w *world) {
				w.put(public+"/inboundNatRules/theirs", body{"properties": body{"protocol": "Tcp", "frontendPort": 5000, "backendPort": 22,
					"frontendIPConfiguration": body{"id": string(w.id(public)) + "/frontendIPConfigurations/c1-public-lb-frontEnd"}}})
			},
			holds: func(w *world) bool { return w.at(public, "properties.inboundNatRules.theirs") != nil },
		},
	}
}

func dnsRows() []row {
	return []row{
		tagsOnly("Private DNS zone", "p1", zone),
		tagsOnly("Private DNS link", "p1", link),
		removed("Private DNS link", "it is removed", "", "p1", link),
		edited("Private DNS link", "registration of machines is turned on", "", "p1", link, body{"properties": body{"registrationEnabled": true}}),
		removed("Private DNS record", "the record of the API server is removed", "", "p1", record),
		edited("Private DNS record", "the record of the API server leads elsewhere", "", "p1", record, body{"properties": body{"aRecords": []any{body{"ipv4Address": "10.9.9.9"}}}}),
		{
			resource: "Private DNS record", change: "another record is added", outcome: kept, object: "p1", path: zone,
			do: func(w *world) {
				status, answer := w.send("PUT", zone+"/A/theirs", []byte(`{"properties":{"ttl":60,"aRecords":[{"ipv4Address":"10.0.0.7"}]}}`))
				if status > 299 {
					w.t.Fatalf("%d %s", status, answer)
				}
			},
			holds: func(w *world) bool { _, ok := w.get(zone + "/A/theirs"); return ok },
		},
	}
}
