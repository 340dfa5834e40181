package transitions_test

import (
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// network is a self-managed cluster without machines.
var network = life{
	kinds: map[string]kind{"AzureCluster": {plural: "azureclusters", hints: hints{
		// Fields that are refused because the cluster would be another one, or that need resources of other users in
		// Azure.
		"subscriptionID": nil, "location": nil, "resourceGroup": nil, "identityRef": nil, "azureEnvironment": nil, "controlPlaneEndpoint": nil,
		"extendedLocation": nil,
		"failureDomains":   nil, "controlPlaneEnabled": nil, "networkSpec.vnet.id": nil, "networkSpec.vnet.resourceGroup": nil,
		"networkSpec.vnet.peerings": nil, "networkSpec.privateDNSZoneResourceGroup": nil,
		"networkSpec.subnets[].id": nil, "networkSpec.subnets[].natGateway.id": nil, "networkSpec.subnets[].routeTable.id": nil,
		"networkSpec.subnets[].securityGroup.id": nil, "networkSpec.subnets[].privateEndpoints": nil,
		"bastionSpec.azureBastion.subnet": nil, "bastionSpec.azureBastion.publicIP.ipTags": nil,
		"networkSpec.apiServerLB.id": nil, "networkSpec.nodeOutboundLB.id": nil, "networkSpec.controlPlaneOutboundLB.id": nil,

		"additionalTags": {map[string]any{"a": "x"}, map[string]any{"a": "y", "b": "z"},
			map[string]any{"b": ""}, map[string]any{}},
		"networkSpec.vnet.name":                               {"c1-vnet", "other"},
		"networkSpec.apiServerLB.backendPool.name":            {"machines", "c1-public-lb-backendPool"},
		"networkSpec.nodeOutboundLB.backendPool.name":         {"machines", "c1-outboundBackendPool"},
		"networkSpec.controlPlaneOutboundLB.backendPool.name": {"machines"},

		"networkSpec.vnet.cidrBlocks[]": {"10.0.0.0/8", "172.16.0.0/16", "10.1.0.0/33"},
		"networkSpec.vnet.tags":         {map[string]any{"a": "x"}},
		"networkSpec.subnets[].name":    {"more", "nodes", "control-plane", "again"},
		"networkSpec.subnets[].role":    {"node", "control-plane", "cluster"},
		"networkSpec.subnets[].cidrBlocks": {[]any{"10.3.0.0/16"}, []any{"10.1.0.0/16"}, []any{"10.1.128.0/17"},
			[]any{"10.4.0.0/24", "10.5.0.0/24"}},
		"networkSpec.subnets[].natGateway.name": {"out", "other", ""}, "networkSpec.subnets[].natGateway.ip.name": {"out", "other"},
		"networkSpec.subnets[].natGateway.ip.dnsName": {"a.example.com"},
		"networkSpec.subnets[].natGateway.ip.ipTags":  {[]any{}, []any{map[string]any{"type": "FirstPartyUsage", "tag": "/NonProd"}}},
		"networkSpec.subnets[].natGateway.zones":      {[]any{"1"}, []any{}},
		"networkSpec.subnets[].routeTable.name":       {"routes", "other"}, "networkSpec.subnets[].securityGroup.name": {"rules", "other"},
		"networkSpec.subnets[].securityGroup.tags":                             {map[string]any{"a": "x"}},
		"networkSpec.subnets[].securityGroup.securityRules[].name":             {"web", "ssh", "allow_ssh"},
		"networkSpec.subnets[].securityGroup.securityRules[].priority":         {int64(2300), int64(2301), int64(2201), int64(99)},
		"networkSpec.subnets[].securityGroup.securityRules[].description":      {"one", "two"},
		"networkSpec.subnets[].securityGroup.securityRules[].source":           {"*", "192.0.2.0/24"},
		"networkSpec.subnets[].securityGroup.securityRules[].sources":          {[]any{"192.0.2.0/24", "198.51.100.0/24"}, []any{}},
		"networkSpec.subnets[].securityGroup.securityRules[].sourcePorts":      {"*", "1024-65535"},
		"networkSpec.subnets[].securityGroup.securityRules[].destination":      {"*", "10.1.0.0/16"},
		"networkSpec.subnets[].securityGroup.securityRules[].destinationPorts": {"443", "22", "1-"},
		"networkSpec.subnets[].serviceEndpoints": {
			[]any{map[string]any{"service": "Microsoft.Storage", "locations": []any{"*"}}},
			[]any{map[string]any{"service": "Microsoft.Storage", "locations": []any{"*"}},
				map[string]any{"service": "Microsoft.Sql", "locations": []any{"eastus"}}}, []any{},
		},
		"networkSpec.additionalAPIServerLBPorts[].name":           {"rke2", "second"},
		"networkSpec.additionalAPIServerLBPorts[].port":           {int64(9345), int64(9346), int64(6443)},
		"networkSpec.apiServerLB.name":                            {"api", "c1-public-lb"},
		"networkSpec.apiServerLB.frontendIPs[].name":              {"front", "c1-public-lb-frontEnd"},
		"networkSpec.apiServerLB.frontendIPs[].privateIP":         {"10.0.0.100", "10.0.0.101"},
		"networkSpec.apiServerLB.frontendIPs[].publicIP.name":     {"pip-c1-apiserver", "front"},
		"networkSpec.apiServerLB.frontendIPs[].publicIP.dnsName":  {"c1-api.eastus.cloudapp.azure.com"},
		"networkSpec.apiServerLB.frontendIPs[].publicIP.ipTags":   nil,
		"networkSpec.nodeOutboundLB.frontendIPs":                  nil,
		"networkSpec.nodeOutboundLB.frontendIPsCount":             {int64(1), int64(2), int64(3), int64(0)},
		"networkSpec.nodeOutboundLB.idleTimeoutInMinutes":         {int64(4), int64(30), int64(3)},
		"networkSpec.controlPlaneOutboundLB.frontendIPs":          nil,
		"networkSpec.controlPlaneOutboundLB.frontendIPsCount":     {int64(1), int64(2), int64(3)},
		"networkSpec.controlPlaneOutboundLB.idleTimeoutInMinutes": {int64(4), int64(30)},
		"networkSpec.privateDNSZoneName":                          {"c1.example.com", "other.example.com"},
		"bastionSpec.azureBastion.name":                           {"c1-azure-bastion", "other"},
		"bastionSpec.azureBastion.publicIP.name":                  {"c1-azure-bastion-pip"},
		"bastionSpec.azureBastion.publicIP.dnsName":               nil,
	}}},
	objects: []object{{name: "c1", kind: "AzureCluster", base: map[string]any{
		"subscriptionID": server.DefaultSubscription, "location": "eastus", "resourceGroup": "c1", "controlPlaneEnabled": true,
		"identityRef": map[string]any{"apiVersion": infrav1.GroupVersion.String(), "kind": "AzureClusterIdentity", "name": harness.IdentityName},
		"networkSpec": map[string]any{"subnets": []any{
			map[string]any{"name": "control-plane", "role": "control-plane", "cidrBlocks": []any{"10.0.0.0/16"}},
			map[string]any{"name": "nodes", "role": "node", "cidrBlocks": []any{"10.1.0.0/16"}},
		}},
	}}},
	cluster: "c1",
	create: func(w *world, admitted map[string]client.Object) {
		w.CreateCluster(admitted["c1"].(*infrav1.AzureCluster))
	},
	excused: []excuse{
		{reason: "a defaulted name is in the spec, and stays when the name that it derives from changes",
			difference: regexp.MustCompile(`/loadBalancers/.*-outboundBackendPool is (missing|too much)$`)},
	},
}
