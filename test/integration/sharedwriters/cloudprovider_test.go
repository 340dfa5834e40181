package sharedwriters_test

import (
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// Resources of the self-managed cluster.
const (
	group      = "resourceGroups/c1/providers/"
	network    = group + "Microsoft.Network/"
	compute    = group + "Microsoft.Compute/"
	vnet       = network + "virtualNetworks/c1-vnet"
	subnet     = vnet + "/subnets/nodes"
	nsg        = network + "networkSecurityGroups/c1-node-nsg"
	routeTable = network + "routeTables/c1-node-routetable"
	outbound   = network + "loadBalancers/c1"
	nic        = network + "networkInterfaces/c1-md-nic"
	vm         = compute + "virtualMachines/c1-md"
	scaleSet   = compute + "virtualMachineScaleSets/c1-mp"

	// service is the name that cloud-provider-azure gives to the resources that it makes for one Service.
	service = "a0f9c2d4e5b64a7f8c1d2e3f40516273"

	serviceAddress = network + "publicIPAddresses/c1-" + service
	servicePool    = outbound + "/backendAddressPools/c1"
	outboundPool   = outbound + "/backendAddressPools/c1-outboundBackendPool"

	interfaces = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations"
	pools      = "loadBalancerBackendAddressPools"
)

// serveService makes the resources that cloud-provider-azure makes for a Service of type LoadBalancer: an address, and on the load
// balancer with the name of the cluster a frontend, a pool, a rule and a probe.
func (w *world) serveService() {
	w.T.Helper()
	w.PutResource(serviceAddress, body{"location": "eastus", "sku": body{"name": "Standard"},
		"tags":       body{"k8s-azure-service": "default/web", "k8s-azure-cluster-name": "c1"},
		"properties": body{"publicIPAllocationMethod": "Static", "publicIPAddressVersion": "IPv4"}})
	w.RewriteResource(outbound, func(resource body) {
		properties := resource["properties"].(body)
		add := func(list string, element body) {
			have, _ := properties[list].([]any)
			properties[list] = append(have, element)
		}
		add("frontendIPConfigurations", body{"name": service, "properties": body{"publicIPAddress": w.ResourceReference(serviceAddress)}})
		add("backendAddressPools", body{"name": "c1"})
		add("probes", body{"name": service + "-TCP-80",
			"properties": body{"protocol": "Tcp", "port": 30080, "intervalInSeconds": 5, "numberOfProbes": 2}})
		add("loadBalancingRules",
			body{"name": service + "-TCP-80",
				"properties": body{"protocol": "Tcp", "frontendPort": 80, "backendPort": 80, "enableFloatingIP": true, "disableOutboundSnat": true,
					"frontendIPConfiguration": w.ResourceReference(outbound + "/frontendIPConfigurations/" + service),
					"backendAddressPool":      w.ResourceReference(servicePool),
					"probe":                   w.ResourceReference(outbound + "/probes/" + service + "-TCP-80")}})
	})
}

// addPool adds the pool of cloud-provider-azure to the primary address of the primary interface in a list of configurations.
func (w *world) addPool(configurations any) []any {
	list := configurations.([]any)
	properties := harness.FindValue(list, "0.properties.ipConfigurations.0.properties").(body)
	have, _ := properties[pools].([]any)
	properties[pools] = append(have, w.ResourceReference(servicePool))
	return list
}

// joinTemplate adds the pool to the template of the scale set: the PUT has location, network profile and etag, no tags and no sku.
func (w *world) joinTemplate() {
	w.T.Helper()
	w.serveService()
	read := w.ReadResource(scaleSet)
	w.PutResource(scaleSet, body{"location": read["location"], "etag": read["etag"],
		"properties": body{"virtualMachineProfile": body{"networkProfile": body{
			"networkInterfaceConfigurations": w.addPool(harness.FindValue(read, interfaces))}}}})
}

// joinInstances adds the pool to each instance.
func (w *world) joinInstances() {
	w.T.Helper()
	w.joinTemplate()
	for _, instance := range w.instancePaths() {
		read := w.ReadResource(instance)
		w.PutResource(instance, body{"location": read["location"], "etag": read["etag"],
			"properties": body{"hardwareProfile": harness.FindValue(read, "properties.hardwareProfile"),
				"networkProfileConfiguration": body{"networkInterfaceConfigurations": w.addPool(harness.FindValue(read,
					"properties.networkProfileConfiguration.networkInterfaceConfigurations"))}}})
	}
}

// instancePaths returns the paths of the instances of the scale set, without a request.
func (w *world) instancePaths() (out []string) {
	w.T.Helper()
	for _, resource := range w.readInstances() {
		out = append(out, strings.TrimPrefix(fmt.Sprint(resource["id"]), "/subscriptions/"+w.Azure.SubscriptionID+"/"))
	}
	slices.Sort(out)
	return out
}

// readInstances returns the instances of the scale set.
func (w *world) readInstances() []body {
	return slices.DeleteFunc(w.Sim.State(), func(resource body) bool {
		return resource["type"] != "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
	})
}

// backendPools returns the pools that instances are in: that of cloud-provider-azure, and the provider's own.
func (w *world) backendPools() []string {
	if w.balanced {
		return []string{servicePool, outboundPool}
	}
	return []string{servicePool}
}

// allServed reports whether the interfaces of all instances are in their pools.
func (w *world) allServed() bool {
	w.T.Helper()
	for _, instance := range w.instancePaths() {
		all := w.ReadResource(instance)
		interfaceID := fmt.Sprint(harness.FindValue(all, "properties.networkProfile.networkInterfaces.0.id"))
		path := strings.TrimPrefix(interfaceID, "/subscriptions/"+w.Azure.SubscriptionID+"/")
		for _, want := range w.backendPools() {
			if !w.hasElement(path, "properties.ipConfigurations.0.properties."+pools, string(w.ResourceID(want))) {
				return false
			}
		}
	}
	return true
}

func cloudProviderRows() []row {
	const program = "cloud-provider-azure"
	templatePools := interfaces + ".0.properties.ipConfigurations.0.properties." + pools
	clusterTag := func(w *world) {
		harness.ChangeObject(w.Stage, newCluster(), func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	poolTag := func(w *world) {
		harness.ChangeObject(w.Stage, newPool(), func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	inTemplate := func(w *world) bool {
		return !slices.ContainsFunc(w.backendPools(),
			func(pool string) bool { return !w.hasElement(scaleSet, templatePools, string(w.ResourceID(pool))) })
	}
	return []row{
		{
			program: program, resource: "Security group of nodes", entry: "a rule for each Service", verb: "PUT of the whole group", in: selfManaged,
			write: func(w *world) {
				w.InsertElements(nsg, "securityRules",
					body{"name": "k8s-azure-lb_allow_IPv4_0123abcd",
						"properties": body{"priority": 500, "protocol": "Tcp", "access": "Allow", "direction": "Inbound",
							"sourceAddressPrefix": "Internet", "sourcePortRange": "*", "destinationAddressPrefixes": []any{"20.0.0.9"},
							"destinationPortRanges": []any{"80"}}})
			},
			kept: func(w *world) bool {
				return w.hasElement(nsg, "properties.securityRules", "k8s-azure-lb_allow_IPv4_0123abcd")
			},
			change: func(w *world) {
				harness.ChangeObject(w.Stage, newCluster(), func(c *infrav1.AzureCluster) {
					for i := range c.Spec.NetworkSpec.Subnets {
						if s := &c.Spec.NetworkSpec.Subnets[i]; s.Role == infrav1.SubnetNode {
							s.SecurityGroup.SecurityRules = append(s.SecurityGroup.SecurityRules,
								infrav1.SecurityRule{Name: "more", Description: "more", Protocol: infrav1.SecurityGroupProtocolTCP,
									Direction: infrav1.SecurityRuleDirectionInbound, Priority: 700, Source: new("*"), SourcePorts: new("*"), Destination: new("*"),
									DestinationPorts: new("30000"), Action: infrav1.SecurityRuleActionAllow})
						}
					}
				})
			},
			sends: "PUT resourceGroups/c1/Microsoft.Network/networkSecurityGroups/c1-node-nsg",
		},
		{
			program: program, resource: "Outbound load balancer of nodes", entry: "frontend, backend pool, rules and probes of Services",
			verb: "PUT of the whole load balancer, which has the name of the cluster", in: selfManaged,
			write: (*world).serveService,
			kept: func(w *world) bool {
				rule := "properties.loadBalancingRules." + service + "-TCP-80"
				return w.hasElement(outbound, "properties.frontendIPConfigurations", service) &&
					w.hasElement(outbound, "properties.backendAddressPools", "c1") &&
					w.hasElement(outbound, "properties.probes", service+"-TCP-80") && w.FindProperty(outbound, rule) != nil &&
					harness.FindValue(w.ReadResource(serviceAddress), "tags.k8s-azure-cluster-name") == "c1"
			},
			change: func(w *world) {
				harness.ChangeObject(w.Stage, newCluster(),
					func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.NodeOutboundLB.IdleTimeoutInMinutes = new(int32(15)) })
			},
			sends: "PUT resourceGroups/c1/Microsoft.Network/loadBalancers/c1",
		},
		{
			program: program, resource: "Network interface of a machine", entry: "its backend pool", verb: "PUT of the whole interface",
			in: selfManaged,
			write: func(w *world) {
				w.serveService()
				w.RewriteResource(nic, func(resource body) {
					properties := harness.FindValue(resource, "properties.ipConfigurations.0.properties").(body)
					have, _ := properties[pools].([]any)
					properties[pools] = append(have, w.ResourceReference(servicePool))
				})
			},
			kept: func(w *world) bool {
				return w.hasElement(nic, "properties.ipConfigurations.0.properties."+pools, string(w.ResourceID(servicePool)))
			},
			change: func(w *world) {
				harness.ChangeObject(w.Stage, newMachine(), func(m *infrav1.AzureMachine) { m.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
			},
			sends: "PUT resourceGroups/c1/Microsoft.Network/networkInterfaces/c1-md-nic",
		},
		{
			program: program, resource: "Scale set", entry: "its backend pool in the template",
			verb: "PUT with location, network profile and etag only", in: selfManaged,
			write: (*world).joinTemplate, kept: inTemplate, change: poolTag,
			sends: "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp",
		},
		{
			program: program, resource: "Scale set", entry: "its backend pool in the template, beside the provider's own",
			verb: "PUT with location, network profile and etag only", in: selfManaged, prepare: dualStack,
			write: (*world).joinTemplate, kept: inTemplate, change: poolTag,
			sends: "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp",
		},
		{
			program: program, resource: "Scale set", entry: "its backend pool, when the pool of machines grows",
			verb: "the same PUT, and a PUT of each instance with networkProfileConfiguration", in: selfManaged,
			write: (*world).joinInstances, kept: func(w *world) bool { return inTemplate(w) && w.allServed() },
			change: func(w *world) {
				harness.ChangeObject(w.Stage, virtual.MachinePool(poolName), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
				w.WaitUntil("there are three VMs", func() bool { return len(w.instancePaths()) == 3 })
			},
			sends: "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp",
		},
		{
			program: program, resource: "Scale set", entry: "its backend pool, when the machines are replaced", verb: "the same PUTs",
			in: selfManaged, prepare: dualStack,
			write: (*world).joinInstances, kept: func(w *world) bool { return inTemplate(w) && w.allServed() },
			change: func(w *world) {
				harness.ChangeObject(w.Stage, newPool(), func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = "Standard_D4s_v3" })
				w.WaitUntil("the VMs are new", func() bool {
					all := w.readInstances()
					return len(all) == 2 && !slices.ContainsFunc(all,
						func(instance body) bool { return harness.FindValue(instance, "sku.name") != "Standard_D4s_v3" })
				})
			},
			sends: "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp",
		},
		{
			program: program, resource: "Route table of nodes", entry: "a route for each Node", verb: "PUT of the whole table", in: selfManaged,
			write: func(w *world) {
				w.InsertElements(routeTable, "routes",
					body{"name": "c1-md____192168000024",
						"properties": body{"addressPrefix": "192.168.0.0/24", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.0.4"}})
			},
			kept:   func(w *world) bool { return w.hasElement(routeTable, "properties.routes", "c1-md____192168000024") },
			change: clusterTag, sends: "PUT resourceGroups/c1/Microsoft.Network/routeTables/c1-node-routetable",
		},
		{
			program: program, resource: "Subnet of nodes", entry: "network policies turned off, for private link services",
			verb: "PUT of the whole subnet", in: selfManaged,
			write: func(w *world) {
				w.RewriteResource(subnet, func(resource body) { resource["properties"].(body)["privateLinkServiceNetworkPolicies"] = "Disabled" })
			},
			kept: func(w *world) bool {
				return w.FindProperty(subnet, "properties.privateLinkServiceNetworkPolicies") == "Disabled"
			},
			change: serviceEndpoint("Microsoft.Sql"), sends: "PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1-vnet/subnets/nodes",
		},
	}
}

// serviceEndpoint returns a change of the spec that gives the subnet of nodes a service endpoint.
func serviceEndpoint(name string) func(*world) {
	return func(w *world) {
		harness.ChangeObject(w.Stage, newCluster(), func(c *infrav1.AzureCluster) {
			for i := range c.Spec.NetworkSpec.Subnets {
				if s := &c.Spec.NetworkSpec.Subnets[i]; s.Role == infrav1.SubnetNode {
					s.ServiceEndpoints = append(s.ServiceEndpoints, infrav1.ServiceEndpointSpec{Service: name, Locations: []string{"*"}})
				}
			}
		})
	}
}

// identityPath returns the path of a user-assigned identity outside of the cluster.
func identityPath(name string) string {
	return "resourceGroups/other/providers/" + types.UserAssignedIdentity + "/" + name
}
