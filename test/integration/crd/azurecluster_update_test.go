package crd_test

import "testing"

// Rules of AzureCluster about fields that cannot change; those of single fields of the spec are in TestAzureClusterRules.
func TestAzureClusterChanges(t *testing.T) {
	const (
		internal = "{networkSpec: {apiServerLB: {type: Internal}}}"
		standard = "{bastionSpec: {azureBastion: {sku: Standard, enableTunneling: true}}}"
		named    = "{networkSpec: {subnets: [{name: cp, role: control-plane, cidrBlocks: [10.0.0.0/16], securityGroup: {name: g}, routeTable: {name: r}}, {name: nodes, role: node, cidrBlocks: [10.1.0.0/16], securityGroup: {name: g}, routeTable: {name: r}, natGateway: {name: w, ip: {name: i}}}]}}"
		// bare has an existing subnet, which gets no NAT gateway.
		bare      = `{networkSpec: {subnets: [{name: cp, role: control-plane}, {name: nodes, role: node, id: /s, cidrBlocks: [10.1.0.0/16], securityGroup: {name: g}, routeTable: {name: r}}]}}`
		dualStack = `{networkSpec: {vnet: {cidrBlocks: [10.0.0.0/8, "2001:db8::/56"]}, subnets: [{name: nodes, role: node, cidrBlocks: [10.1.0.0/16, "2001:db8::/64"]}]}}`
		zones     = `{networkSpec: {apiServerLB: {type: Internal, availabilityZones: ["1", "2"]}, nodeOutboundLB: {availabilityZones: ["1"]}, controlPlaneOutboundLB: {availabilityZones: ["1", "2"]}}}`
	)
	azureCluster.check(t, map[string]row{
		"overrides added":   {reason: "machines have read azure.json", change: "{cloudProviderConfigOverrides: {backOffs: {cloudProviderBackoff: true}}}", want: []string{"cloudProviderConfigOverrides: cannot change"}, webhook: true},
		"overrides changed": {reason: "machines have read azure.json", spec: "{cloudProviderConfigOverrides: {backOffs: {cloudProviderBackoffExponent: 1.5}}}", change: "{cloudProviderConfigOverrides: {backOffs: {cloudProviderBackoffExponent: 2}}}", want: []string{"cloudProviderConfigOverrides: cannot change"}, webhook: true},
		"overrides spelled otherwise": {reason: "1500m is 1.5",
			spec: "{cloudProviderConfigOverrides: {backOffs: {cloudProviderBackoffExponent: 1.5}}}", change: "{cloudProviderConfigOverrides: {backOffs: {cloudProviderBackoffExponent: 1500m}}}"},

		"bastion added":   {reason: "a bastion host can be added", change: standard},
		"bastion removed": {reason: "it goes when it is wanted no more", spec: standard, change: "{bastionSpec: null}"},
		"bastion grows":   {reason: "Azure changes the SKU and tunnels in place", spec: "{bastionSpec: {azureBastion: {}}}", change: standard},
		"bastion shrinks": {reason: "Azure refuses it", spec: standard, change: "{bastionSpec: {azureBastion: {sku: Basic, enableTunneling: false}}}", want: []string{"bastionSpec.azureBastion.sku: grow only"}},
		"bastion closes":  {reason: "tunnels are turned off in place", spec: standard, change: "{bastionSpec: {azureBastion: {enableTunneling: false}}}"},
		"bastion renamed": {reason: "it would be another one, in the same subnet", spec: standard, change: "{bastionSpec: {azureBastion: {name: other}}}", want: []string{"bastionSpec.azureBastion.name: remove the bastion host"}},
		"bastion address": {reason: "Azure does not change the address", spec: standard, change: "{bastionSpec: {azureBastion: {publicIP: {name: other}}}}", want: []string{"bastionSpec.azureBastion.publicIP.name: remove the bastion host"}},
		"bastion elsewhere": {reason: "it does not move", spec: standard, change: "{bastionSpec: {azureBastion: {subnet: {name: other, cidrBlocks: [10.254.255.224/27]}}}}",
			want: []string{"bastionSpec.azureBastion.subnet.name: remove the bastion host", "bastionSpec.azureBastion.subnet.cidrBlocks: remove the bastion host"}},
		"bastion left to defaults": {reason: "a manifest without names can be applied again", spec: standard, change: "{bastionSpec: {azureBastion: {name: null, publicIP: null, subnet: null}}}"},

		"SKU":              {reason: "one SKU is left", change: "{networkSpec: {apiServerLB: {sku: Basic}}}", want: []string{"networkSpec.apiServerLB.sku: Unsupported value"}},
		"type":             {reason: "the endpoint would be another one", change: "{networkSpec: {apiServerLB: {type: Internal, frontendIPs: null}}}", want: []string{"networkSpec.apiServerLB.type: cannot change"}},
		"name":             {reason: "the endpoint would be another one", change: "{networkSpec: {apiServerLB: {name: other}}}", want: []string{"networkSpec.apiServerLB.name: cannot change"}},
		"timeout":          {reason: "the timeout stays", change: "{networkSpec: {apiServerLB: {idleTimeoutInMinutes: 30}}}", want: []string{"networkSpec.apiServerLB.idleTimeoutInMinutes: cannot change"}},
		"left to defaults": {reason: "a manifest without the load balancer can be applied again", change: "{networkSpec: {apiServerLB: null}}"},
		"zones added":      {reason: "frontends do not change zones", spec: internal, change: `{networkSpec: {apiServerLB: {availabilityZones: ["1"]}}}`, want: []string{"networkSpec.apiServerLB.availabilityZones: cannot change"}},
		"zones removed":    {reason: "frontends do not change zones", spec: zones, change: `{networkSpec: {apiServerLB: {availabilityZones: null}}}`, want: []string{"networkSpec.apiServerLB.availabilityZones: cannot change"}},
		"zones changed":    {reason: "frontends do not change zones", spec: zones, change: `{networkSpec: {apiServerLB: {availabilityZones: ["1", "3"]}}}`, want: []string{"networkSpec.apiServerLB.availabilityZones: cannot change"}},
		"zones of nothing": {reason: "no zones are no zones", spec: internal, change: "{networkSpec: {apiServerLB: {availabilityZones: []}}}"},
		"zones in another order": {reason: "zones are a set", spec: zones,
			change: `{networkSpec: {apiServerLB: {availabilityZones: ["2", "1"]}, controlPlaneOutboundLB: {availabilityZones: ["2", "1"]}}}`},
		"zones of nodes":           {reason: "frontends do not change zones", spec: zones, change: `{networkSpec: {nodeOutboundLB: {availabilityZones: ["2"]}}}`, want: []string{"networkSpec.nodeOutboundLB.availabilityZones: cannot change"}},
		"zones of nodes, later":    {reason: "a load balancer that is added has the zones it wants", change: `{networkSpec: {nodeOutboundLB: {availabilityZones: ["2"]}}}`},
		"zones of control planes":  {reason: "frontends do not change zones", spec: zones, change: `{networkSpec: {controlPlaneOutboundLB: {availabilityZones: ["2"]}}}`, want: []string{"networkSpec.controlPlaneOutboundLB: cannot change"}, webhook: true},
		"private address":          {reason: "machines use the address", spec: internal, change: "{networkSpec: {apiServerLB: {frontendIPs: [{name: f, privateIP: 10.0.0.101}]}}}", want: []string{"networkSpec.apiServerLB.frontendIPs: private address"}, webhook: true},
		"frontend renamed":         {reason: "the address is what machines use", spec: internal, change: "{networkSpec: {apiServerLB: {frontendIPs: [{name: f, privateIP: 10.0.0.100}]}}}"},
		"control plane outbound":   {reason: "control-plane machines have their way out", spec: internal, change: "{networkSpec: {controlPlaneOutboundLB: {}}}", want: []string{"networkSpec.controlPlaneOutboundLB: cannot change"}, webhook: true},
		"nodes with IPv6, name":    {reason: "nodes with IPv6 are behind it", spec: dualStack, change: "{networkSpec: {nodeOutboundLB: {name: other}}}", want: []string{"networkSpec.nodeOutboundLB.name: cannot change"}, webhook: true},
		"nodes with IPv6, timeout": {reason: "nodes with IPv6 are behind it", spec: dualStack, change: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 5}}}", want: []string{"networkSpec.nodeOutboundLB.idleTimeoutInMinutes: cannot change"}, webhook: true},
		"nodes with IPv6, more":    {reason: "outbound addresses can be added", spec: dualStack, change: "{networkSpec: {nodeOutboundLB: {frontendIPsCount: 3}}}"},
		"nodes with IPv4":          {reason: "nodes with IPv4 have NAT gateways beside it", spec: "{networkSpec: {nodeOutboundLB: {}}}", change: "{networkSpec: {nodeOutboundLB: {name: other, idleTimeoutInMinutes: 5}}}"},

		"subnet parts": {reason: "what hangs on a subnet stays", spec: named, change: "{networkSpec: {subnets: [{name: cp, role: control-plane, cidrBlocks: [10.0.0.0/16], securityGroup: {name: g}, routeTable: {name: r}}, {name: nodes, role: node, cidrBlocks: [10.1.0.0/16], securityGroup: {name: g2}, routeTable: {name: r2}, natGateway: {name: w2, ip: {name: i}}}]}}",
			want: []string{"networkSpec.subnets[1].securityGroup.name: cannot change", "networkSpec.subnets[1].routeTable.name: cannot change", "networkSpec.subnets[1].natGateway.name: cannot change"}},
		"subnets in another order": {reason: "subnets are known by name", spec: named, change: "{networkSpec: {subnets: [{name: nodes, role: node, cidrBlocks: [10.1.0.0/16], securityGroup: {name: g}, routeTable: {name: r}, natGateway: {name: w, ip: {name: i}}}, {name: cp, role: control-plane, cidrBlocks: [10.0.0.0/16], securityGroup: {name: g}, routeTable: {name: r}}]}}"},
		"NAT gateway added":        {reason: "what a subnet does not have can come", spec: bare, change: `{networkSpec: {subnets: [{name: cp, role: control-plane}, {name: nodes, role: node, id: /s, cidrBlocks: [10.1.0.0/16], securityGroup: {name: g}, routeTable: {name: r}, natGateway: {name: w, ip: {name: i}}}]}}`},
		"subnet renamed":           {reason: "another name is another subnet", spec: named, change: "{networkSpec: {subnets: [{name: cp, role: control-plane, cidrBlocks: [10.0.0.0/16], securityGroup: {name: g}, routeTable: {name: r}}, {name: more, role: node, cidrBlocks: [10.1.0.0/16], securityGroup: {name: other}, routeTable: {name: other}, natGateway: {name: other, ip: {name: i}}}]}}"},
		"subnet range":             {reason: "the range of a subnet that is not made follows", spec: named, change: "{networkSpec: {subnets: [{name: cp, role: control-plane, cidrBlocks: [10.3.0.0/16], securityGroup: {name: g}, routeTable: {name: r}}, {name: nodes, role: node, cidrBlocks: [10.1.0.0/16], securityGroup: {name: g}, routeTable: {name: r}, natGateway: {name: w, ip: {name: i}}}]}}"},
		"network and tags":         {reason: "names of the network, its group and tags are not frozen", change: "{additionalTags: {a: b}, networkSpec: {vnet: {name: other, resourceGroup: other}}}"},
		"no location any more":     {reason: "what is required cannot be taken away", change: "{identityRef: null}", want: []string{"identityRef: name the AzureClusterIdentity"}},
		"other identity":           {reason: "another identity of the kind is fine", change: "{identityRef: {name: other}}"},
	})
}
