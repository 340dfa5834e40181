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
	common := []string{"networksecuritygroups/aks-agentpool-#-nsg", "userassignedidentities/c1-agentpool",
		"virtualmachinescalesets/aks-pool#-#-vmss"}
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
		}, []string{"loadbalancers/kubernetes", "publicipaddresses/#", "publicipaddresses/#", "publicipaddresses/#", vnet,
			"userassignedidentities/azurepolicy-c#"}},
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
		}, []string{"loadbalancers/kubernetes", "networkinterfaces/kube-apiserver.nic.#", "privatednszones/#.privatelink.westus#.azmk#s.io",
			"privateendpoints/kube-apiserver", "publicipaddresses/#", vnet}},
		"private without a zone": {"no zone with privateDNSZone none", func(p obj) {
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "privateDNSZone": "none"}
		}, []string{"loadbalancers/kubernetes", "networkinterfaces/kube-apiserver.nic.#", "privateendpoints/kube-apiserver",
			"publicipaddresses/#", vnet}},
		"API server in the network": {"an internal load balancer in the subnet, no endpoint", func(p obj) {
			p["networkProfile"] = obj{"serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/cp"})}
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "enableVnetIntegration": true,
				"subnetId": net + "/virtualNetworks/vnet/subnets/cp"}
		}, []string{"loadbalancers/kube-apiserver", "loadbalancers/kubernetes", "privatednszones/#.privatelink.westus#.azmk#s.io",
			"publicipaddresses/#"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.createBase()
			a.mustSucceed("PUT", net+"/routeTables/rt",
				obj{"location": "westus3",
					"properties": obj{"routes": []any{obj{"name": "default",
						"properties": obj{"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.0.0.5"}}}}})
			before := len(a.sim.State())
			a.createAKS(tc.change)
			want := append(slices.Clone(common), tc.want...)
			slices.Sort(want)
			if diff := cmp.Diff(want, a.inGroup()); diff != "" {
				t.Errorf("%s: node resource group (-want +got):\n%s", tc.reason, diff)
			}
			if g := a.sendRequest("GET", mcRG, nil); g.valueAt("managedBy") != strings.Replace(aks, "/resourcegroups/", "/resourceGroups/", 1) {
				t.Errorf("managedBy = %v", g.valueAt("managedBy"))
			}
			a.mustSucceed("DELETE", aks+aksV, nil)
			if left := len(a.sim.State()); left != before {
				t.Errorf("%d resources are left after the deletion, %d existed before", left, before)
			}
			if rt := a.sendRequest("GET", net+"/virtualNetworks/vnet/subnets/cp", nil).valueAt("properties.routeTable"); rt != nil {
				t.Errorf("the subnet still refers to AKS's route table: %v", rt)
			}
		})
	}
}

func TestManagedClusterShowsItsWaysInAndOut(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPAddresses/mine", publicIP("mine"))
	a.createAKS(func(p obj) {
		p["networkProfile"] = obj{"loadBalancerProfile": obj{"outboundIPs": obj{"publicIPs": newRefs(net + "/publicIPAddresses/mine")},
			"allocatedOutboundPorts": 8}}
		p["oidcIssuerProfile"] = obj{"enabled": true}
	})
	r := a.sendRequest("GET", aks+aksV, nil)
	if ip := r.valueAt("properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs.0.id"); ip != net+"/publicIPAddresses/mine" {
		t.Errorf("effectiveOutboundIPs = %v", ip)
	}
	if u, _ := r.valueAt("properties.oidcIssuerProfile.issuerURL").(string); !strings.HasPrefix(u,
		"https://westus3.oic.prod-aks.azure.com/"+server.DefaultTenant+"/") {
		t.Errorf("issuerURL = %s", u)
	}
	if id, _ := r.valueAt("properties.identityProfile.kubeletidentity.clientId").(string); len(id) != 36 {
		t.Errorf("kubelet identity = %v", r.valueAt("properties.identityProfile"))
	}
	lb := a.sendRequest("GET", mcRG+"/providers/Microsoft.Network/loadBalancers/kubernetes", nil)
	if lb.valueAt("properties.outboundRules.0.properties.allocatedOutboundPorts") != 8.0 {
		t.Errorf("outbound rule = %v", lb.valueAt("properties.outboundRules.0"))
	}
	nics := a.sendRequest("GET", mcRG+"/providers/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/aksOutboundBackendPool", nil)
	if list, _ := nics.valueAt("properties.backendIPConfigurations").([]any); len(list) != 2 {
		t.Errorf("%d members of the outbound pool, want both nodes", len(list))
	}
	a.mustSucceed("PUT", aks+aksV,
		obj{"location": "westus3", "properties": obj{"networkProfile": obj{"loadBalancerProfile": obj{"managedOutboundIPs": obj{"count": 2}}}}})
	if list, _ := a.sendRequest("GET", aks+aksV,
		nil).valueAt("properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs").([]any); len(list) != 2 {
		t.Errorf("effectiveOutboundIPs after a change = %v", list)
	}
	a.mustSucceed("DELETE", net+"/publicIPAddresses/mine", nil)
}

func TestPrivateClusterIsReachedByItsOwnZone(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	zone := groupA + "/providers/Microsoft.Network/privateDnsZones/privatelink.westus3.azmk8s.io"
	identity := groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
	a.mustSucceed("PUT", zone, obj{"location": "global"})
	id := a.mustSucceed("PUT", identity, obj{"location": "westus3"})
	doc := aksCluster(func(p obj) {
		p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "privateDNSZone": zone, "enablePrivateClusterPublicFQDN": false}
		p["networkProfile"] = obj{"serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/cp"})}
	})
	if r := a.sendRequest("PUT", aks+aksV, doc); r.aksCode() != "BadRequest" ||
		!strings.Contains(r.body["message"].(string), "user assigned identity") {
		t.Fatalf("a zone of one's own with a system-assigned identity = %d %v", r.status, r.body)
	}
	doc["identity"] = obj{"type": "UserAssigned", "userAssignedIdentities": obj{identity: obj{}}}
	if r := a.sendRequest("PUT", aks+aksV, doc); r.aksCode() != "CustomPrivateDNSZoneMissingPermissionError" {
		t.Fatalf("without a role on the zone = %d %v", r.status, r.body)
	}
	role := "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/b12aa53e-6015-4669-85d0-8515ebb3ae7f"
	a.mustSucceed("PUT", zone+"/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-00000000000a",
		obj{"properties": obj{"roleDefinitionId": role, "principalId": id.valueAt("properties.principalId"),
			"principalType": "ServicePrincipal"}})
	a.mustSucceed("PUT", aks+aksV, doc)
	r := a.sendRequest("GET", aks+aksV, nil)
	private, _ := r.valueAt("properties.privateFQDN").(string)
	if r.valueAt("properties.provisioningState") != "Succeeded" || r.valueAt("properties.fqdn") != nil ||
		!strings.HasSuffix(private, ".privatelink.westus3.azmk8s.io") {
		t.Fatalf("cluster = %v", r.body)
	}
	record, _, _ := strings.Cut(private, ".")
	if ip := a.sendRequest("GET", zone+"/A/"+record, nil).valueAt("properties.aRecords.0.ipv4Address"); ip == nil {
		t.Error("the zone has no record for the API server")
	}
	if l := a.sendRequest("GET", zone+"/virtualNetworkLinks/"+record, nil); l.status != 200 {
		t.Errorf("the zone is not linked: %d", l.status)
	}
	var route server.Route
	if a.callControl("GET", "/_sim/dial?host="+private+"&port=443", nil, &route); route.Step != "listener" {
		t.Errorf("dial = %+v", route)
	}
	a.mustSucceed("DELETE", aks+aksV, nil)
	for _, left := range []string{zone + "/A/" + record, zone + "/virtualNetworkLinks/" + record} {
		if r := a.sendRequest("GET", left, nil); r.status != 404 {
			t.Errorf("%s is left after the deletion", left)
		}
	}
	a.mustSucceed("DELETE", zone, nil)
}

func TestManagedClusterChangesItsWayOut(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	subnet := net + "/virtualNetworks/vnet/subnets/cp"
	a.createAKS(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "azure", "networkPluginMode": "overlay", "serviceCidr": "192.168.0.0/16",
			"dnsServiceIP": "192.168.0.10"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": subnet})}
	})
	start := a.inGroup()
	for _, step := range []struct {
		outbound, gateway string
		gone              string
	}{{"managedNATGateway", mcRG, "loadbalancers/kubernetes"}, {"loadBalancer", "", "natgateways/aks-natgateway-#"},
		{"managedNATGateway", mcRG, "loadbalancers/kubernetes"}, {"loadBalancer", "", "natgateways/aks-natgateway-#"}} {
		a.mustSucceed("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"networkProfile": obj{"outboundType": step.outbound}}})
		if s := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.provisioningState"); s != "Succeeded" {
			t.Errorf("%s: %v", step.outbound, s)
		}
		if slices.Contains(a.inGroup(), step.gone) {
			t.Errorf("%s: %s is left", step.outbound, step.gone)
		}
		gateway, _ := a.sendRequest("GET", subnet, nil).valueAt("properties.natGateway.id").(string)
		if !strings.HasPrefix(gateway, step.gateway) || step.gateway == "" && gateway != "" {
			t.Errorf("%s: NAT gateway of the subnet = %q", step.outbound, gateway)
		}
	}
	if diff := cmp.Diff(start, a.inGroup()); diff != "" {
		t.Errorf("there and back (-before +after):\n%s", diff)
	}
	aksRefused(t, "pod range",
		a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"networkProfile": obj{"podCidr": "10.200.0.0/16"}}}), 400,
		"PropertyChangeNotAllowed", "podCidr")
}
