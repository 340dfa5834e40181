package compare_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

func decodeJSON(t *testing.T, s string) any {
	t.Helper()
	value, err := arm.DecodeBody(json.RawMessage(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return value
}

func typeOf(t *testing.T, name string) types.Type {
	t.Helper()
	id := "/subscriptions/s/resourceGroups/g"
	if name != types.ResourceGroup {
		parts := strings.Split(name, "/")
		id += "/providers/" + parts[0]
		for _, part := range parts[1:] {
			id += "/" + part + "/n"
		}
	}
	row, err := types.ForID(arm.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

const templateIP = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[nic].properties.ipConfigurations"

// newScaleSetBody returns a scale set with one network interface. ips are its addresses, more holds further properties, starting with a comma.
func newScaleSetBody(ips, more string) string {
	return `{"properties":{"virtualMachineProfile":{"networkProfile":{"networkInterfaceConfigurations":[{"name":"nic","properties":{"ipConfigurations":[` + ips + `]` + more + `}}]}}}}`
}

func TestDiff(t *testing.T) {
	tests := map[string]struct {
		reason   string
		typeName string
		want     string
		have     string
		owned    []string
		drop     []string
		paths    []string
	}{
		"read-only and defaults": {
			reason: "properties that Azure adds are not compared",
			want:   `{"location":"eastus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`,
			have:   `{"id":"/x","etag":"e","location":"eastus2","properties":{"provisioningState":"Succeeded","addressSpace":{"addressPrefixes":["10.0.0.0/8"]},"subnets":[]}}`,
		},
		"map that a PUT replaces as a whole": {
			reason:   "an unplanned label has to be removed, and a map that the plan does not have is not compared",
			typeName: types.AgentPool,
			want:     `{"properties":{"nodeLabels":{"a.b/c":"1"},"tags":{}}}`,
			have:     `{"properties":{"nodeLabels":{"a.b/c":"1","x":"2"},"tags":{"y":"3"},"kubeletConfig":{"podMaxPids":5}}}`,
			paths:    []string{"properties.nodeLabels.x", "properties.tags.y"},
		},
		"display name of a region": {
			reason: "Azure answers eastus2 for East US 2",
			want:   `{"location":"East US 2"}`, have: `{"location":"eastus2"}`,
		},
		"case of IDs and enums": {
			reason:   "Azure returns another case than it was sent",
			typeName: types.InboundNATRule,
			want:     `{"properties":{"protocol":"TCP","frontendIPConfiguration":{"id":"/subscriptions/S/resourceGroups/RG/providers/X/y/Z/"}}}`,
			have:     `{"properties":{"protocol":"Tcp","frontendIPConfiguration":{"id":"/subscriptions/s/resourcegroups/rg/providers/x/Y/z"}}}`,
		},
		"numbers": {reason: "10 and 10.0 are one number", want: `{"properties":{"a":10,"b":4}}`,
			have: `{"properties":{"a":10.0,"b":30}}`, paths: []string{"properties.b"}},
		"false": {reason: "Azure leaves false out in places", want: `{"properties":{"a":false,"b":[],"c":null,"d":{},"e":""}}`,
			have: `{"properties":{}}`},
		"true": {reason: "true is not the default", want: `{"properties":{"a":true}}`, have: `{"properties":{}}`,
			paths: []string{"properties.a"}},
		"removal": {reason: "an empty list in the plan removes existing elements", want: `{"properties":{"l":[]}}`,
			have: `{"properties":{"l":["x"]}}`, paths: []string{"properties.l"}},
		"null": {reason: "null removes", want: `{"properties":{"natGateway":null}}`,
			have: `{"properties":{"natGateway":{"id":"/n"}}}`, paths: []string{"properties.natGateway"}},
		"owned": {reason: "an owned path is compared even when the plan leaves it out", want: `{"properties":{}}`,
			have: `{"properties":{"natGateway":{"id":"/n"}}}`, owned: []string{"properties.natGateway"},
			paths: []string{"properties.natGateway"}},
		"not owned": {reason: "other paths are not", want: `{"properties":{}}`, have: `{"properties":{"natGateway":{"id":"/n"}}}`},
		"set":       {reason: "Azure does not keep the order of zones", want: `{"zones":["1","2"]}`, have: `{"zones":["2","1"]}`},
		"set differs": {reason: "the plan owns a list of scalars as a whole", want: `{"zones":["1","2"]}`,
			have: `{"zones":["2","1","3"]}`, paths: []string{"zones"}},
		"by name": {
			reason: "elements match by name, whatever their order",
			want:   `{"properties":{"ipConfigurations":[{"name":"b","properties":{"p":1}},{"name":"a","properties":{"p":2}}]}}`,
			have:   `{"properties":{"ipConfigurations":[{"name":"A","properties":{"p":3}},{"name":"B","properties":{"p":1}}]}}`,
			paths:  []string{"properties.ipConfigurations[a].properties.p"},
		},
		"by ID": {
			reason:   "elements without a name match by ID; pools that others added are kept",
			typeName: types.NetworkInterface,
			want:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/ours"}]}}]}}`,
			have:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/theirs"},{"id":"/OURS"}]}}]}}`,
		},
		"pools in a template": {
			reason:   "cloud-provider-azure adds its pools to the template of a scale set, and the plan's pool is missing",
			typeName: types.ScaleSet,
			want:     newScaleSetBody(`{"name":"ip","properties":{"loadBalancerBackendAddressPools":[{"id":"/ours"}]}}`, ""),
			have: newScaleSetBody(
				`{"name":"ip","properties":{"loadBalancerBackendAddressPools":[{"id":"/theirs"}],"applicationSecurityGroups":[{"id":"/group"}]}}`, ""),
			paths: []string{templateIP + "[ip].properties.loadBalancerBackendAddressPools[/ours]"},
		},
		"a pool of an earlier plan in a template": {
			reason:   "an earlier plan sent it and this one does not",
			typeName: types.ScaleSet,
			want:     newScaleSetBody(`{"name":"ip","properties":{"loadBalancerBackendAddressPools":[]}}`, ""),
			have:     newScaleSetBody(`{"name":"ip","properties":{"loadBalancerBackendAddressPools":[{"id":"/ours"},{"id":"/theirs"}]}}`, ""),
			owned:    []string{templateIP + "[ip].properties.loadBalancerBackendAddressPools[/ours]"},
			paths:    []string{templateIP + "[ip].properties.loadBalancerBackendAddressPools[/ours]"},
		},
		"extensions of a template": {
			reason:   "Azure Policy adds extensions to scale sets",
			typeName: types.ScaleSet,
			want:     `{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[]}}}}`,
			have:     `{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[{"name":"AzureMonitorLinuxAgent"}]}}}}`,
		},
		"case of an enumeration in a list": {
			reason:   "the SDK's models define enumerations, also in elements and in entries of maps",
			typeName: types.NetworkSecurityGroup,
			want:     `{"properties":{"securityRules":[{"name":"a","properties":{"access":"Allow","sourceAddressPrefix":"internet","description":"a"}}]}}`,
			have:     `{"properties":{"securityRules":[{"name":"A","properties":{"access":"allow","sourceAddressPrefix":"Internet","description":"A"}}]}}`,
			paths:    []string{"properties.securityRules[a].properties.description"},
		},
		"case of labels": {
			reason:   "names and values of labels are case-sensitive for selectors",
			typeName: types.AgentPool,
			want:     `{"properties":{"nodeLabels":{"color":"Blue","example.com/team":"a","size":"s"}}}`,
			have:     `{"properties":{"nodeLabels":{"color":"blue","example.com/Team":"a","size":"s"}}}`,
			paths: []string{"properties.nodeLabels.color", "properties.nodeLabels.example.com/Team",
				"properties.nodeLabels.example.com/team"},
		},
		"case of taints": {
			reason:   "taints are case-sensitive for tolerations",
			typeName: types.AgentPool,
			want:     `{"properties":{"nodeTaints":["color=Blue:NoSchedule"],"vmSize":"Standard_D2s_v3","mode":"System"}}`,
			have:     `{"properties":{"nodeTaints":["color=blue:NoSchedule"],"vmSize":"standard_d2s_v3","mode":"system"}}`,
			paths:    []string{"properties.nodeTaints"},
		},
		"case of a pool's tags": {
			reason:   "names of tags are not case-sensitive, values are, as for any resource",
			typeName: types.AgentPool,
			want:     `{"properties":{"tags":{"Team":"Blue","owner":"x"}}}`,
			have:     `{"properties":{"tags":{"team":"blue","Owner":"x","gone":"y"}}}`,
			paths:    []string{"properties.tags.Team", "properties.tags.gone"},
		},
		"case in a cluster's own properties": {
			reason:   "its pools are those of the agent pools' type, and add-ons have Azure's names",
			typeName: types.ManagedCluster,
			want:     `{"properties":{"agentPoolProfiles":[{"name":"p","nodeLabels":{"a":"B"},"osType":"linux"}],"addonProfiles":{"azurePolicy":{"enabled":true}},"networkProfile":{"networkPlugin":"Azure"}}}`,
			have:     `{"properties":{"agentPoolProfiles":[{"name":"p","nodeLabels":{"a":"b"},"osType":"Linux"}],"addonProfiles":{"azurepolicy":{"enabled":true}},"networkProfile":{"networkPlugin":"azure"}}}`,
			paths:    []string{"properties.agentPoolProfiles[p].nodeLabels.a"},
		},
		"UUIDs and addresses": {
			reason:   "they are recognized by their form",
			typeName: types.ManagedCluster,
			want:     `{"properties":{"aadProfile":{"adminGroupObjectIDs":["AAAAAAAA-0000-0000-0000-00000000000B"]},"apiServerAccessProfile":{"authorizedIPRanges":["203.0.113.7","FD00::1","203.0.113.8"]},"networkProfile":{"podCidrs":["2001:DB8:0::/64"],"dnsServiceIP":"FD00::A"}}}`,
			have:     `{"properties":{"aadProfile":{"adminGroupObjectIDs":["aaaaaaaa-0000-0000-0000-00000000000b"]},"apiServerAccessProfile":{"authorizedIPRanges":["203.0.113.7/32","fd00::1/128","203.0.113.8/31"]},"networkProfile":{"podCidrs":["2001:db8::/64"],"dnsServiceIP":"fd00::b"}}}`,
			paths:    []string{"properties.apiServerAccessProfile.authorizedIPRanges", "properties.networkProfile.dnsServiceIP"},
		},
		"shape of an ID in a setting": {
			reason:   "its meaning depends on the extension",
			typeName: types.VirtualMachineExtension,
			want:     `{"properties":{"settings":{"id":"/subscriptions/S/resourceGroups/g"},"publisher":"Microsoft.Azure.Extensions"}}`,
			have:     `{"properties":{"settings":{"id":"/subscriptions/s/resourceGroups/g"},"publisher":"microsoft.azure.extensions"}}`,
			paths:    []string{"properties.settings.id"},
		},
		"path of a file": {
			reason:   "not everything that begins with a slash is an ID",
			typeName: types.LoadBalancer,
			want:     `{"properties":{"probes":[{"name":"p","properties":{"protocol":"Https","requestPath":"/readyz"}}]}}`,
			have:     `{"properties":{"probes":[{"name":"p","properties":{"protocol":"https","requestPath":"/ReadyZ"}}]}}`,
			paths:    []string{"properties.probes[p].properties.requestPath"},
		},
		"by service": {
			reason:   "service endpoints have no name; those that others added are kept",
			typeName: types.Subnet,
			want:     `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Storage","locations":["eastus"]},{"service":"Microsoft.Sql"}]}}`,
			have:     `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Web"},{"service":"microsoft.storage","locations":["westus"]}]}}`,
			paths:    []string{"properties.serviceEndpoints[Microsoft.Sql]", "properties.serviceEndpoints[Microsoft.Storage].locations"},
		},
		"service of an earlier plan": {
			reason:   "a service of an earlier spec belongs to no other writer",
			typeName: types.Subnet,
			want:     `{"properties":{"serviceEndpoints":[]}}`,
			have:     `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Web"},{"service":"Microsoft.Sql"}]}}`,
			owned:    []string{"properties.serviceEndpoints[Microsoft.Sql]"},
			paths:    []string{"properties.serviceEndpoints[Microsoft.Sql]"},
		},
		"by position": {
			reason: "elements without any match by position",
			want:   `{"properties":{"l":[{"x":1},{"x":2}]}}`, have: `{"properties":{"l":[{"x":1},{"x":3}]}}`,
			paths: []string{"properties.l[1].x"},
		},
		"element too many": {
			reason: "the plan owns a list without other writers as a whole",
			want:   `{"properties":{"ipConfigurations":[{"name":"a"}]}}`,
			have:   `{"properties":{"ipConfigurations":[{"name":"a"},{"name":"b"}]}}`,
			paths:  []string{"properties.ipConfigurations[b]"},
		},
		"element of others": {
			reason:   "cloud-provider-azure adds rules",
			typeName: types.NetworkSecurityGroup,
			want:     `{"properties":{"securityRules":[{"name":"ssh"}]}}`,
			have:     `{"properties":{"securityRules":[{"name":"k8s-1"},{"name":"ssh"}]}}`,
		},
		"element missing": {
			reason:   "the plan's element must exist",
			typeName: types.NetworkSecurityGroup,
			want:     `{"properties":{"securityRules":[{"name":"ssh"}]}}`, have: `{"properties":{"securityRules":[{"name":"k8s-1"}]}}`,
			paths: []string{"properties.securityRules[ssh]"},
		},
		"element owned": {
			reason:   "an element of an earlier plan is a difference even among those of others",
			typeName: types.LoadBalancer,
			want:     `{"properties":{"probes":[]}}`, have: `{"properties":{"probes":[{"name":"k8s-1"},{"name":"ours-2"}]}}`,
			owned: []string{"properties.probes[ours-*]"},
			paths: []string{"properties.probes[ours-2]"},
		},
		"write-only": {
			reason:   "Azure never returns passwords and custom data",
			typeName: types.VirtualMachine,
			want:     `{"properties":{"osProfile":{"adminPassword":"x","customData":"y","computerName":"a"}}}`,
			have:     `{"properties":{"osProfile":{"computerName":"b"}}}`,
			paths:    []string{"properties.osProfile.computerName"},
		},
		"tags": {
			reason: "foreign tags are not compared, keys are not case-sensitive, values are",
			want:   `{"tags":{"Name":"a","Role":"x"}}`, have: `{"tags":{"name":"a","role":"X","theirs":"1","old":"1"}}`,
			drop:  []string{"old", "gone"},
			paths: []string{"tags.Role", "tags.old"},
		},
		"keys that are IDs": {
			reason:   "identities are keyed by ID, and Azure changes its case",
			typeName: types.VirtualMachine,
			want:     `{"identity":{"userAssignedIdentities":{"/subscriptions/S/a":{}}}}`,
			have:     `{"identity":{"userAssignedIdentities":{"/subscriptions/s/A":{"clientId":"c"}}}}`,
		},
		"role definition": {
			reason:   "the same role has an ID per subscription and one without",
			typeName: types.RoleAssignment,
			want:     `{"properties":{"roleDefinitionId":"/providers/Microsoft.Authorization/roleDefinitions/r"}}`,
			have:     `{"properties":{"roleDefinitionId":"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r"}}`,
		},
		"settings are case-sensitive": {
			reason:   "a command line is not an enum",
			typeName: types.VirtualMachineExtension,
			want:     `{"properties":{"settings":{"a":"run","B":1,"l":[{"name":"x","y":{"z":"q"}}]}}}`,
			have:     `{"properties":{"settings":{"a":"RUN","b":1,"l":[{"name":"X","y":{"z":"Q"}}]}}}`,
			paths: []string{"properties.settings.B", "properties.settings.a", "properties.settings.b",
				"properties.settings.l[x].name", "properties.settings.l[x].y.z"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.typeName == "" {
				test.typeName = types.VirtualNetwork
			}
			want := compare.Desired{Type: typeOf(t, test.typeName), Body: decodeJSON(t, test.want), OwnedPaths: test.owned, DropTags: test.drop}
			got := compare.PathsOf(compare.Diff(want, decodeJSON(t, test.have)))
			if diff := cmp.Diff(test.paths, got,
				cmp.Transformer("len0", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

func TestMergeBody(t *testing.T) {
	tests := map[string]struct {
		reason   string
		typeName string
		want     string
		have     string
		owned    []string
		drop     []string
		body     string
	}{
		"subnets": {
			reason:   "a PUT with subnets replaces them all, so existing ones are sent",
			typeName: types.VirtualNetwork,
			want:     `{"properties":{"addressSpace":{}}}`, have: `{"properties":{"subnets":[{"name":"s"}],"virtualNetworkPeerings":[]}}`,
			body: `{"properties":{"addressSpace":{},"subnets":[{"name":"s"}]}}`,
		},
		"rules of others": {
			reason:   "only the plan's elements change",
			typeName: types.NetworkSecurityGroup,
			want:     `{"tags":{"a":"1"},"properties":{"securityRules":[{"name":"ssh","properties":{"priority":1}}]}}`,
			have:     `{"tags":{"A":"0","theirs":"1","old":"1"},"properties":{"securityRules":[{"name":"k8s"},{"name":"SSH"},{"name":"ours-old"}]}}`,
			owned:    []string{"properties.securityRules[ours-*]"}, drop: []string{"old"},
			body: `{"tags":{"a":"1","theirs":"1"},"properties":{"securityRules":[{"name":"ssh","properties":{"priority":1}},{"name":"k8s"}]}}`,
		},
		"pools of others": {
			reason:   "cloud-provider-azure adds machines to its pools",
			typeName: types.NetworkInterface,
			want:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[]}}]}}`,
			have:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/theirs"}]}}]}}`,
			body:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/theirs"}]}}]}}`,
		},
		"pools and settings of others in a template": {
			reason:   "Azure replaces elements of lists as a whole, so members that others set are sent",
			typeName: types.ScaleSet,
			want:     newScaleSetBody(`{"name":"ip","properties":{"primary":true,"loadBalancerBackendAddressPools":[{"id":"/new"}]}}`, ""),
			have: newScaleSetBody(`{"name":"IP","properties":{"primary":true,"loadBalancerBackendAddressPools":[{"id":"/ours"},{"id":"/theirs"}],"applicationSecurityGroups":[{"id":"/group"}]}}`,
				`,"networkSecurityGroup":{"id":"/nsg"}`),
			owned: []string{templateIP + "[ip].properties.loadBalancerBackendAddressPools[/ours]"},
			body: newScaleSetBody(`{"name":"ip","properties":{"primary":true,"loadBalancerBackendAddressPools":[{"id":"/new"},{"id":"/theirs"}],"applicationSecurityGroups":[{"id":"/group"}]}}`,
				`,"networkSecurityGroup":{"id":"/nsg"}`),
		},
		"extensions of others in a template": {
			reason:   "Azure Policy adds extensions to scale sets; one of an earlier spec is removed",
			typeName: types.ScaleSet,
			want:     `{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[{"name":"ours"}]}}}}`,
			have:     `{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[{"name":"AzureMonitorLinuxAgent","properties":{"settings":{}}},{"name":"old"}]}}}}`,
			owned:    []string{"properties.virtualMachineProfile.extensionProfile.extensions[old]"},
			body:     `{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[{"name":"ours"},{"name":"AzureMonitorLinuxAgent","properties":{"settings":{}}}]}}}}`,
		},
		"settings of others": {
			reason:   "a PUT without them would reset them; values of the plan take precedence",
			typeName: types.VirtualNetwork,
			want:     `{"properties":{"addressSpace":{},"encryption":{"enabled":false}}}`,
			have:     `{"properties":{"dhcpOptions":{"dnsServers":["10.0.0.4"]},"encryption":{"enabled":true},"enableDdosProtection":false,"resourceGuid":"g"}}`,
			body:     `{"properties":{"addressSpace":{},"dhcpOptions":{"dnsServers":["10.0.0.4"]},"encryption":{"enabled":false}}}`,
		},
		"addresses of others": {
			reason:   "users give an interface further addresses and security groups",
			typeName: types.NetworkInterface,
			want:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{}}]}}`,
			have:     `{"properties":{"networkSecurityGroup":{"id":"/n"},"ipConfigurations":[{"name":"a","properties":{"applicationSecurityGroups":[{"id":"/g"}]}},{"name":"theirs"}]}}`,
			body:     `{"properties":{"networkSecurityGroup":{"id":"/n"},"ipConfigurations":[{"name":"a","properties":{"applicationSecurityGroups":[{"id":"/g"}]}},{"name":"theirs"}]}}`,
		},
		"services of others": {
			reason:   "users add service endpoints, and one of an earlier plan is removed",
			typeName: types.Subnet,
			want:     `{"properties":{"serviceEndpoints":[{"service":"Microsoft.Storage"}]}}`,
			have:     `{"properties":{"delegations":[{"name":"d"}],"serviceEndpoints":[{"service":"Microsoft.Sql"},{"service":"Microsoft.Web","locations":["*"]},{"service":"Microsoft.Storage","locations":["*"]}]}}`,
			owned:    []string{"properties.serviceEndpoints[Microsoft.Sql]"},
			body:     `{"properties":{"delegations":[{"name":"d"}],"serviceEndpoints":[{"service":"Microsoft.Storage"},{"service":"Microsoft.Web","locations":["*"]}]}}`,
		},
		"route table of others": {
			reason:   "Azure Policy gives a subnet a route table, and a security group of an earlier plan is removed",
			typeName: types.Subnet,
			want:     `{"properties":{"natGateway":{"id":"/ours"}}}`,
			have:     `{"properties":{"natGateway":{"id":"/old"},"routeTable":{"id":"/theirs"},"networkSecurityGroup":{"id":"/dropped"}}}`,
			owned:    []string{"properties.networkSecurityGroup"},
			body:     `{"properties":{"natGateway":{"id":"/ours"},"routeTable":{"id":"/theirs"}}}`,
		},
		"gateway addresses of others": {
			reason:   "users give a gateway more addresses, and one of an earlier plan is removed",
			typeName: types.NATGateway,
			want:     `{"properties":{"publicIpAddresses":[{"id":"/s/ours"}]}}`,
			have:     `{"properties":{"publicIpAddresses":[{"id":"/s/theirs"},{"id":"/S/OLD"}]}}`,
			owned:    []string{"properties.publicIpAddresses[/s/old]"},
			body:     `{"properties":{"publicIpAddresses":[{"id":"/s/ours"},{"id":"/s/theirs"}]}}`,
		},
		"patching PUT": {
			reason:   "Compute keeps omitted properties, so a removal is sent as null",
			typeName: types.AvailabilitySet,
			want:     `{"properties":{"a":1}}`, have: `{"properties":{"a":1,"proximityPlacementGroup":{"id":"/p"}}}`,
			owned: []string{"properties.proximityPlacementGroup"},
			body:  `{"properties":{"a":1,"proximityPlacementGroup":null}}`,
		},
		"nothing there": {
			reason:   "a creation sends the plan as it is",
			typeName: types.VirtualNetwork,
			want:     `{"location":"x"}`, have: `null`, body: `{"location":"x"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := compare.Desired{Type: typeOf(t, test.typeName), Body: decodeJSON(t, test.want), OwnedPaths: test.owned, DropTags: test.drop}
			got := compare.MergeBody(want, decodeJSON(t, test.have))
			if diff := cmp.Diff(decodeJSON(t, test.body), got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
			if diff := cmp.Diff(decodeJSON(t, test.want), want.Body); diff != "" {
				t.Errorf("Merge changed its input: %s", diff)
			}
		})
	}
}

func TestTagChanges(t *testing.T) {
	want := compare.Desired{Body: decodeJSON(t, `{"tags":{"a":"1","b":"2"}}`), DropTags: []string{"old", "gone", "a"}}
	merge, drop := compare.TagChanges(want, decodeJSON(t, `{"tags":{"A":"1","b":"3","OLD":"x"}}`))
	if diff := cmp.Diff(map[string]string{"b": "2"}, merge); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"old"}, drop); diff != "" {
		t.Error(diff)
	}
}

func TestDifferencesHideSecrets(t *testing.T) {
	want := compare.Desired{Type: typeOf(t, types.VirtualMachine),
		Body: decodeJSON(t, `{"properties":{"x":{"sharedKey":"hunter2"},"clientSecret":"hunter2","list":["hunter2"],"long":"`+
			strings.Repeat("ä", 100)+`"}}`)}
	for _, difference := range compare.Diff(want, decodeJSON(t, `{"properties":{"x":"hunter2","list":[]}}`)) {
		if difference.Path != "properties.list" && difference.Path != "properties.x" && strings.Contains(difference.String(), "hunter2") {
			t.Errorf("%s", difference)
		}
		if difference.Path == "properties.x" && strings.Contains(difference.Want, "hunter2") {
			t.Errorf("%s", difference)
		}
		if len(difference.Want) > 80 {
			t.Errorf("%d bytes: %s", len(difference.Want), difference)
		}
	}
}

func TestVisibleHasNoSecrets(t *testing.T) {
	want := compare.Desired{Type: typeOf(t, types.VirtualMachine),
		Body: decodeJSON(t, `{"properties":{"osProfile":{"adminPassword":"x","customData":"y","computerName":"a"},"zones":["1"]}}`)}
	if diff := cmp.Diff(decodeJSON(t, `{"properties":{"osProfile":{"computerName":"a"},"zones":["1"]}}`),
		compare.VisibleBody(want)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("x",
		want.Body.(map[string]any)["properties"].(map[string]any)["osProfile"].(map[string]any)["adminPassword"]); diff != "" {
		t.Errorf("Visible changed its input: %s", diff)
	}
}

// TestRenewedStates: a state that Azure sets is a difference if a PUT ends it.
func TestRenewedStates(t *testing.T) {
	row, err := types.ForID(arm.NewID("s", "g", types.VirtualNetwork, "v").Child("virtualNetworkPeerings", "p"))
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string][]string{"Initiated": {}, "Connected": {}, "Disconnected": {"properties.peeringState"}} {
		observed := map[string]any{"properties": map[string]any{"peeringState": state}}
		got := compare.Diff(compare.Desired{Type: row, Body: map[string]any{}}, observed)
		if diff := cmp.Diff(want, compare.PathsOf(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", state, diff)
		}
		if compare.NeedsRenewal(row, observed) != (len(want) > 0) {
			t.Errorf("%s: NeedsRenewal is %v", state, len(want) == 0)
		}
	}
}
