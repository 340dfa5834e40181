package crd_test

import "testing"

func TestAzureClusterLoadBalancers(t *testing.T) {
	lb := func(fields string) string { return "{networkSpec: {apiServerLB: {" + fields + "}}}" }
	internal := func(fields string) string { return "{networkSpec: {apiServerLB: {type: Internal}, " + fields + "}}" }
	const dualStack = `vnet: {cidrBlocks: [10.0.0.0/8, "2001:db8::/56"]}, subnets: [{name: nodes, role: node, cidrBlocks: [10.1.0.0/16, "2001:db8::/64"]}]`
	azureCluster.check(t, map[string]row{
		"SKU":              {reason: "Azure retired the SKU Basic", spec: lb("sku: Basic"), want: []string{"networkSpec.apiServerLB.sku: Unsupported value"}},
		"SKU Standard":     {reason: "one SKU is left", spec: lb("sku: Standard")},
		"type":             {reason: "there are two types", spec: lb("type: Private"), want: []string{"networkSpec.apiServerLB.type: Unsupported value"}},
		"timeout 3":        {reason: "Azure keeps connections for 4 to 30 minutes", spec: lb("idleTimeoutInMinutes: 3"), want: []string{"networkSpec.apiServerLB.idleTimeoutInMinutes: greater than or equal to 4"}},
		"timeout 4":        {reason: "Azure keeps connections for 4 to 30 minutes", spec: lb("idleTimeoutInMinutes: 4")},
		"timeout 30":       {reason: "Azure keeps connections for 4 to 30 minutes", spec: lb("idleTimeoutInMinutes: 30")},
		"timeout 31":       {reason: "Azure keeps connections for 4 to 30 minutes", spec: lb("idleTimeoutInMinutes: 31"), want: []string{"networkSpec.apiServerLB.idleTimeoutInMinutes: between 4 and 30"}},
		"name":             {reason: "names have few characters", spec: lb("name: a b"), want: []string{"networkSpec.apiServerLB.name: should match"}},
		"name in full":     {reason: "these are they", spec: lb("name: aZ0-_.")},
		"zones":            {reason: "there are three zones", spec: internal(`apiServerLB: {type: Internal, availabilityZones: ["1", "2", "3"]}`)},
		"zone 4":           {reason: "there are three zones", spec: lb(`availabilityZones: ["1", "4"]`), want: []string{"networkSpec.apiServerLB.availabilityZones[1]: should match"}},
		"zones, twice":     {reason: "a zone is named once", spec: lb(`availabilityZones: ["1", "1"]`), want: []string{"networkSpec.apiServerLB.availabilityZones[1]: Duplicate"}},
		"four zones":       {reason: "there are three zones", spec: lb(`availabilityZones: ["1", "2", "3", "1"]`), want: []string{"networkSpec.apiServerLB.availabilityZones: at most 3", "networkSpec.apiServerLB.availabilityZones[3]: Duplicate"}},
		"frontend, nobody": {reason: "frontends have names", spec: lb(`frontendIPs: [{name: "", publicIP: {name: i}}]`), want: []string{"networkSpec.apiServerLB.frontendIPs[0].name: at least 1"}},

		"public":             {reason: "one public address is the endpoint", spec: lb("frontendIPsCount: 1, frontendIPs: [{name: f, publicIP: {name: i}}]")},
		"two public":         {reason: "the endpoint is one address", spec: lb("frontendIPs: [{name: f, publicIP: {name: i}}, {name: g, publicIP: {name: j}}]"), want: []string{"networkSpec.apiServerLB.frontendIPs: exactly one"}},
		"none public":        {reason: "the endpoint is an address", spec: lb("frontendIPs: [{name: f}]"), want: []string{"networkSpec.apiServerLB.frontendIPs: exactly one"}},
		"public count":       {reason: "the endpoint is one address", spec: lb("frontendIPsCount: 2"), want: []string{"networkSpec.apiServerLB.frontendIPsCount: must be 1"}},
		"public and private": {reason: "a private address beside the public one is behind a gate", spec: lb("frontendIPs: [{name: f, publicIP: {name: i}}, {name: g, privateIP: 10.0.0.100}]"), want: []string{"networkSpec.apiServerLB.frontendIPs[1].privateIP: APIServerILB"}, webhook: true},

		"internal":             {reason: "the default of an internal load balancer is valid", spec: lb("type: Internal")},
		"internal and public":  {reason: "an internal load balancer is not reached from outside", spec: lb("type: Internal, frontendIPs: [{name: f, privateIP: 10.0.0.100, publicIP: {name: i}}]"), want: []string{"networkSpec.apiServerLB.frontendIPs: no public address"}},
		"internal with two":    {reason: "the endpoint is one address", spec: lb("type: Internal, frontendIPs: [{name: f, privateIP: 10.0.0.100}, {name: g, privateIP: 10.0.0.101}]"), want: []string{"networkSpec.apiServerLB.frontendIPs: exactly one"}},
		"internal with none":   {reason: "the endpoint is an address", spec: lb("type: Internal, frontendIPs: [{name: f}]"), want: []string{"networkSpec.apiServerLB.frontendIPs: exactly one"}},
		"internal address":     {reason: "an address is one", spec: lb("type: Internal, frontendIPs: [{name: f, privateIP: ten}]"), want: []string{"networkSpec.apiServerLB.frontendIPs[0].privateIP: IP address"}, webhook: true},
		"internal outside":     {reason: "the address is of the control-plane subnet", spec: lb("type: Internal, frontendIPs: [{name: f, privateIP: 10.1.0.100}]"), want: []string{"networkSpec.apiServerLB.frontendIPs[0].privateIP: 10.0.0.0/16"}, webhook: true},
		"port":                 {reason: "frontends have ports from 1 to 65534", spec: "{networkSpec: {additionalAPIServerLBPorts: [{name: a, port: 1}, {name: b, port: 65534}]}}"},
		"ports out of range":   {reason: "frontends have ports from 1 to 65534", spec: "{networkSpec: {additionalAPIServerLBPorts: [{name: a, port: 0}, {name: b, port: 65535}]}}", want: []string{"networkSpec.additionalAPIServerLBPorts[0].port: 1", "networkSpec.additionalAPIServerLBPorts[1].port: 65534"}},
		"nodes":                {reason: "outbound load balancers are completed", spec: "{networkSpec: {nodeOutboundLB: {}}}"},
		"nodes 3":              {reason: "Azure keeps no connection shorter", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 3}}}", want: []string{"networkSpec.nodeOutboundLB.idleTimeoutInMinutes: 4"}},
		"nodes 120":            {reason: "Azure keeps outbound connections for two hours", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 120, frontendIPsCount: 600}}}"},
		"nodes 121":            {reason: "Azure keeps outbound connections for two hours", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 121}}}", want: []string{"networkSpec.nodeOutboundLB.idleTimeoutInMinutes: 120"}},
		"nodes, 601 frontends": {reason: "a load balancer has 600 frontends", spec: "{networkSpec: {nodeOutboundLB: {frontendIPsCount: 601}}}", want: []string{"networkSpec.nodeOutboundLB.frontendIPsCount: 600"}},
		"nodes, no frontends":  {reason: "a number is not negative", spec: "{networkSpec: {nodeOutboundLB: {frontendIPsCount: -1}}}", want: []string{"networkSpec.nodeOutboundLB.frontendIPsCount: 0"}},
		"IPv6":                 {reason: "the default of a dual-stack cluster is valid", spec: "{networkSpec: {" + dualStack + "}}"},
		"IPv6, bounds":         {reason: "30 minutes and 16 addresses are what IPv6 nodes may have", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 30, frontendIPsCount: 16}, " + dualStack + "}}"},
		"IPv6, out of bounds": {reason: "and no more", spec: "{networkSpec: {nodeOutboundLB: {idleTimeoutInMinutes: 31, frontendIPsCount: 17}, " + dualStack + "}}",
			want: []string{"networkSpec.nodeOutboundLB.idleTimeoutInMinutes: between 4 and 30", "networkSpec.nodeOutboundLB.frontendIPsCount: at most 16"}, webhook: true},
		"IPv6, no way out": {reason: "IPv6 nodes need a way out, also without an API server load balancer", spec: "{controlPlaneEnabled: false, networkSpec: {" + dualStack + "}}",
			want: []string{"networkSpec.nodeOutboundLB: Set nodeOutboundLB: {}"}, webhook: true},

		"control plane of a public cluster": {reason: "a public load balancer serves outbound connections too", spec: "{networkSpec: {controlPlaneOutboundLB: {}}}", want: []string{"networkSpec.controlPlaneOutboundLB: Internal"}},
		"control plane":                     {reason: "an internal one does not", spec: internal("controlPlaneOutboundLB: {}")},
		"control plane, bounds":             {reason: "30 minutes and 16 addresses are fine", spec: internal("controlPlaneOutboundLB: {idleTimeoutInMinutes: 30, frontendIPsCount: 16}")},
		"control plane, shorter":            {reason: "Azure keeps no connection shorter", spec: internal("controlPlaneOutboundLB: {idleTimeoutInMinutes: 3}"), want: []string{"networkSpec.controlPlaneOutboundLB.idleTimeoutInMinutes: 4"}},
		"control plane, out of bounds": {reason: "and no more", spec: internal("controlPlaneOutboundLB: {idleTimeoutInMinutes: 31, frontendIPsCount: 17}"),
			want: []string{"networkSpec.controlPlaneOutboundLB.idleTimeoutInMinutes: between 4 and 30", "networkSpec.controlPlaneOutboundLB.frontendIPsCount: at most 16"}},

		"DNS zone of a public cluster": {reason: "only internal load balancers are found by private DNS", spec: "{networkSpec: {privateDNSZoneName: example.com}}", want: []string{"networkSpec.privateDNSZoneName: Internal"}},
		"DNS zone":                     {reason: "underscores are allowed in DNS names here", spec: internal("privateDNSZoneName: a_b.example.com, privateDNSZoneResourceGroup: dns.(1)_-, privateDNSZone: System")},
		"DNS zone name":                {reason: "a zone is a DNS name", spec: internal("privateDNSZoneName: a b"), want: []string{"networkSpec.privateDNSZoneName: must be a DNS name"}},
		"DNS zone address":             {reason: "an address is not a DNS name", spec: internal("privateDNSZoneName: 10.0.0.1"), want: []string{"networkSpec.privateDNSZoneName: must be a DNS name"}},
		"DNS zone, long label":         {reason: "labels of DNS names have 63 characters", spec: internal("privateDNSZoneName: a234567890123456789012345678901234567890123456789012345678901234.com"), want: []string{"networkSpec.privateDNSZoneName: must be a DNS name"}},
		"DNS zone group alone":         {reason: "a group without a zone says nothing", spec: internal("privateDNSZoneResourceGroup: dns"), want: []string{"networkSpec.privateDNSZoneResourceGroup: needs privateDNSZoneName"}},
		"DNS zone group":               {reason: "resource groups have few characters", spec: internal("privateDNSZoneName: example.com, privateDNSZoneResourceGroup: a b"), want: []string{"networkSpec.privateDNSZoneResourceGroup: should match"}},
		"DNS zone mode":                {reason: "there are two modes", spec: internal("privateDNSZone: Own"), want: []string{"networkSpec.privateDNSZone: Unsupported value"}},
		"DNS zone mode None":           {reason: "this is one", spec: internal("privateDNSZone: None")},
	})
}
