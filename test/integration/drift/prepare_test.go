package drift_test

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// Machines of the cluster c1, by what happens to them, and its pool. p1-cp is in the private cluster p1, in a region without zones.
const (
	controlPlane = "c1-cp"
	worker       = "c1-md"
	withRole     = "c1-role"
	failing      = "c1-fail"
	vanishing    = "c1-gone"
	stopped      = "c1-stop"
	spotStopped  = "c1-spot"
	spotDeleted  = "c1-spot-del"
	inSet        = "p1-cp"
	pool         = "c1-mp"
)

// roleName is the name of the role assignment of the machine with one.
const roleName = "3f0c1f7e-4d2b-4f6a-9a53-0d8a2b7f1c11"

// bringUpEverything creates clusters with all that can be changed outside.
func bringUpEverything(s *virtual.Scenario) *world {
	s.T.Helper()
	w, stage := &world{Scenario: s}, s.Stage
	stage.Azure.PutNetwork("hub", "hub", "172.16.0.0/16", map[string]string{"a": "172.16.1.0/24"})
	stage.Azure.PutNetwork("hub", "spoke", "172.17.0.0/16", nil)
	for _, name := range []string{"one", "two", "theirs"} {
		w.PutResource("resourceGroups/hub/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"+name, body{"location": "eastus"})
	}
	s.StartProvider()
	stage.CreateIdentity()
	public := stage.AzureCluster("c1")
	fillEverything(stage, &public.Spec)
	stage.CreateCluster(public)
	private := stage.AzureCluster("p1")
	private.Spec.Location, private.Spec.AdditionalTags = "westus", infrav1.Tags{"team": "blue"}
	private.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
	stage.CreateCluster(private)
	stage.WaitClusterProvisioned("c1")
	stage.WaitClusterProvisioned("p1")

	machines := map[string]func(spec *infrav1.AzureMachineSpec){
		controlPlane: nil, vanishing: nil, failing: nil, stopped: nil,
		worker: func(spec *infrav1.AzureMachineSpec) {
			spec.AllocatePublicIP, spec.EnableIPForwarding = true, true
			spec.DNSServers = []string{"10.0.0.4", "10.0.0.5"}
			spec.AdditionalTags = infrav1.Tags{"team": "red"}
			spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "data", DiskSizeGB: 8}}
			spec.VMExtensions = []infrav1.VMExtension{{Name: "CustomScript", Publisher: "Microsoft.Azure.Extensions", Version: "2.1",
				Settings: infrav1.Tags{"a": "1"}}}
			spec.Identity = infrav1.VMIdentityUserAssigned
			for _, name := range []string{"one", "two"} {
				spec.UserAssignedIdentities = append(spec.UserAssignedIdentities, infrav1.UserAssignedIdentity{
					ProviderID: "azure://" + string(w.ResourceID("resourceGroups/hub/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"+name))})
			}
		},
		withRole: func(spec *infrav1.AzureMachineSpec) {
			spec.Identity = infrav1.VMIdentitySystemAssigned
			spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: roleName}
		},
		spotStopped: func(spec *infrav1.AzureMachineSpec) {
			spec.SpotVMOptions = &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDeallocate)}
		},
		spotDeleted: func(spec *infrav1.AzureMachineSpec) {
			spec.SpotVMOptions = &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDelete)}
		},
	}
	for name, change := range machines {
		machine := stage.AzureMachine("c1", name)
		if change != nil {
			change(&machine.Spec)
		}
		role := harness.Worker
		if name == controlPlane {
			role = harness.ControlPlane
		} else {
			machine.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes"}}
		}
		stage.CreateMachine(machine, role, "")
	}
	stage.CreateMachine(stage.AzureMachine("p1", inSet), harness.ControlPlane, "")
	azurePool := stage.AzureMachinePool("c1", pool)
	azurePool.Spec.Template.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes"}}
	stage.CreatePool(azurePool, 1)
	stage.PlayPoolMachines(nil)
	stage.WaitPool(pool, 1)
	stage.WaitMachineProvisioned(inSet)
	for name := range machines {
		stage.WaitMachineProvisioned(name)
	}
	w.waitReady("c1")
	w.waitReady("p1")
	return w
}

// fillEverything is a cluster with each kind of resource that a self-managed cluster can have.
func fillEverything(stage *harness.Stage, spec *infrav1.AzureClusterSpec) {
	rule := func(name string, priority int32, port string) infrav1.SecurityRule {
		return infrav1.SecurityRule{Name: name, Description: name, Protocol: infrav1.SecurityGroupProtocolTCP,
			Direction: infrav1.SecurityRuleDirectionInbound,
			Priority:  priority, Source: new("*"), SourcePorts: new("*"), Destination: new("*"), DestinationPorts: new(port),
			Action: infrav1.SecurityRuleActionAllow}
	}
	node := func(name, cidr string) infrav1.SubnetSpec {
		return infrav1.SubnetSpec{
			SubnetClassSpec: infrav1.SubnetClassSpec{Name: name, Role: infrav1.SubnetNode, CIDRBlocks: []string{cidr}},
			SecurityGroup:   infrav1.SecurityGroup{Name: name + "-nsg"}, RouteTable: infrav1.RouteTable{Name: name + "-rt"},
			NatGateway: infrav1.NatGateway{NatGatewayClassSpec: infrav1.NatGatewayClassSpec{Name: name + "-nat"}},
		}
	}
	spec.AdditionalTags = infrav1.Tags{"team": "blue"}
	network := &spec.NetworkSpec
	network.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "konnectivity", Port: 8132}}
	network.Vnet.CIDRBlocks = []string{"10.0.0.0/8"}
	network.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "hub",
		RemoteVnetName:           "hub",
		ForwardPeeringProperties: infrav1.VnetPeeringProperties{AllowForwardedTraffic: new(true)}}}}
	network.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"10.0.0.0/16"}}},
		node("nodes", "10.1.0.0/16"), node("spare", "10.2.0.0/16"),
	}
	network.Subnets[1].SecurityGroup.SecurityRules = infrav1.SecurityRules{rule("one", 300, "1000"), rule("two", 301, "1001")}
	network.Subnets[1].ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage", Locations: []string{"eastus"}}}
	network.Subnets[1].PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "storage",
		PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{
			GroupIDs:             []string{"blob"},
			PrivateLinkServiceID: "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/hub/providers/Microsoft.Storage/storageAccounts/data"}}}}
	network.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(2))}
	spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: infrav1.StandardBastionHostSku, EnableTunneling: true}
}
