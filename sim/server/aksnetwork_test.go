package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// inGroup lists the resources of the node resource group as type and name, with digits and GUIDs replaced by "#".
func (a *azure) inGroup() []string {
	a.t.Helper()
	out := []string{}
	for _, r := range a.sim.State() {
		id, _ := r["id"].(string)
		_, rest, ok := strings.Cut(strings.ToLower(id), "/resourcegroups/mc_rg_c1_westus3/providers/")
		if !ok || strings.Count(rest, "/") > 2 {
			continue
		}
		parts := strings.Split(rest, "/")
		name := []rune(parts[2])
		text := ""
		for i := range name {
			if name[i] >= '0' && name[i] <= '9' && len(name) > 12 {
				if !strings.HasSuffix(text, "#") {
					text += "#"
				}
				continue
			}
			text += string(name[i])
		}
		if strings.Count(text, "-") >= 4 && parts[1] == "publicipaddresses" {
			text = "#"
		}
		if i := strings.Index(text, ".privatelink"); i >= 0 {
			text = "#" + text[i:]
		}
		if i := strings.Index(text, ".nic."); i >= 0 {
			text = text[:i] + ".nic.#"
		}
		if parts[1] == "disks" {
			continue
		}
		out = append(out, parts[1]+"/"+text)
	}
	slices.Sort(out)
	return out
}

func TestManagedClusterMakesItsNodeResourceGroup(t *testing.T) {
	common := []string{"networksecuritygroups/aks-agentpool-#-nsg", "userassignedidentities/c1-agentpool", "virtualmachinescalesets/aks-pool#-#-vmss"}
	vnet := "virtualnetworks/aks-vnet-#"
	cases := map[string]struct {
		reason string
		change func(p obj)
		want   []string
	}{
		"load balancer": {"one outbound address by default", nil, []string{"loadbalancers/kubernetes", "publicipaddresses/#", vnet}},
		"three addresses and add-ons": {"as many as asked for, and an identity per add-on", func(p obj) {
			p["networkProfile"] = obj{"loadBalancerProfile": obj{"managedOutboundIPs": obj{"count": 3}}}
			p["addonProfiles"] = obj{"azurepolicy": obj{"enabled": true}, "omsagent": obj{"enabled": false}}
		}, []string{"loadbalancers/kubernetes", "publicipaddresses/#", "publicipaddresses/#", "publicipaddresses/#", vnet, "userassignedidentities/azurepolicy-c#"}},
		"NAT gateway": {"a NAT gateway instead of a load balancer", func(p obj) {
			p["networkProfile"] = obj{"outboundType": "managedNATGateway"}
		}, []string{"natgateways/aks-natgateway-#", "publicipaddresses/#", vnet}},
		"own subnet, kubenet": {"a route table, no network", func(p obj) {
			p["networkProfile"] = obj{"networkPlugin": "kubenet", "serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/cp"})}
		}, []string{"loadbalancers/kubernetes", "publicipaddresses/#", "routetables/aks-agentpool-#-routetable"}},
		"no way out": {"user-defined routing needs nothing of AKS", func(p obj) {
			p["networkProfile"] = obj{"outboundType": "userDefinedRouting", "serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/node"})}
		}, nil},
		"private": {"an endpoint, its interface, and a zone", func(p obj) {
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true}
		}, []string{"loadbalancers/kubernetes", "networkinterfaces/kube-apiserver.nic.#", "privatednszones/#.privatelink.westus#.azmk#s.io", "privateendpoints/kube-apiserver", "publicipaddresses/#", vnet}},
		"private without a zone": {"no zone with privateDNSZone none", func(p obj) {
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "privateDNSZone": "none"}
		}, []string{"loadbalancers/kubernetes", "networkinterfaces/kube-apiserver.nic.#", "privateendpoints/kube-apiserver", "publicipaddresses/#", vnet}},
		"API server in the network": {"an internal load balancer in the subnet, no endpoint", func(p obj) {
			p["networkProfile"] = obj{"serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/cp"})}
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "enableVnetIntegration": true, "subnetId": net + "/virtualNetworks/vnet/subnets/cp"}
		}, []string{"loadbalancers/kube-apiserver", "loadbalancers/kubernetes", "privatednszones/#.privatelink.westus#.azmk#s.io", "publicipaddresses/#"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.base()
			a.must("PUT", net+"/routeTables/rt", obj{"location": "westus3", "properties": obj{"routes": []any{obj{"name": "default", "properties": obj{"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.0.0.5"}}}}})
			before := len(a.sim.State())
			a.aks(tc.change)
			want := append(slices.Clone(common), tc.want...)
			slices.Sort(want)
			if diff := cmp.Diff(want, a.inGroup()); diff != "" {
				t.Errorf("%s: node resource group (-want +got):\n%s", tc.reason, diff)
			}
			if g := a.do("GET", mcRG, nil); g.at("managedBy") != strings.Replace(aks, "/resourcegroups/", "/resourceGroups/", 1) {
				t.Errorf("managedBy = %v", g.at("managedBy"))
			}
			a.must("DELETE", aks+aksV, nil)
			if left := len(a.sim.State()); left != before {
				t.Errorf("%d resources are left after the deletion, %d were there before", left, before)
			}
			if rt := a.do("GET", net+"/virtualNetworks/vnet/subnets/cp", nil).at("properties.routeTable"); rt != nil {
				t.Errorf("the subnet still refers to AKS's route table: %v", rt)
			}
		})
	}
}

func TestManagedClusterShowsItsWaysInAndOut(t *testing.T) {
	a := newAzure(t)
	a.base()
	a.must("PUT", net+"/publicIPAddresses/mine", publicIP("mine"))
	a.aks(func(p obj) {
		p["networkProfile"] = obj{"loadBalancerProfile": obj{"outboundIPs": obj{"publicIPs": refs(net + "/publicIPAddresses/mine")}, "allocatedOutboundPorts": 8}}
		p["oidcIssuerProfile"] = obj{"enabled": true}
	})
	r := a.do("GET", aks+aksV, nil)
	if ip := r.at("properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs.0.id"); ip != net+"/publicIPAddresses/mine" {
		t.Errorf("effectiveOutboundIPs = %v", ip)
	}
	if u, _ := r.at("properties.oidcIssuerProfile.issuerURL").(string); !strings.HasPrefix(u, "https://westus3.oic.prod-aks.azure.com/"+server.DefaultTenant+"/") {
		t.Errorf("issuerURL = %s", u)
	}
	if id, _ := r.at("properties.identityProfile.kubeletidentity.clientId").(string); len(id) != 36 {
		t.Errorf("kubelet identity = %v", r.at("properties.identityProfile"))
	}
	lb := a.do("GET", mcRG+"/providers/Microsoft.Network/loadBalancers/kubernetes", nil)
	if lb.at("properties.outboundRules.0.properties.allocatedOutboundPorts") != 8.0 {
		t.Errorf("outbound rule = %v", lb.at("properties.outboundRules.0"))
	}
	nics := a.do("GET", mcRG+"/providers/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/aksOutboundBackendPool", nil)
	if list, _ := nics.at("properties.backendIPConfigurations").([]any); len(list) != 2 {
		t.Errorf("%d members of the outbound pool, want both nodes", len(list))
	}
	a.must("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"networkProfile": obj{"loadBalancerProfile": obj{"managedOutboundIPs": obj{"count": 2}}}}})
	if list, _ := a.do("GET", aks+aksV, nil).at("properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs").([]any); len(list) != 2 {
		t.Errorf("effectiveOutboundIPs after a change = %v", list)
	}
	a.must("DELETE", net+"/publicIPAddresses/mine", nil)
}

func TestPrivateClusterIsReachedByItsOwnZone(t *testing.T) {
	a := newAzure(t)
	a.base()
	zone := groupA + "/providers/Microsoft.Network/privateDnsZones/privatelink.westus3.azmk8s.io"
	identity := groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
	a.must("PUT", zone, obj{"location": "global"})
	id := a.must("PUT", identity, obj{"location": "westus3"})
	doc := aksCluster(func(p obj) {
		p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "privateDNSZone": zone, "enablePrivateClusterPublicFQDN": false}
		p["networkProfile"] = obj{"serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/cp"})}
	})
	if r := a.do("PUT", aks+aksV, doc); r.aksCode() != "BadRequest" || !strings.Contains(r.body["message"].(string), "user assigned identity") {
		t.Fatalf("a zone of one's own with a system-assigned identity = %d %v", r.status, r.body)
	}
	doc["identity"] = obj{"type": "UserAssigned", "userAssignedIdentities": obj{identity: obj{}}}
	if r := a.do("PUT", aks+aksV, doc); r.aksCode() != "CustomPrivateDNSZoneMissingPermissionError" {
		t.Fatalf("without a role on the zone = %d %v", r.status, r.body)
	}
	role := "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/b12aa53e-6015-4669-85d0-8515ebb3ae7f"
	a.must("PUT", zone+"/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-00000000000a", obj{"properties": obj{"roleDefinitionId": role, "principalId": id.at("properties.principalId"), "principalType": "ServicePrincipal"}})
	a.must("PUT", aks+aksV, doc)
	r := a.do("GET", aks+aksV, nil)
	private, _ := r.at("properties.privateFQDN").(string)
	if r.at("properties.provisioningState") != "Succeeded" || r.at("properties.fqdn") != nil || !strings.HasSuffix(private, ".privatelink.westus3.azmk8s.io") {
		t.Fatalf("cluster = %v", r.body)
	}
	record, _, _ := strings.Cut(private, ".")
	if ip := a.do("GET", zone+"/A/"+record, nil).at("properties.aRecords.0.ipv4Address"); ip == nil {
		t.Error("the zone has no record for the API server")
	}
	if l := a.do("GET", zone+"/virtualNetworkLinks/"+record, nil); l.status != 200 {
		t.Errorf("the zone is not linked: %d", l.status)
	}
	var route server.Route
	if a.control("GET", "/_sim/dial?host="+private+"&port=443", nil, &route); route.Step != "listener" {
		t.Errorf("dial = %+v", route)
	}
	a.must("DELETE", aks+aksV, nil)
	for _, left := range []string{zone + "/A/" + record, zone + "/virtualNetworkLinks/" + record} {
		if r := a.do("GET", left, nil); r.status != 404 {
			t.Errorf("%s is left after the deletion", left)
		}
	}
	a.must("DELETE", zone, nil)
}

func TestManagedClusterChangesItsWayOut(t *testing.T) {
	a := newAzure(t)
	a.base()
	subnet := net + "/virtualNetworks/vnet/subnets/cp"
	a.aks(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "azure", "networkPluginMode": "overlay", "serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": subnet})}
	})
	start := a.inGroup()
	for _, step := range []struct {
		outbound, gateway string
		gone              string
	}{{"managedNATGateway", mcRG, "loadbalancers/kubernetes"}, {"loadBalancer", "", "natgateways/aks-natgateway-#"}, {"managedNATGateway", mcRG, "loadbalancers/kubernetes"}, {"loadBalancer", "", "natgateways/aks-natgateway-#"}} {
		a.must("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"networkProfile": obj{"outboundType": step.outbound}}})
		if s := a.do("GET", aks+aksV, nil).at("properties.provisioningState"); s != "Succeeded" {
			t.Errorf("%s: %v", step.outbound, s)
		}
		if slices.Contains(a.inGroup(), step.gone) {
			t.Errorf("%s: %s is left", step.outbound, step.gone)
		}
		gateway, _ := a.do("GET", subnet, nil).at("properties.natGateway.id").(string)
		if !strings.HasPrefix(gateway, step.gateway) || step.gateway == "" && gateway != "" {
			t.Errorf("%s: NAT gateway of the subnet = %q", step.outbound, gateway)
		}
	}
	if diff := cmp.Diff(start, a.inGroup()); diff != "" {
		t.Errorf("there and back (-before +after):\n%s", diff)
	}
	aksRefused(t, "pod range", a.do("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"networkProfile": obj{"podCidr": "10.200.0.0/16"}}}), 400, "PropertyChangeNotAllowed", "podCidr")
}
