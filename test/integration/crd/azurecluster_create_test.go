package crd_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAzureClusterName(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		want   []string
	}{
		"ab":                    {"two characters will do", nil},
		strings.Repeat("a", 44): {"names in Azure have room for 44 characters", nil},
		strings.Repeat("a", 45): {"names in Azure would be too long", []string{"metadata: metadata.name must be 2 to 44"}},
		"a":                     {"a resource group named by one character is hard to find", []string{"metadata: metadata.name must be 2 to 44"}},
		"a.b":                   {"DNS labels in Azure have no dots", []string{"metadata: metadata.name must be 2 to 44"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := azureCluster.newObject(t)
			c.SetName(name)
			compareCauses(t, row{reason: tc.reason, want: tc.want}, "", environment.Client.Create(t.Context(), c, client.DryRunAll))
		})
	}
}

func TestAzureClusterGeneral(t *testing.T) {
	azureCluster.checkRows(t, map[string]row{
		"minimal":     {reason: "the smallest spec with its defaults is valid"},
		"no location": {reason: "resources are in a region", spec: "{location: null}", want: []string{"location: set the Azure region"}},
		"no identity": {reason: "there are no credentials without one", spec: "{identityRef: null}",
			want: []string{"identityRef: set identityRef to an AzureClusterIdentity"}},
		"other identity": {reason: "there is one kind of identity", spec: "{identityRef: {kind: Secret}}",
			want: []string{"identityRef.kind: AzureClusterIdentity"}},
		"edge zone, no gate": {reason: "edge zones are behind a gate", spec: "{extendedLocation: {name: e, type: EdgeZone}}",
			want: []string{"extendedLocation: EdgeZone"}, webhook: true},
		"other zone": {reason: "there is one type", spec: "{extendedLocation: {name: e, type: Zone}}",
			want: []string{"extendedLocation.type: EdgeZone"}},
		"edge zone without name": {reason: "an edge zone has a name", spec: `{extendedLocation: {name: "", type: EdgeZone}}`,
			want: []string{"extendedLocation.name: at least 1"}},
		"tunnel": {reason: "the SKU Basic has no tunnels", spec: "{bastionSpec: {azureBastion: {enableTunneling: true}}}",
			want: []string{"bastionSpec.azureBastion.enableTunneling: needs the sku Standard"}},
		"tunnel Standard": {reason: "the SKU Standard has tunnels",
			spec: "{bastionSpec: {azureBastion: {enableTunneling: true, sku: Standard}}}"},
		"bastion subnet": {reason: "Azure takes one name only", spec: "{bastionSpec: {azureBastion: {subnet: {name: bastion, role: bastion}}}}",
			want: []string{"bastionSpec.azureBastion.subnet.name: Azure requires the name AzureBastionSubnet"}, webhook: true},
		"bastion subnet with endpoints": {reason: "the subnet has the rules of others",
			spec: "{bastionSpec: {azureBastion: {subnet: {name: AzureBastionSubnet, role: bastion, serviceEndpoints: [{service: storage, locations: [eastus]}]}}}}",
			want: []string{"bastionSpec.azureBastion.subnet.serviceEndpoints[0].service: must be a service such as"}, webhook: true},
		"bastion SKU": {reason: "there are two SKUs", spec: "{bastionSpec: {azureBastion: {sku: Premium}}}",
			want: []string{"bastionSpec.azureBastion.sku: Unsupported value"}},
		"host": {reason: "a host name has its length",
			spec: "{controlPlaneEndpoint: {port: 6443, host: " + strings.Repeat("h", 512) + "}}"},
		"host too long": {reason: "a host name has its length",
			spec: "{controlPlaneEndpoint: {port: 6443, host: " + strings.Repeat("h", 513) + "}}", want: []string{"controlPlaneEndpoint.host: 512"}},
		"overrides": {reason: "overrides for azure.json can be given when the cluster is made",
			spec: "{cloudProviderConfigOverrides: {rateLimits: [{name: defaultRateLimit, config: {cloudProviderRateLimitQPS: 1}}, {name: availabilitySetRateLimit}]}}"},
		"rate limit": {reason: "cloud-provider-azure has fifteen", spec: "{cloudProviderConfigOverrides: {rateLimits: [{name: vmRateLimit}]}}",
			want: []string{"cloudProviderConfigOverrides.rateLimits[0].name: Unsupported value"}},
		"tags": {reason: "Azure refuses them when the first resources exist", spec: `{additionalTags: {"<>": ""}}`,
			want: []string{"additionalTags[<>]: is not a valid name of a tag"}, webhook: true},
		"unchecked": {reason: "zones and IP tags are Azure's to judge",
			spec: `{failureDomains: {"9": {}}, networkSpec: {subnets: [{role: node, natGateway: {ip: {name: i, ipTags: [{type: t, tag: g}]}, zones: ["9"]}}]}}`},
		"control plane elsewhere": {reason: "there is no load balancer to check without a control plane",
			spec: "{controlPlaneEnabled: false, networkSpec: {apiServerLB: {frontendIPsCount: 2}, privateDNSZoneName: example.com, controlPlaneOutboundLB: {idleTimeoutInMinutes: 60, frontendIPsCount: 17}}}"},
	})
}

func TestAzureClusterSubnets(t *testing.T) {
	subnet := func(fields string) string { return "{networkSpec: {subnets: [{name: s, role: node, " + fields + "}]}}" }
	rule := func(fields string) string {
		return subnet("securityGroup: {name: g, securityRules: [{name: r, description: d, protocol: Tcp, " + fields + "}]}")
	}
	service := func(endpoints string) string { return subnet("serviceEndpoints: [" + endpoints + "]") }
	const link = "privateLinkServiceConnections: [{privateLinkServiceID: /subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateLinkServices/l}]"
	endpoint := func(fields string) string { return subnet("privateEndpoints: [{" + fields + "}]") }
	azureCluster.checkRows(t, map[string]row{
		"vnet group": {reason: "resource groups have few characters", spec: "{networkSpec: {vnet: {resourceGroup: a b}}}",
			want: []string{"networkSpec.vnet.resourceGroup: is not a name of a resource group"}, webhook: true},
		"vnet group in full": {reason: "these are they", spec: "{networkSpec: {vnet: {resourceGroup: aZ0ä-_.()}}}"},
		"group":              {reason: "Azure takes letters of any script", spec: "{resourceGroup: größe}"},
		"vnet range": {reason: "a range has a length", spec: "{networkSpec: {vnet: {cidrBlocks: [10.0.0.0/8, 10.0.0.0]}}}",
			want: []string{"networkSpec.vnet.cidrBlocks[1]: cidr"}},
		"peerings": {reason: "networks have names of their own",
			spec: "{networkSpec: {vnet: {peerings: [{remoteVnetName: hub}, {remoteVnetName: hub2, resourceGroup: g}]}}}"},
		"peerings of one name": {reason: "the name of a peering does not contain the group of the other network",
			spec: "{networkSpec: {vnet: {peerings: [{remoteVnetName: hub}, {remoteVnetName: HUB, resourceGroup: g}]}}}",
			want: []string{"networkSpec.vnet.peerings[1].remoteVnetName: the network of this name in resource group"}, webhook: true},
		"same peering": {reason: "a peering has the name of the other network",
			spec: "{networkSpec: {vnet: {peerings: [{remoteVnetName: hub}, {remoteVnetName: hub}]}}}",
			want: []string{"networkSpec.vnet.peerings[1].remoteVnetName: Duplicate"}, webhook: true},
		"peering without network": {reason: "a network has a name", spec: "{networkSpec: {vnet: {peerings: [{resourceGroup: g}]}}}",
			want: []string{"networkSpec.vnet.peerings[0].remoteVnetName: at least 1"}},

		"subnet name": {reason: "subnet names have few characters", spec: "{networkSpec: {subnets: [{name: a/b, role: node}]}}",
			want: []string{"networkSpec.subnets[0].name: should match"}},
		"subnet name in full": {reason: "these are they", spec: "{networkSpec: {subnets: [{name: aZ0-._, role: node}]}}"},
		"subnet name with a period at the end": {reason: "Azure refuses it", spec: "{networkSpec: {subnets: [{name: nodes., role: node}]}}",
			want: []string{"networkSpec.subnets[0].name: is not a name that Azure accepts"}, webhook: true},
		"subnet name of 80": {reason: "Azure's names have 80 characters",
			spec: "{networkSpec: {subnets: [{role: node, name: " + strings.Repeat("n", 80) + "}]}}"},
		"subnet name of 81": {reason: "Azure's names have 80 characters",
			spec: "{networkSpec: {subnets: [{role: node, name: " + strings.Repeat("n", 81) + "}]}}",
			want: []string{"networkSpec.subnets[0].name: 80"}},
		"same subnets": {reason: "subnets are known by name",
			spec: "{networkSpec: {subnets: [{name: a, role: node}, {name: a, role: control-plane}]}}",
			want: []string{"networkSpec.subnets[1]: Duplicate"}},
		"role": {reason: "there are four roles", spec: "{networkSpec: {subnets: [{name: a, role: worker}]}}",
			want: []string{"networkSpec.subnets[0].role: Unsupported value"}},
		"no roles": {reason: "subnets that are missing are added",
			spec: "{networkSpec: {subnets: [{name: a, role: bastion, cidrBlocks: [10.9.0.0/24]}]}}"},
		"subnet range": {reason: "ranges have to parse", spec: subnet("cidrBlocks: [ten]"),
			want: []string{"networkSpec.subnets[0].cidrBlocks[0]: cidr"}},
		"subnet outside": {reason: "a subnet is part of its network", spec: subnet("cidrBlocks: [10.1.0.0/16, 192.168.0.0/16]"),
			want: []string{"networkSpec.subnets[0].cidrBlocks[1]: 10.0.0.0/8"}, webhook: true},

		"priority missing": {reason: "Azure does not choose a priority", spec: rule("direction: Inbound"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].priority: Required"}},
		"priority 99": {reason: "Azure knows priorities from 100", spec: rule("priority: 99"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].priority: 100"}},
		"priority 100":  {reason: "Azure knows priorities from 100", spec: rule("priority: 100")},
		"priority 4096": {reason: "Azure knows priorities to 4096", spec: rule("priority: 4096")},
		"priority 4097": {reason: "Azure knows priorities to 4096", spec: rule("priority: 4097"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].priority: 4096"}},
		"sources": {reason: "several sources are fine", spec: rule("priority: 100, sources: [10.0.0.0/8, Internet]")},
		"source and sources": {reason: "Azure takes one or the other", spec: rule(`priority: 100, source: "*", sources: ["*"]`),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].sources: exclude each other"}, webhook: true},
		"protocol": {reason: "there are three protocols", spec: rule("priority: 100, protocol: Esp"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].protocol: Unsupported value"}},
		"protocol, all": {reason: "and a sign for all", spec: rule(`priority: 100, protocol: "*"`)},
		"direction": {reason: "there are two directions", spec: rule("priority: 100, direction: Both"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].direction: Unsupported value"}},
		"action": {reason: "there are two actions", spec: rule("priority: 100, action: Drop"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].action: Unsupported value"}},
		"deny": {reason: "this is one", spec: rule("priority: 100, action: Deny, direction: Outbound")},
		"rule of no name": {reason: "rules are known by name", spec: rule(`priority: 100, name: ""`),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].name: at least 1"}},
		"rule name": {reason: "Azure refuses blanks", spec: rule("priority: 100, name: allow ssh"),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].name: is not a name that Azure accepts"}, webhook: true},
		"rule name of 80": {reason: "Azure's names have 80 characters", spec: rule("priority: 100, name: " + strings.Repeat("r", 80))},
		"rule name of 81": {reason: "Azure's names have 80 characters", spec: rule("priority: 100, name: " + strings.Repeat("r", 81)),
			want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].name: at most 80"}, webhook: true},
		"same rules": {reason: "rules are known by name",
			spec: subnet("securityGroup: {name: g, securityRules: [{name: r, description: d, protocol: Tcp, priority: 100}, {name: r, description: d, protocol: Tcp, priority: 101}]}"), want: []string{"networkSpec.subnets[0].securityGroup.securityRules[1]: Duplicate"}},
		"names of 80": {reason: "Azure's names have 80 characters",
			spec: subnet("securityGroup: {name: " + strings.Repeat("g", 80) + "}, routeTable: {name: " + strings.Repeat("r",
				80) + "}, natGateway: {name: " + strings.Repeat("n", 76) + "}")},
		"names of 81": {reason: "Azure's names have 80 characters",
			spec: subnet("securityGroup: {name: " + strings.Repeat("g", 81) + "}, routeTable: {name: " + strings.Repeat("r",
				81) + "}, natGateway: {name: " + strings.Repeat("n", 81) + "}"),
			want: []string{"networkSpec.subnets[0].securityGroup.name: 80", "networkSpec.subnets[0].routeTable.name: 80",
				"networkSpec.subnets[0].natGateway.name: 80", "networkSpec.subnets[1].routeTable.name: 80"}},
		"services": {reason: "regions are named, or all",
			spec: service(`{service: Microsoft.Storage, locations: [westeurope, westus2]}, {service: Microsoft.AzureActiveDirectory, locations: ["*"]}, {service: Microsoft.Storage.Global, locations: ["*"]}`)},
		"same services": {reason: "services are known by name",
			spec: service(`{service: Microsoft.Storage, locations: ["*"]}, {service: Microsoft.Storage, locations: ["*"]}`),
			want: []string{"networkSpec.subnets[0].serviceEndpoints[1]: Duplicate"}},
		"no service": {reason: "services are named", spec: service(`{locations: ["*"]}`),
			want: []string{"networkSpec.subnets[0].serviceEndpoints[0].service: set the service"}, webhook: true},
		"service of others": {reason: "services are Microsoft's", spec: service(`{service: Storage, locations: ["*"]}`),
			want: []string{"networkSpec.subnets[0].serviceEndpoints[0].service: such as Microsoft.Storage"}, webhook: true},
		"service nowhere": {reason: "regions are named", spec: service(`{service: Microsoft.Storage, locations: []}`),
			want: []string{"networkSpec.subnets[0].serviceEndpoints[0].locations: name regions"}, webhook: true},
		"service twice there": {reason: "regions are named once",
			spec: service(`{service: Microsoft.Storage, locations: [westeurope, westeurope]}`),
			want: []string{"networkSpec.subnets[0].serviceEndpoints[0].locations[1]: Duplicate"}, webhook: true},
		"service by shown name": {reason: "regions have names without spaces",
			spec: service(`{service: Microsoft.Storage, locations: [West Europe]}`),
			want: []string{"networkSpec.subnets[0].serviceEndpoints[0].locations[0]: such as westeurope"}, webhook: true},

		"endpoint": {reason: "an address of the subnet is fine",
			spec: endpoint("name: e, privateIPAddresses: [10.1.0.4], " + link)},
		"endpoint of no name": {reason: "endpoints are known by name", spec: endpoint(link),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].name: should match"}},
		"endpoint name": {reason: "names have few characters", spec: endpoint("name: a/b, " + link),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].name: should match"}},
		"endpoint to nowhere": {reason: "an endpoint leads somewhere", spec: endpoint("name: e"),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections: Required"}},
		"endpoint, empty list": {reason: "an endpoint leads somewhere", spec: endpoint("name: e, privateLinkServiceConnections: []"),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections: at least 1"}},
		"endpoint, no ID": {reason: "services are named by ID", spec: endpoint("name: e, privateLinkServiceConnections: [{name: c}]"),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[0].privateLinkServiceID: Required"}},
		"endpoint, bad ID": {reason: "services are named by ID",
			spec: endpoint("name: e, privateLinkServiceConnections: [{privateLinkServiceID: l}]"),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[0].privateLinkServiceID: resourceGroups/"}},
		"endpoint connection": {reason: "names have few characters",
			spec: endpoint("name: e, privateLinkServiceConnections: [{name: a b, privateLinkServiceID: /subscriptions/s/resourceGroups/g/providers/a/b/c}]"), want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[0].name: should match"}},
		"endpoint address": {reason: "an address is one", spec: endpoint("name: e, privateIPAddresses: [four], " + link),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses[0]: IP address"}, webhook: true},
		"endpoint outside": {reason: "addresses are of the subnet", spec: endpoint("name: e, privateIPAddresses: [10.2.0.4], " + link),
			want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses[0]: 10.1.0.0/16"}, webhook: true},
		"endpoint request": {reason: "a request is short",
			spec: endpoint("name: e, privateLinkServiceConnections: [{privateLinkServiceID: /subscriptions/s/resourceGroups/g/providers/a/b/c, requestMessage: " + strings.Repeat("m", 140) + "}]")},
		"endpoint long request": {reason: "a request is short",
			spec: endpoint("name: e, privateLinkServiceConnections: [{privateLinkServiceID: /subscriptions/s/resourceGroups/g/providers/a/b/c, requestMessage: " + strings.Repeat("m", 141) + "}]"), want: []string{"networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[0].requestMessage: 140"}},
		"same private endpoints": {reason: "endpoints are known by name",
			spec: subnet("privateEndpoints: [{name: e, " + link + "}, {name: e, " + link + "}]"),
			want: []string{"networkSpec.subnets[0].privateEndpoints[1]: Duplicate"}},
	})
}
