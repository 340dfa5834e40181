package crd_test

import "testing"

// Templates of AzureClusters are checked for what holds for every cluster that is made from them.
func TestAzureClusterTemplateCreation(t *testing.T) {
	internal := func(fields string) string { return "{networkSpec: {apiServerLB: {type: Internal}, " + fields + "}}" }
	const dualStack = `vnet: {cidrBlocks: [10.0.0.0/8, "2001:db8::/56"]}, subnets: [{name: nodes, role: node, cidrBlocks: [10.1.0.0/16, "2001:db8::/64"]}]`
	azureClusterTemplate.check(t, map[string]row{
		"minimal":            {reason: "clusters that are made from it get the rest"},
		"no identity":        {reason: "a ClusterClass may patch the identity in", spec: "{identityRef: {kind: Secret}}"},
		"vnet range":         {reason: "ranges have to parse", spec: "{networkSpec: {vnet: {cidrBlocks: [ten]}}}", want: []string{"networkSpec.vnet.cidrBlocks[0]: cidr"}},
		"subnet name":        {reason: "subnet names have few characters", spec: "{networkSpec: {subnets: [{name: a b, role: node}]}}", want: []string{"networkSpec.subnets[0].name: should match"}},
		"subnet of no name":  {reason: "subnets that are listed have names", spec: "{networkSpec: {subnets: [{role: node}]}}", want: []string{"networkSpec.subnets[0].name: should match"}},
		"same subnets":       {reason: "subnets are known by name", spec: "{networkSpec: {subnets: [{name: a, role: node}, {name: a, role: control-plane}]}}", want: []string{"networkSpec.subnets[1]: Duplicate"}},
		"subnet range":       {reason: "ranges have to parse", spec: "{networkSpec: {subnets: [{name: a, role: node, cidrBlocks: [ten]}]}}", want: []string{"networkSpec.subnets[0].cidrBlocks[0]: cidr"}},
		"subnet outside":     {reason: "a subnet is part of its network", spec: "{networkSpec: {subnets: [{name: a, role: node, cidrBlocks: [192.168.0.0/16]}]}}", want: []string{"networkSpec.subnets[0].cidrBlocks[0]: 10.0.0.0/8"}, webhook: true},
		"one role":           {reason: "clusters that are made from it get the other subnet", spec: "{networkSpec: {subnets: [{name: a, role: node}]}}"},
		"subnet for all":     {reason: "one subnet stands for both", spec: "{networkSpec: {subnets: [{name: a, role: cluster}]}}"},
		"rule":               {reason: "Azure knows priorities from 100", spec: "{networkSpec: {subnets: [{name: a, role: node, securityGroup: {securityRules: [{name: r, description: d, protocol: Tcp, priority: 99}]}}]}}", want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].priority: 100"}},
		"rule, source":       {reason: "Azure takes one or the other", spec: `{networkSpec: {subnets: [{name: a, role: node, securityGroup: {securityRules: [{name: r, description: d, protocol: Tcp, priority: 100, source: "*", sources: ["*"]}]}}]}}`, want: []string{"networkSpec.subnets[0].securityGroup.securityRules[0].sources: exclude"}, webhook: true},
		"service endpoint":   {reason: "endpoints are checked in the cluster that has them", spec: `{networkSpec: {subnets: [{name: a, role: node, serviceEndpoints: [{service: Storage, locations: []}]}]}}`},
		"SKU":                {reason: "Azure retired the SKU Basic", spec: "{networkSpec: {apiServerLB: {sku: Basic}}}", want: []string{"networkSpec.apiServerLB.sku: Unsupported value"}},
		"type":               {reason: "there are two types", spec: "{networkSpec: {apiServerLB: {type: Private}}}", want: []string{"networkSpec.apiServerLB.type: Unsupported value"}},
		"timeout 3":          {reason: "Azure keeps connections for 4 to 30 minutes", spec: "{networkSpec: {apiServerLB: {idleTimeoutInMinutes: 3}}}", want: []string{"networkSpec.apiServerLB.idleTimeoutInMinutes: 4"}},
		"timeout 4":          {reason: "Azure keeps connections for 4 to 30 minutes", spec: "{networkSpec: {apiServerLB: {idleTimeoutInMinutes: 4}}}"},
		"timeout 30":         {reason: "Azure keeps connections for 4 to 30 minutes", spec: "{networkSpec: {apiServerLB: {idleTimeoutInMinutes: 30}}}"},
		"timeout 31":         {reason: "Azure keeps connections for 4 to 30 minutes", spec: "{networkSpec: {apiServerLB: {idleTimeoutInMinutes: 31}}}", want: []string{"networkSpec.apiServerLB.idleTimeoutInMinutes: between 4 and 30"}},
		"IPv6":               {reason: "IPv6 nodes get their way out", spec: "{networkSpec: {" + dualStack + "}}"},
		"IPv6, timeout":      {reason: "the way out of IPv6 nodes has bounds", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 31}, " + dualStack + "}}", want: []string{"networkSpec.nodeOutboundLB.idleTimeoutInMinutes: between 4 and 30"}, webhook: true},
		"IPv4, timeout":      {reason: "Azure keeps outbound connections for longer", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 60}}}"},
		"outbound":           {reason: "a public load balancer serves outbound connections too", spec: "{networkSpec: {controlPlaneOutboundLB: {}}}", want: []string{"networkSpec.controlPlaneOutboundLB: Internal"}},
		"outbound, internal": {reason: "an internal one does not", spec: internal("controlPlaneOutboundLB: {idleTimeoutInMinutes: 30}")},
		"outbound, timeout":  {reason: "outbound load balancers have bounds", spec: internal("controlPlaneOutboundLB: {idleTimeoutInMinutes: 31}"), want: []string{"networkSpec.controlPlaneOutboundLB.idleTimeoutInMinutes: between 4 and 30"}},
		"DNS zone, public":   {reason: "only internal load balancers are found by private DNS", spec: "{networkSpec: {privateDNSZoneName: example.com}}", want: []string{"networkSpec.privateDNSZoneName: Internal"}},
		"DNS zone":           {reason: "internal ones are", spec: internal("privateDNSZoneName: example.com, privateDNSZoneResourceGroup: dns")},
		"DNS zone name":      {reason: "a zone is a DNS name", spec: internal("privateDNSZoneName: a b"), want: []string{"networkSpec.privateDNSZoneName: must be a DNS name"}},
		"DNS zone group":     {reason: "a group without a zone says nothing", spec: internal("privateDNSZoneResourceGroup: dns"), want: []string{"networkSpec.privateDNSZoneResourceGroup: needs privateDNSZoneName"}},
		"change":             {reason: "clusters were made from it", change: "{additionalTags: {a: b}}", want: []string{": make a new one"}, webhook: true},
		"no change":          {reason: "a manifest that leaves defaults out can be applied again", change: "{networkSpec: null, azureEnvironment: null}"},
	})
}

func TestAzureMachineTemplateChanges(t *testing.T) {
	azureMachineTemplate.check(t, map[string]row{
		"size":      {reason: "machines were made from it", change: "{vmSize: Standard_D4s_v5}", want: []string{": make a new one"}, webhook: true},
		"disk":      {reason: "machines were made from it", change: "{dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}", want: []string{": make a new one"}, webhook: true},
		"no change": {reason: "a manifest that leaves defaults out can be applied again", spec: "{dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}", change: "{sshPublicKey: null, networkInterfaces: null, dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}"},
		"interface": {reason: "the deprecated field and the interface say the same", spec: "{subnetName: nodes}", change: "{networkInterfaces: [{subnetName: nodes}]}"},
		"subnet":    {reason: "a manifest with the deprecated fields can be applied again", spec: "{subnetName: nodes, acceleratedNetworking: true}", change: "{subnetName: nodes, acceleratedNetworking: true}"},
	})
}
