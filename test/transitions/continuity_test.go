package transitions_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestListsNeverLackWhatBothStatesHave replaces, empties and refills each kind of list in a spec. After every single change of Azure's
// state, the resources still have all properties that the states before and after the change of the spec have in common: replacing
// one security rule must not close the port of another.
func TestListsNeverLackWhatBothStatesHave(t *testing.T) {
	for name, row := range listChanges() {
		for speed, newWorld := range map[string]func(*testing.T) *virtual.Scenario{"as fast as Azure": virtual.New,
			"at once": virtual.NewAtOnce} {
			t.Run(name+"/"+speed, func(t *testing.T) {
				t.Parallel()
				made := map[string]map[string]any{}
				for _, each := range row.life.objects {
					if !each.late {
						made[each.name] = each.base
					}
				}
				made[row.object] = row.editList(made[row.object], row.lists[0])
				var then []apply
				for _, list := range row.lists[1:] {
					then = append(then, apply{Object: row.object, Spec: row.editList(made[row.object], list)})
				}
				end := row.life.liveIn(t, newWorld, made, then)
				if problems := slices.Concat(end.wrong, end.refused, slices.Collect(maps.Values(end.messages))); len(problems) > 0 {
					t.Fatalf("%s: a change was not carried out:\n%s", row.reason, strings.Join(problems, "\n"))
				}
				if len(end.gaps) > 0 {
					t.Errorf("%s:\n%s", row.reason, strings.Join(end.gaps, "\n"))
				}
				t.Logf("%d states of Azure, %d gaps", end.states, len(end.gaps))
				fresh := row.life.liveIn(t, newWorld, end.manifests, nil)
				if differences := row.life.listDifferences(fresh, end); len(differences) > 0 {
					t.Errorf("Azure differs from a cluster that was created from the last list:\n%s", strings.Join(differences, "\n"))
				}
			})
		}
	}
}

// listChange is a list in the spec of an object, and the values that it takes one after the other.
type listChange struct {
	reason string
	life   *life
	object string
	// path leads to the list; an element of a list on the way is named by its index.
	path  []any
	lists [][]any
}

// editList returns a copy of a spec with another list.
func (c listChange) editList(spec map[string]any, list []any) map[string]any {
	out := cloneSpec(spec)
	var at any = out
	for i, step := range c.path {
		last := i == len(c.path)-1
		switch step := step.(type) {
		case int:
			at = at.([]any)[step]
		case string:
			object := at.(map[string]any)
			switch {
			case last && len(list) == 0:
				delete(object, step)
			case last:
				object[step] = list
			case object[step] == nil:
				object[step] = map[string]any{}
			}
			at = object[step]
		}
	}
	return out
}

func listChanges() map[string]listChange {
	rule := func(name string, priority int64, port string) any {
		return map[string]any{"name": name, "description": name, "priority": priority, "protocol": "Tcp", "direction": "Inbound",
			"action": "Allow",
			"source": "*", "sourcePorts": "*", "destination": "*", "destinationPorts": port}
	}
	ssh, api := rule("ssh", 2200, "22"), rule("api", 2201, "6443")
	port := func(name string, number int64) any { return map[string]any{"name": name, "port": number} }
	endpoint := func(service string) any {
		return map[string]any{"service": service, "locations": []any{"*"}}
	}
	subnet := func(name, role, prefix string, more map[string]any) any {
		out := map[string]any{"name": name, "role": role, "cidrBlocks": []any{prefix}}
		maps.Copy(out, more)
		return out
	}
	controlPlane, nodes := subnet("control-plane", "control-plane", "10.0.0.0/16", nil), subnet("nodes", "node", "10.1.0.0/16", nil)
	taint := func(key string) any { return map[string]any{"key": key, "value": "a", "effect": "NoSchedule"} }
	return map[string]listChange{
		"security rules": {"a new rule takes the priority of a removed one, priorities are exchanged, and all rules of the user are removed",
			&network, "c1",
			[]any{"networkSpec", "subnets", 0, "securityGroup", "securityRules"}, [][]any{
				{ssh, api, rule("web", 2300, "443")}, {ssh, api, rule("other", 2300, "8443")}, {ssh, api, rule("third", 2301, "9443")},
				{ssh, api, rule("other", 2301, "8443"), rule("third", 2300, "9443")}, {ssh, api}, {},
			}},
		"security rules beside the default ones": {"the API server stays reachable through the default rule", &network, "c1",
			[]any{"networkSpec", "subnets", 0, "securityGroup", "securityRules"}, [][]any{
				{rule("web", 2300, "443")}, {rule("other", 2300, "8443")}, {}, {rule("web", 2300, "443"), rule("other", 2301, "8443")},
			}},
		"security rules instead of the default ones": {
			"rules of the user take over ports and priorities of the default ones, which are dropped for them", &network, "c1",
			[]any{"networkSpec", "subnets", 0, "securityGroup", "securityRules"}, [][]any{
				{rule("web", 2300, "443")}, {rule("own_ssh", 2200, "22"), rule("own_api", 2201, "6443")},
				{rule("other_ssh", 2201, "22"), rule("other_api", 2200, "6443")}, {},
			}},
		"ports of the API server's load balancer": {"a port keeps its rule while another one comes, goes, or is renamed", &network, "c1",
			[]any{"networkSpec", "additionalAPIServerLBPorts"}, [][]any{
				{port("one", 9345), port("two", 9346)}, {port("one", 9345), port("renamed", 9346)}, {port("one", 9346)}, {}, {port("two", 9345)},
			}},
		"service endpoints": {"an endpoint stays while another one comes and goes", &network, "c1",
			[]any{"networkSpec", "subnets", 1, "serviceEndpoints"}, [][]any{
				{endpoint("Microsoft.Storage"), endpoint("Microsoft.Sql")}, {endpoint("Microsoft.Storage")},
				{endpoint("Microsoft.Storage"), endpoint("Microsoft.KeyVault")}, {},
			}},
		"subnets": {"a subnet keeps its group, table and gateway while another one comes and goes", &network, "c1",
			[]any{"networkSpec", "subnets"}, [][]any{
				{controlPlane, nodes, subnet("more", "node", "10.2.0.0/16", map[string]any{"natGateway": map[string]any{"name": "out"}})},
				{controlPlane, nodes, subnet("other", "node", "10.2.0.0/16", map[string]any{"routeTable": map[string]any{"name": "routes"}})},
				{controlPlane, nodes},
			}},
		"ranges of the network": {"a range stays while another one comes and goes", &network, "c1",
			[]any{"networkSpec", "vnet", "cidrBlocks"}, [][]any{
				{"10.0.0.0/8", "172.16.0.0/16"}, {"10.0.0.0/8"}, {"10.0.0.0/8", "172.17.0.0/16"},
			}},
		"peerings": {"a peering stays while another one comes and goes", &peered, "c1",
			[]any{"networkSpec", "vnet", "peerings"}, [][]any{
				{peeringManifest("hub-1"), peeringManifest("hub-2")}, {peeringManifest("hub-1"), peeringManifest("hub-3")}, {},
				{peeringManifest("hub-3")},
			}},
		"taints of an AKS pool": {"a taint stays while another one comes and goes", &managed, "aks1-pool1",
			[]any{"taints"}, [][]any{{taint("a"), taint("b")}, {taint("a"), taint("c")}, {}, {taint("c")}}},
		"IP ranges of an AKS API server": {"a range stays allowed while another one comes and goes", &managed, "aks1",
			[]any{"apiServerAccessProfile", "authorizedIPRanges"},
			[][]any{{"192.0.2.0/24", "198.51.100.7/32"}, {"192.0.2.0/24"}, {"192.0.2.0/24", "203.0.113.0/24"}}},
		"taints of a pool's resource manifest": {"a taint stays while another one comes and goes", &documents, "docs-pool1",
			[]any{"resources"}, poolLists("nodeTaints", []any{"a=b:NoSchedule", "c=d:NoSchedule"}, []any{"a=b:NoSchedule", "e=f:NoSchedule"},
				[]any{}, []any{"e=f:NoSchedule"})},
		"labels of a pool's resource manifest": {"a label stays while another one comes and goes", &documents, "docs-pool1",
			[]any{"resources"}, poolLists("nodeLabels", body{"a": "x", "b": "y"}, body{"a": "x", "c": "z"}, body{}, body{"c": "z"})},
		"rules of a load balancer's resource manifest": {"a rule stays while another one comes and goes", &documents, "docs-infra",
			[]any{"resources"}, balancerLists([]int64{80, 81}, []int64{80, 82}, []int64{}, []int64{82})},
		"security rules as resource manifests": {"a rule stays while another one takes the priority of a removed one", &documents, "docs-infra",
			[]any{"resources"}, ruleManifests([]string{"80", "81"}, []string{"80", "82"}, []string{}, []string{"82"})},
		"routes as resource manifests": {"a route stays while another one takes the place of a removed one", &documents, "docs-infra",
			[]any{"resources"}, routeManifests([]string{"10.1.0.0/24", "10.2.0.0/24"}, []string{"10.1.0.0/24", "10.3.0.0/24"}, []string{},
				[]string{"10.3.0.0/24"})},
		"addresses of a DNS record's resource manifest": {"an address stays while another one comes and goes", &documents, "docs-infra",
			[]any{"resources"}, recordManifests([]string{"10.0.0.4", "10.0.0.5"}, []string{"10.0.0.4", "10.0.0.6"}, []string{"10.0.0.6"})},
		"private endpoints": {"an endpoint with another name is in place before the old one goes", &peered, "c1",
			[]any{"networkSpec", "subnets", 1, "privateEndpoints"}, [][]any{{endpointTo("one")}, {endpointTo("two")}, {}, {endpointTo("one")}}},
	}
}

// routeManifests are lists of resources with a route table and a route for each prefix.
func routeManifests(states ...[]string) (out [][]any) {
	for _, prefixes := range states {
		list := []any{resourceGroup(),
			asoManifest("network.azure.com/v1api20240301", "RouteTable", "routes", body{"location": "eastus", "owner": body{"name": "docs"}})}
		for _, prefix := range prefixes {
			list = append(list, asoManifest("network.azure.com/v1api20240301", "RouteTablesRoute",
				"to-"+strings.NewReplacer(".", "-", "/", "-").Replace(prefix), body{
					"owner": body{"name": "routes"}, "addressPrefix": prefix, "nextHopType": "VnetLocal",
				}))
		}
		out = append(out, list)
	}
	return out
}

// recordManifests are lists of resources with a private DNS zone and a record that has these addresses.
func recordManifests(states ...[]string) (out [][]any) {
	for _, addresses := range states {
		records := []any{}
		for _, address := range addresses {
			records = append(records, body{"ipv4Address": address})
		}
		out = append(out, []any{
			resourceGroup(),
			asoManifest("network.azure.com/v1api20240601", "PrivateDnsZone", "zone",
				body{"azureName": "docs.example.com", "location": "global", "owner": body{"name": "docs"}}),
			asoManifest("network.azure.com/v1api20240601", "PrivateDnsZonesARecord", "api",
				body{"owner": body{"name": "zone"}, "ttl": int64(300), "aRecords": records}),
		})
	}
	return out
}

// endpointTo returns a private endpoint with a name for a storage account.
func endpointTo(name string) any {
	return map[string]any{"name": name, "privateLinkServiceConnections": []any{map[string]any{"name": "store", "groupIDs": []any{"blob"},
		"privateLinkServiceID": "/subscriptions/" + server.DefaultSubscription + "/resourceGroups/hub/providers/Microsoft.Storage/storageAccounts/store"}}}
}

// poolLists are lists of resources with one agent pool that has different values of a property.
func poolLists[T any](property string, values ...T) (out [][]any) {
	for _, value := range values {
		out = append(out, []any{agentPool("pool1", "User")(body{property: value})})
	}
	return out
}

// balancerLists are lists of resources with one internal load balancer that has a rule for each port.
func balancerLists(states ...[]int64) (out [][]any) {
	const id = "/subscriptions/" + server.DefaultSubscription + "/resourceGroups/docs/providers/Microsoft.Network/loadBalancers/services/"
	reference := func(list, name string) body { return body{"reference": body{"armId": id + list + "/" + name}} }
	for _, ports := range states {
		rules := []any{}
		for _, port := range ports {
			rules = append(rules, body{"name": "port" + string(rune('a'+port-80)), "protocol": "Tcp", "frontendPort": port, "backendPort": port,
				"frontendIPConfiguration": reference("frontendIPConfigurations", "front"),
				"backendAddressPool":      reference("backendAddressPools", "pool")})
		}
		out = append(out, []any{
			resourceGroup(),
			asoManifest("network.azure.com/v1api20240301", "PublicIPAddress", "services",
				body{"location": "eastus", "owner": body{"name": "docs"}, "sku": body{"name": "Standard"}, "publicIPAllocationMethod": "Static"}),
			asoManifest("network.azure.com/v1api20240301", "LoadBalancer", "services",
				body{"location": "eastus", "owner": body{"name": "docs"}, "sku": body{"name": "Standard"},
					"frontendIPConfigurations": []any{body{"name": "front",
						"publicIPAddress": body{"reference": body{"group": "network.azure.com", "kind": "PublicIPAddress", "name": "services"}}}},
					"backendAddressPools": []any{body{"name": "pool"}}, "loadBalancingRules": rules}),
		})
	}
	return out
}

// ruleManifests are lists of resources with a security group and a rule for each port, of which each has the priority of its place.
func ruleManifests(states ...[]string) (out [][]any) {
	for _, ports := range states {
		list := []any{resourceGroup(),
			asoManifest("network.azure.com/v1api20240301", "NetworkSecurityGroup", "rules",
				body{"location": "eastus", "owner": body{"name": "docs"}})}
		for i, port := range ports {
			list = append(list, asoManifest("network.azure.com/v1api20240301", "NetworkSecurityGroupsSecurityRule", "port"+port, body{
				"owner": body{"name": "rules"}, "priority": int64(300 + i), "protocol": "Tcp", "direction": "Inbound", "access": "Allow",
				"sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": port,
			}))
		}
		out = append(out, list)
	}
	return out
}

func peeringManifest(remote string) any {
	return map[string]any{"resourceGroup": "hub", "remoteVnetName": remote}
}

// peered is the network with three others that it can be peered with.
var peered = life{
	kinds: network.kinds, objects: network.objects, cluster: network.cluster, create: network.create, excused: network.excused,
	before: func(w *world) {
		w.PutAsUser("resourceGroups/hub", "2021-04-01", map[string]any{"location": "eastus"})
		for i, name := range []string{"hub-1", "hub-2", "hub-3"} {
			prefix := []string{"172.16.0.0/16", "172.17.0.0/16", "172.18.0.0/16"}[i]
			w.PutAsUser("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/"+name, "2024-05-01", map[string]any{
				"location": "eastus", "properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{prefix}}}})
		}
	},
}
