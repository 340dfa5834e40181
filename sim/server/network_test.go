package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"
)

func TestResourceGroupAndVirtualNetworkWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	groups, err := armresources.NewResourceGroupsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := groups.CreateOrUpdate(ctx, "rg",
		armresources.ResourceGroup{Location: new("West US 3"), Tags: map[string]*string{"a": new("b")}}, nil); err != nil {
		t.Fatal(err)
	}
	exists, err := groups.CheckExistence(ctx, "RG", nil)
	if err != nil || !exists.Success {
		t.Fatalf("CheckExistence = %v, %v", exists.Success, err)
	}
	vnets, err := armnetwork.NewVirtualNetworksClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vnets.Get(ctx, "rg", "vnet", nil); codeOf(err) != "ResourceNotFound" {
		t.Errorf("Get before create: %v", err)
	}
	p, err := vnets.BeginCreateOrUpdate(ctx, "rg", "vnet", armnetwork.VirtualNetwork{
		Location: new("westus3"),
		Properties: &armnetwork.VirtualNetworkPropertiesFormat{
			AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: []*string{new("10.0.0.0/8")}},
			Subnets:      []*armnetwork.Subnet{{Name: new("cp"), Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.0.0.0/16")}}},
		},
	}, nil)
	if err == nil && p.Done() {
		t.Error("the create was done without a poll; the accepted body must not have Succeeded")
	}
	vnet, err := pollUntilDone(a, p, err)
	if err != nil {
		t.Fatal(err)
	}
	if *vnet.Properties.ProvisioningState != "Succeeded" || *vnet.Properties.Subnets[0].Properties.ProvisioningState != "Succeeded" {
		t.Errorf("state after the operation: %v %v", *vnet.Properties.ProvisioningState, *vnet.Properties.Subnets[0].Properties.ProvisioningState)
	}
	if *vnet.Etag != *vnet.Properties.Subnets[0].Etag {
		t.Error("a subnet must show its virtual network's etag")
	}
	subnets, err := armnetwork.NewSubnetsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	sp, err := subnets.BeginCreateOrUpdate(ctx, "rg", "vnet", "node",
		armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.1.0.0/16")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = subnets.BeginCreateOrUpdate(ctx, "rg", "vnet", "other",
		armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.2.0.0/16")}}, nil)
	if codeOf(err) != "AnotherOperationInProgress" {
		t.Errorf("a second write below the virtual network: %v", err)
	}
	if _, err := pollUntilDone(a, sp, nil); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for pager := subnets.NewListPager("rg", "vnet", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Value {
			got = append(got, *s.Name)
		}
	}
	if d := cmp.Diff([]string{"cp", "node"}, got); d != "" {
		t.Error(d)
	}
	dp, err := groups.BeginDelete(ctx, "rg", nil)
	if _, err := pollUntilDone(a, dp, err); err != nil {
		t.Fatal(err)
	}
	if _, err := vnets.Get(ctx, "rg", "vnet", nil); codeOf(err) != "ResourceGroupNotFound" {
		t.Errorf("Get after the group is gone: %v", err)
	}
}

func TestNetworkErrors(t *testing.T) {
	vnet := func(subnets ...any) obj {
		return obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}, "subnets": subnets}}
	}
	subnet := func(name, prefix string) obj { return obj{"name": name, "properties": obj{"addressPrefix": prefix}} }
	cases := map[string]struct {
		reason string
		method string
		path   string
		body   any
		status int
		code   string
	}{
		"group": {"nothing can be read in an unknown group", "GET",
			"/subscriptions/" + sub + "/resourceGroups/none/providers/Microsoft.Network/virtualNetworks/v", nil, 404, "ResourceGroupNotFound"},
		"subscription": {"the subscription is not ours", "GET", "/subscriptions/11111111-0000-0000-0000-000000000000/resourceGroups/rg", nil, 404,
			"SubscriptionNotFound"},
		"never": {"a clean 404 for a resource that was never created", "GET", net + "/natGateways/n", nil, 404, "ResourceNotFound"},
		"child": {"a missing subnet of an existing network", "GET", net + "/virtualNetworks/vnet/subnets/none", nil, 404, "NotFound/"},
		"parent": {"a subnet of a missing network", "PUT", net + "/virtualNetworks/none/subnets/s", subnet("s", "10.0.0.0/24"), 404,
			"ParentResourceNotFound/"},
		"outside": {"the subnet must lie in the network", "PUT", net + "/virtualNetworks/vnet/subnets/s", subnet("s", "192.168.0.0/24"), 400,
			"NetcfgSubnetRangeOutsideVnet/"},
		"overlap": {"subnets must not overlap", "PUT", net + "/virtualNetworks/vnet/subnets/s", subnet("s", "10.0.0.0/25"), 400,
			"NetcfgSubnetRangesOverlap/"},
		"overlapIn": {"subnets of one PUT must not overlap", "PUT", net + "/virtualNetworks/v2", vnet(subnet("a", "10.0.0.0/24"), subnet("b", "10.0.0.0/24")),
			400, "NetcfgSubnetRangesOverlap/"},
		"dropUsed": {"a PUT without a used subnet would delete it", "PUT", net + "/virtualNetworks/vnet", vnet(subnet("node", "10.1.0.0/24")),
			400, "InUseSubnetCannotBeDeleted/"},
		"noLocation": {"tracked resources need a location", "PUT", net + "/networkSecurityGroups/n", obj{"properties": obj{}}, 400,
			"LocationRequired"},
		"moved": {"the location cannot change", "PUT", net + "/networkSecurityGroups/nsg", obj{"location": "eastus", "properties": obj{}},
			409, "InvalidResourceLocation"},
		"badLocation": {"the region must exist", "PUT", net + "/networkSecurityGroups/n", obj{"location": "nowhere"}, 400,
			"LocationNotAvailableForResourceType"},
		"badReference": {"a referenced group must exist", "PUT", net + "/virtualNetworks/vnet/subnets/s",
			obj{"properties": obj{"addressPrefix": "10.2.0.0/24", "networkSecurityGroup": newRef(net + "/networkSecurityGroups/x")}}, 400,
			"InvalidResourceReference/"},
		"natNoIP": {"a NAT gateway answers 404 for a missing address", "PUT", net + "/natGateways/n",
			obj{"location": "westus3", "properties": obj{"publicIpAddresses": newRefs(net + "/publicIPAddresses/x")}}, 404, "NotFound/"},
		"natZones": {"a NAT gateway is in one zone", "PUT", net + "/natGateways/n", obj{"location": "westus3", "zones": []any{"1", "2"}}, 400,
			"NatGatewayZonesNotSupported/"},
		"rulePriority": {"two rules of one direction cannot share a priority", "PUT", net + "/networkSecurityGroups/nsg/securityRules/other",
			allowRule("other", 100, "22"), 400, "SecurityRuleConflict/"},
		"nsgUsed": {"a group a subnet uses stays", "DELETE", net + "/networkSecurityGroups/nsg", nil, 400,
			"InUseNetworkSecurityGroupCannotBeDeleted/"},
		"tableUsed": {"a route table stays while a subnet uses it",
			"DELETE", net + "/routeTables/rt", nil, 400, "InUseRouteTableCannotBeDeleted/"},
		"subnetUsed": {"a subnet stays while an interface uses it", "DELETE", net + "/virtualNetworks/vnet/subnets/cp", nil, 400,
			"InUseSubnetCannotBeDeleted/"},
		"vnetUsed": {"a network stays while an interface uses a subnet of it",
			"DELETE", net + "/virtualNetworks/vnet", nil, 400, "InUseSubnetCannotBeDeleted/"},
		"ipUsed": {"an address a frontend uses stays", "DELETE", net + "/publicIPAddresses/pip", nil, 400,
			"PublicIPAddressCannotBeDeleted/"},
		"nicUsed":   {"an interface of a VM stays", "DELETE", net + "/networkInterfaces/nic0", nil, 400, "NicInUse/"},
		"labelUsed": {"DNS labels are unique in a region", "PUT", net + "/publicIPAddresses/p2", publicIP("api"), 400, "DnsRecordInUse/"},
		"ipTaken": {"an address has one user", "PUT", net + "/networkInterfaces/n",
			newNIC("cp", obj{"publicIPAddress": newRef(net + "/publicIPAddresses/pip")}), 400, "PublicIPAddressInUse/"},
		"reserved": {"the first addresses are Azure's", "PUT", net + "/networkInterfaces/n",
			newNIC("cp", obj{"privateIPAllocationMethod": "Static", "privateIPAddress": "10.0.0.3"}), 400, "PrivateIPAddressInReservedRange/"},
		"outsideIP": {"a static address must be in the subnet", "PUT", net + "/networkInterfaces/n",
			newNIC("cp", obj{"privateIPAllocationMethod": "Static", "privateIPAddress": "10.9.0.9"}), 400, "PrivateIPAddressNotInSubnet/"},
		"usedIP": {"a static address must be free", "PUT", net + "/networkInterfaces/n",
			newNIC("cp", obj{"privateIPAllocationMethod": "Static", "privateIPAddress": "10.0.0.4"}), 400, "PrivateIPAddressInUse/"},
		"skuChange": {"the sku cannot change", "PUT", net + "/publicIPAddresses/pip",
			obj{"location": "westus3", "sku": obj{"name": "Basic", "tier": "Regional"}, "properties": obj{"publicIPAllocationMethod": "Static"}},
			409, "PropertyChangeNotAllowed"},
		"unknownType": {"the error shows that the type is not served", "PUT", net + "/azureFirewalls/g", obj{"location": "westus3"}, 404,
			"InvalidResourceType"},
		"unknownSpace": {"so do namespaces", "GET", groupA + "/providers/Microsoft.Nothing/things/x", nil, 404, "InvalidResourceNamespace"},
		"noJSON":       {"a body has to be JSON", "PUT", net + "/networkSecurityGroups/n", "{", 400, "InvalidRequestContent"},
		"groupMoved":   {"a group cannot move", "PUT", groupA, obj{"location": "eastus"}, 409, "InvalidResourceGroupLocation"},
	}
	a := newAzure(t)
	a.createMachine()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := a.sendRequest(tc.method, tc.path, tc.body)
			code := tc.code
			if code[len(code)-1] == '/' {
				code = code[:len(code)-1]
			}
			if r.status != tc.status || r.errorCode() != code {
				t.Errorf("%s: got %d %s %q, want %d %s", tc.reason, r.status, r.errorCode(), r.errorMessage(), tc.status, code)
			}
			if tc.code != code {
				if _, ok := valueAt(r.body, "error.details").([]any); !ok {
					t.Error("the network provider always sends details")
				}
			}
			if r.header.Get("x-ms-failure-cause") == "gateway" != (tc.code == code && code != "PropertyChangeNotAllowed") {
				t.Errorf("x-ms-failure-cause is %q", r.header.Get("x-ms-failure-cause"))
			}
		})
	}
}

func TestNetworkBodies(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	lb := net + "/loadBalancers/lb"
	cases := map[string]struct {
		reason, path, at string
		want             any
	}{
		"noSubnets": {"empty arrays are returned, too", net + "/routeTables/rt", "properties.routes", []any{}},
		"lbNat":     {"empty arrays are returned, too", lb, "properties.inboundNatRules", []any{}},
		"defaults":  {"six default rules", net + "/networkSecurityGroups/nsg", "properties.defaultSecurityRules.5.name", "DenyAllOutBound"},
		"ruleArrays": {"plural forms default to empty", net + "/networkSecurityGroups/nsg/securityRules/api", "properties.sourceAddressPrefixes",
			[]any{}},
		"nsgSubnets": {"back reference", net + "/networkSecurityGroups/nsg", "properties.subnets.0.id",
			net + "/virtualNetworks/vnet/subnets/cp"},
		"subnetUsers": {"back reference", net + "/virtualNetworks/vnet/subnets/cp", "properties.ipConfigurations.0.id",
			net + "/networkInterfaces/nic0/ipConfigurations/pipConfig"},
		"pipUser": {"back reference", net + "/publicIPAddresses/pip", "properties.ipConfiguration.id", lb + "/frontendIPConfigurations/fe"},
		"pipName": {"name of the label", net + "/publicIPAddresses/pip", "properties.dnsSettings.fqdn", "api.westus3.cloudapp.azure.com"},
		"poolMembers": {"back reference", lb + "/backendAddressPools/pool", "properties.backendIPConfigurations.0.id",
			net + "/networkInterfaces/nic0/ipConfigurations/pipConfig"},
		"frontRules": {"a frontend lists its rules", lb, "properties.frontendIPConfigurations.0.properties.loadBalancingRules.0.id",
			lb + "/loadBalancingRules/api"},
		"nicVM":   {"back reference", net + "/networkInterfaces/nic0", "properties.virtualMachine.id", comp + "/virtualMachines/vm0"},
		"lbState": {"a load balancer is ready at once", lb, "properties.provisioningState", "Succeeded"},
		"case": {"IDs are compared without case",
			"/SUBSCRIPTIONS/" + sub + "/resourcegroups/RG/providers/microsoft.network/VIRTUALNETWORKS/VNET", "name", "vnet"},
		"delegations": {"defaults of a subnet", net + "/virtualNetworks/vnet/subnets/cp", "properties.privateLinkServiceNetworkPolicies",
			"Enabled"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, a.sendRequest("GET", tc.path, nil).valueAt(tc.at)); d != "" {
				t.Errorf("%s: %s", tc.reason, d)
			}
		})
	}
}

func TestLoadBalancerKeepsRulesAPutDoesNotMention(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	lb := net + "/loadBalancers/lb"
	rule := func(port int) obj {
		return obj{"properties": obj{"protocol": "Tcp", "frontendPort": port, "backendPort": 22,
			"frontendIPConfiguration": newRef(lb + "/frontendIPConfigurations/fe")}}
	}
	r := a.sendRequest("PUT", lb+"/inboundNatRules/cp-0", rule(22))
	if r.status != 201 || r.valueAt("properties.provisioningState") != "Succeeded" || r.header.Get("Azure-AsyncOperation") == "" {
		t.Errorf("NAT rule: %d %v, header %q", r.status, r.valueAt("properties.provisioningState"), r.header.Get("Azure-AsyncOperation"))
	}
	if r := a.sendRequest("PUT", lb+"/inboundNatRules/cp-1", rule(22)); r.status != 400 {
		t.Errorf("a second rule on the same port: %d", r.status)
	}
	a.mustSucceed("PUT", net+"/networkInterfaces/nic9", newNIC("cp",
		obj{"loadBalancerInboundNatRules": newRefs(lb + "/inboundNatRules/cp-0")}))
	etag, _ := a.sendRequest("GET", lb, nil).valueAt("etag").(string)
	if r := a.sendRequest("PUT", lb, apiLB(), "If-Match", `W/"stale"`); r.status != 412 ||
		r.errorCode() != "PreconditionFailed/PreconditionFailedEtagMismatch" {
		t.Errorf("a stale etag: %d %s", r.status, r.errorCode())
	}
	changed := apiLB()
	changed["tags"] = obj{"a": "b"}
	if r := a.sendRequest("PUT", lb, changed, "If-Match", etag); r.status != 200 {
		t.Fatalf("the current etag: %d %s", r.status, r.errorCode())
	}
	got := a.sendRequest("GET", lb, nil)
	if got.valueAt("properties.inboundNatRules.0.name") != "cp-0" ||
		got.valueAt("properties.inboundNatRules.0.properties.backendIPConfiguration.id") != net+"/networkInterfaces/nic9/ipConfigurations/pipConfig" {
		t.Errorf("NAT rules after a PUT without them: %v", got.valueAt("properties.inboundNatRules"))
	}
}

func TestPeeringConnectsOnceBothSidesExist(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/virtualNetworks/hub",
		obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"172.16.0.0/16"}}}})
	peer := func(to string) obj {
		return obj{"properties": obj{"remoteVirtualNetwork": newRef(net + "/virtualNetworks/" + to)}}
	}
	there, back := net+"/virtualNetworks/vnet/virtualNetworkPeerings/to-hub", net+"/virtualNetworks/hub/virtualNetworkPeerings/to-vnet"
	a.mustSucceed("PUT", there, peer("hub"))
	if s := a.sendRequest("GET", there, nil).valueAt("properties.peeringState"); s != "Initiated" {
		t.Errorf("one side: %v", s)
	}
	a.mustSucceed("PUT", back, peer("vnet"))
	if s := a.sendRequest("GET", there, nil).valueAt("properties.peeringState"); s != "Connected" {
		t.Errorf("both sides: %v", s)
	}
}

// TestPeeringIsDisconnectedWhenTheOtherSideGoes covers what Azure requires to connect two networks again: hashicorp/terraform-provider-azurerm#14051.
func TestPeeringIsDisconnectedWhenTheOtherSideGoes(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	hub := obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"172.16.0.0/16"}}}}
	a.mustSucceed("PUT", net+"/virtualNetworks/hub", hub)
	peer := func(to string) obj {
		return obj{"properties": obj{"remoteVirtualNetwork": newRef(net + "/virtualNetworks/" + to)}}
	}
	there, back := net+"/virtualNetworks/vnet/virtualNetworkPeerings/to-hub", net+"/virtualNetworks/hub/virtualNetworkPeerings/to-vnet"
	wantStates := func(when string, want ...any) {
		t.Helper()
		for i, path := range []string{there, back}[:len(want)] {
			if got := a.sendRequest("GET", path, nil).valueAt("properties.peeringState"); got != want[i] {
				t.Errorf("%s: %s is %v, want %v", when, path, got, want[i])
			}
		}
	}
	a.mustSucceed("PUT", there, peer("hub"))
	a.mustSucceed("PUT", back, peer("vnet"))
	wantStates("both exist", "Connected", "Connected")
	a.mustSucceed("PUT", there, peer("hub"))
	wantStates("one is put again", "Connected", "Connected")

	a.mustSucceed("DELETE", back, nil)
	wantStates("the other side is gone", "Disconnected")
	network := a.sendRequest("GET", net+"/virtualNetworks/vnet", nil)
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet", network.body)
	wantStates("a PUT of the network is none of the peering", "Disconnected")
	if r := a.sendRequest("PUT", back, peer("vnet")); r.status != 400 || r.errorCode() != "RemotePeeringIsDisconnected" {
		t.Errorf("the other side is created: %d %s", r.status, r.errorCode())
	}
	a.mustSucceed("PUT", there, peer("hub"))
	wantStates("it is updated", "Initiated")
	a.mustSucceed("PUT", back, peer("vnet"))
	wantStates("the other side is created again", "Connected", "Connected")

	a.mustSucceed("DELETE", net+"/virtualNetworks/hub", nil)
	wantStates("the other network is gone", "Disconnected")
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet", network.body)
	a.mustSucceed("PUT", net+"/virtualNetworks/hub", hub)
	wantStates("the other network is created again", "Disconnected")
	if r := a.sendRequest("PUT", back, peer("vnet")); r.errorCode() != "RemotePeeringIsDisconnected" {
		t.Errorf("the other side in a new network: %s", r.errorCode())
	}
}

func TestNatGatewayPrefixEndpointAndBastion(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPPrefixes/pre",
		obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"prefixLength": 30}})
	p := publicIP("out")
	p["properties"].(obj)["publicIPPrefix"] = newRef(net + "/publicIPPrefixes/pre")
	a.mustSucceed("PUT", net+"/publicIPAddresses/out", p)
	a.mustSucceed("PUT", net+"/natGateways/nat",
		obj{"location": "westus3", "sku": obj{"name": "Standard"},
			"properties": obj{"publicIpAddresses": newRefs(net + "/publicIPAddresses/out")}})
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/node",
		obj{"properties": obj{"addressPrefix": "10.1.0.0/24", "natGateway": newRef(net + "/natGateways/nat")}})
	if r := a.sendRequest("DELETE", net+"/natGateways/nat", nil); r.errorCode() != "CannotDeleteNatGatewayAssociatedToSubnet" {
		t.Errorf("NAT gateway in use: %s", r.errorCode())
	}
	if r := a.sendRequest("DELETE", net+"/publicIPPrefixes/pre", nil); r.errorCode() != "PublicIPPrefixCannotBeDeleted" {
		t.Errorf("prefix in use: %s", r.errorCode())
	}
	a.mustSucceed("PUT", net+"/privateEndpoints/pe",
		obj{"location": "westus3", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/node"),
			"privateLinkServiceConnections": []any{obj{"name": "c",
				"properties": obj{"privateLinkServiceId": groupA + "/providers/Microsoft.Storage/storageAccounts/s", "groupIds": []any{"blob"}}}}}})
	pe := a.sendRequest("GET", net+"/privateEndpoints/pe", nil)
	if pe.valueAt("properties.privateLinkServiceConnections.0.properties.privateLinkServiceConnectionState.status") != "Approved" ||
		pe.valueAt("properties.customDnsConfigs.0.ipAddresses.0") != "10.1.0.4" {
		t.Errorf("private endpoint: %v", pe.valueAt("properties"))
	}
	a.mustSucceed("PUT", net+"/privateEndpoints/asked",
		obj{"location": "westus3", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/node"),
			"manualPrivateLinkServiceConnections": []any{obj{"name": "c",
				"properties": obj{"privateLinkServiceId": groupA + "/providers/Microsoft.Network/privateLinkServices/s", "requestMessage": "please"}}}}})
	asked := a.sendRequest("GET", net+"/privateEndpoints/asked", nil)
	if state := asked.valueAt("properties.manualPrivateLinkServiceConnections.0.properties.privateLinkServiceConnectionState.status"); state != "Pending" ||
		asked.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("private endpoint that waits for approval: %v", asked.valueAt("properties"))
	}
	endpointNIC, _ := pe.valueAt("properties.networkInterfaces.0.id").(string)
	a.mustSucceed("DELETE", net+"/privateEndpoints/pe", nil)
	if r := a.sendRequest("GET", endpointNIC, nil); r.status != 404 {
		t.Errorf("the endpoint's interface outlives it: %d", r.status)
	}
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/AzureBastionSubnet", obj{"properties": obj{"addressPrefix": "10.2.0.0/27"}})
	a.mustSucceed("PUT", net+"/publicIPAddresses/bas", publicIP("bas"))
	host := func(subnet string) obj {
		return obj{"location": "westus3",
			"properties": obj{"ipConfigurations": []any{obj{"name": "c",
				"properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/" + subnet),
					"publicIPAddress": newRef(net + "/publicIPAddresses/bas")}}}}}
	}
	if r := a.sendRequest("PUT", net+"/bastionHosts/b", host("node")); r.status != 400 || r.errorCode() != "SubnetNameMustBeAzureBastionSubnet" {
		t.Errorf("a bastion in another subnet: %d %s", r.status, r.errorCode())
	}
	a.mustSucceed("PUT", net+"/bastionHosts/b", host("AzureBastionSubnet"))
	if r := a.sendRequest("GET", net+"/bastionHosts/b", nil); r.valueAt("properties.provisioningState") != "Succeeded" ||
		r.valueAt("properties.dnsName") == nil {
		t.Errorf("bastion: %v", r.body)
	}
	if old, r := a.sendRequest("GET", net+"/bastionHosts/b?api-version=2022-07-01", nil), a.sendRequest("GET", net+"/bastionHosts/b", nil); r.valueAt("properties.publicUri") != net+"/publicIPAddresses/bas" ||
		old.valueAt("properties.publicUri") != nil {
		t.Errorf("bastion: publicUri is %v, and %v in an old api-version", r.valueAt("properties.publicUri"), old.valueAt("properties.publicUri"))
	} else {
		a.mustSucceed("PUT", net+"/bastionHosts/b", r.body) // A client that writes back what it read sends it, too.
	}
}

func TestReferencesToWhatIsStillUpdatedHaveToWait(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	if r := a.sendRequest("PUT", net+"/virtualNetworks/vnet/subnets/late",
		obj{"properties": obj{"addressPrefix": "10.3.0.0/24"}}); r.status != 201 {
		t.Fatalf("subnet: %d %s", r.status, r.errorMessage())
	}
	r := a.sendRequest("PUT", net+"/networkInterfaces/n", newNIC("late", nil))
	if r.status != 429 || r.errorCode() != "RetryableError/ReferencedResourceNotProvisioned" || r.header.Get("Retry-After") != "" {
		t.Errorf("an interface in a subnet that is still created: %d %s %q", r.status, r.errorCode(), r.header.Get("Retry-After"))
	}
	a.sim.Settle()
	a.mustSucceed("PUT", net+"/networkInterfaces/n", newNIC("late", nil))
}

// A peering with a network that is being written is refused with 400, as recorded, and other references with 429.
func TestPeeringWithANetworkThatIsWritten(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/virtualNetworks/other", obj{"location": "westus3",
		"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"192.168.0.0/16"}}}})
	a.sendRequest("PUT", net+"/virtualNetworks/vnet/subnets/late", obj{"properties": obj{"addressPrefix": "10.3.0.0/24"}})
	peering := obj{"properties": obj{"remoteVirtualNetwork": newRef(net + "/virtualNetworks/vnet")}}
	r := a.sendRequest("PUT", net+"/virtualNetworks/other/virtualNetworkPeerings/p", peering)
	if r.status != 400 || r.errorCode() != "ReferencedResourceNotProvisioned" || !strings.Contains(r.errorMessage(), net+"/virtualNetworks/vnet used by") {
		t.Errorf("got %d %s %q", r.status, r.errorCode(), r.errorMessage())
	}
	a.sim.Settle()
	a.mustSucceed("PUT", net+"/virtualNetworks/other/virtualNetworkPeerings/p", peering)
}

// dropEtags removes the values that may differ between two reads of one state.
func dropEtags(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "etag")
		for _, e := range v {
			dropEtags(e)
		}
	case []any:
		for _, e := range v {
			dropEtags(e)
		}
	}
	return v
}

// A client that reads a resource and writes it back as it is must change nothing.
func TestWritingBackWhatWasReadChangesNothing(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", net+"/loadBalancers/lb/inboundNatRules/nat",
		obj{"properties": obj{"frontendPort": 22, "backendPort": 22,
			"frontendIPConfiguration": newRef(net + "/loadBalancers/lb/frontendIPConfigurations/fe")}})
	a.mustSucceed("PUT", net+"/publicIPAddresses/natip", publicIP("natip"))
	a.mustSucceed("PUT", net+"/natGateways/nat",
		obj{"location": "westus3", "properties": obj{"publicIpAddresses": newRefs(net + "/publicIPAddresses/natip")}})
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/node",
		obj{"properties": obj{"addressPrefix": "10.1.0.0/24", "natGateway": newRef(net + "/natGateways/nat"),
			"serviceEndpoints": []any{obj{"service": "Microsoft.Storage"}}}})
	a.mustSucceed("PUT", net+"/privateEndpoints/pe",
		obj{"location": "westus3", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/node"),
			"privateLinkServiceConnections": []any{obj{"name": "c",
				"properties": obj{"privateLinkServiceId": groupA + "/providers/Microsoft.Storage/storageAccounts/s"}}}}})
	a.mustSucceed("PUT", net+"/privateDnsZones/z.example", obj{"location": "global"})
	a.mustSucceed("PUT", net+"/privateDnsZones/z.example/A/a",
		obj{"properties": obj{"ttl": 60, "aRecords": []any{obj{"ipv4Address": "10.0.0.9"}}}})
	a.mustSucceed("PUT", groupA+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity", obj{"location": "westus3"})
	a.mustSucceed("PUT", comp+"/availabilitySets/as",
		obj{"location": "westus3", "sku": obj{"name": "Aligned"}, "properties": obj{"platformFaultDomainCount": 2}})
	before := a.sim.State()
	for _, r := range before {
		id, _ := r["id"].(string)
		res := a.sendRequest("PUT", id, a.sendRequest("GET", id, nil).body)
		if network := strings.HasSuffix(id, "/virtualNetworks/vnet"); res.status != 200 && res.status != 202 && (res.status != 201 || !network) {
			t.Errorf("PUT %s = %d %s %s", id, res.status, res.errorCode(), res.errorMessage())
		}
		// Disks and zones begin an operation all the same, which changes nothing.
		if s := res.valueAt("properties.provisioningState"); s != nil && s != "Succeeded" && res.status != 202 {
			t.Errorf("PUT %s started an update", id)
		}
		a.sim.Settle()
	}
	after := a.sim.State()
	for i := range before {
		if d := cmp.Diff(dropEtags(before[i]), dropEtags(after[i])); d != "" {
			t.Errorf("%v changed: %s", before[i]["id"], d)
		}
	}
}

// TestGatewaysOfPeerings: hashicorp/terraform#30569.
func TestGatewaysOfPeerings(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	uses := func(hub string) response {
		return a.sendRequest("PUT", net+"/virtualNetworks/vnet/virtualNetworkPeerings/to-"+hub,
			obj{"properties": obj{"remoteVirtualNetwork": newRef(net + "/virtualNetworks/" + hub), "useRemoteGateways": true}})
	}
	for hub, space := range map[string]string{"hub": "172.16.", "other": "172.17."} {
		a.mustSucceed("PUT", net+"/virtualNetworks/"+hub,
			obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{space + "0.0/16"}}}})
		if r := uses(hub); r.status != 400 || r.errorCode() != "RemoteVnetHasNoGateways" {
			t.Errorf("%s has no gateway: %d %s", hub, r.status, r.errorCode())
		}
		a.mustSucceed("PUT", net+"/virtualNetworks/"+hub+"/subnets/GatewaySubnet", obj{"properties": obj{"addressPrefix": space + "0.0/24"}})
	}
	if r := uses("hub"); r.status > 299 {
		t.Errorf("the hub has a gateway: %d %s", r.status, r.errorCode())
	}
	a.sim.Settle()
	if r := uses("other"); r.status != 400 {
		t.Errorf("a second gateway: %d %s", r.status, r.errorCode())
	}
}

// TestFixedAddressesOfEndpoints: Azure/bicep#7119.
func TestFixedAddressesOfEndpoints(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	for name, tc := range map[string]struct {
		group, configured, member string
		refused                   bool
	}{
		"named": {"blob", "blob", "blob", false}, "neither": {"blob", "", "", true}, "no member": {"blob", "blob", "", true},
		"vault": {"vault", "vault", "default", false}, "vault by its group": {"vault", "vault", "vault", true},
		"registry": {"registry", "registry", "registry", true},
	} {
		endpoint := net + "/privateEndpoints/pe"
		r := a.sendRequest("PUT", endpoint, obj{"location": "westus3", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/node"),
			"ipConfigurations": []any{obj{"name": "ip", "properties": obj{"groupId": tc.configured, "memberName": tc.member, "privateIPAddress": "10.1.0.77"}}},
			"privateLinkServiceConnections": []any{obj{"name": "c",
				"properties": obj{"privateLinkServiceId": groupA + "/providers/Microsoft.Any/services/s", "groupIds": []any{tc.group}}}}}})
		if refused := r.errorCode() == "PrivateEndpointIpConfigurationMissingMemberNamesRequiredByFps"; refused != tc.refused || r.status > 299 != tc.refused {
			t.Errorf("%s: %d %s %s", name, r.status, r.errorCode(), r.errorMessage())
		}
		if tc.refused {
			continue
		}
		a.sim.Settle()
		if got := a.sendRequest("GET", endpoint, nil).valueAt("properties.customDnsConfigs.0.ipAddresses.0"); got != "10.1.0.77" {
			t.Errorf("%s: the address is %v", name, got)
		}
		a.mustSucceed("DELETE", endpoint, nil)
	}
}
