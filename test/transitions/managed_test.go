package transitions_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// sshKey is a public key as the field has it, in base64.
const sshKey = "c3NoLWVkMjU1MTkgQUFBQUMzTnphQzFsWkRJMU5URTVBQUFBSUJ2VzNSa2dCbzZXb0hTNkx5c0ZvZ1lCMFQ1TWEwbk1uT3l5cG9Tc0ZtZ1AgYQ=="

// managed is an AKS cluster with two pools.
var managed = life{
	kinds: map[string]kind{
		"AzureManagedControlPlane": {plural: "azuremanagedcontrolplanes", hints: hints{
			// Fields that are refused because the cluster would be another one, or that need resources of other users
			// in Azure.
			"subscriptionID": nil, "location": nil, "resourceGroupName": nil, "identityRef": nil, "azureEnvironment": nil,
			"controlPlaneEndpoint": nil, "machineTemplate": nil,
			"fleetsMember": nil, "kubeletUserAssignedIdentity": nil, "identity.userAssignedIdentityResourceID": nil,
			"httpProxyConfig.trustedCa":       nil,
			"loadBalancerProfile.outboundIPs": nil, "loadBalancerProfile.outboundIPPrefixes": nil, "securityProfile.azureKeyVaultKms": nil,
			"virtualNetwork.subnet.privateEndpoints": nil,
			"extensions[].plan":                      nil, "extensions[].identity": nil, "extensions[].aksAssignedIdentityType": nil,

			"version":               {harness.ManagedVersion, "v1.34.2", "v1.32.5", "1.x"},
			"nodeResourceGroupName": {"nodes", "others"},
			"dnsPrefix":             {"aks1", "other"},
			"dnsServiceIP":          {"192.168.0.10", "192.168.0.20"},
			"sshPublicKey":          {sshKey, "no key"},
			"additionalTags": {map[string]any{"a": "x"}, map[string]any{"a": "y", "b": "z"}, map[string]any{"b": ""},
				map[string]any{}},
			"aadProfile.managed":                          {true},
			"aadProfile.adminGroupObjectIDs[]":            {"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"},
			"addonProfiles[].name":                        {"azurepolicy", "azureKeyvaultSecretsProvider"},
			"addonProfiles[].config":                      {map[string]any{"enableSecretRotation": "true"}, map[string]any{}},
			"apiServerAccessProfile.privateDNSZone":       {"System", "None"},
			"apiServerAccessProfile.authorizedIPRanges[]": {"192.0.2.0/24", "198.51.100.7/32", "here"},
			"autoscalerProfile.maxEmptyBulkDelete":        {"10", "5"}, "autoscalerProfile.newPodScaleUpDelay": {"0s", "10s"},
			"autoscalerProfile.scaleDownUtilizationThreshold": {"0.5", "0.7", "2"},
			"autoscalerProfile.maxTotalUnreadyPercentage":     {"45", "50", "101"},
			"httpProxyConfig.httpProxy":                       {"http://192.0.2.1:8080/", "http://192.0.2.2:8080/"},
			"httpProxyConfig.httpsProxy":                      {"https://192.0.2.1:8443/"}, "httpProxyConfig.noProxy[]": {"localhost", "10.0.0.0/8"},
			"securityProfile.defender.logAnalyticsWorkspaceResourceID": {
				"/subscriptions/" + server.DefaultSubscription + "/resourceGroups/logs/providers/Microsoft.OperationalInsights/workspaces/w1"},
			"virtualNetwork.name": {"net", "other"}, "virtualNetwork.resourceGroup": {"aks1"},
			"virtualNetwork.cidrBlock": {"10.0.0.0/8", "10.0.0.0/12"}, "virtualNetwork.subnet.cidrBlock": {"10.240.0.0/16", "10.1.0.0/16"},
			"virtualNetwork.subnet.name": {"aks1", "other"},
			"virtualNetwork.subnet.serviceEndpoints": {
				[]any{map[string]any{"service": "Microsoft.Storage", "locations": []any{"*"}}},
				[]any{map[string]any{"service": "Microsoft.Storage", "locations": []any{"*"}},
					map[string]any{"service": "Microsoft.Sql", "locations": []any{"eastus"}}}, []any{},
			},
			"extensions[].name": {"ext", "two"}, "extensions[].extensionType": {"microsoft.flux", "Microsoft.Dapr"},
			"extensions[].releaseTrain": {"Stable"}, "extensions[].version": {"1.0.0", "1.1.0"},
			"asoManagedClusterPatches[]": {`{"spec":{"storageProfile":{"blobCSIDriver":{"enabled":true}}}}`,
				`{"spec":{"storageProfile":{"snapshotController":{"enabled":false}}}}`, `{"spec":{"tags":{"p":"q"}}}`, `{"spec":{"nothing":1}}`},
		}},
		"AzureManagedMachinePool": {plural: "azuremanagedmachinepools", hints: hints{
			"name": nil, "providerIDList": nil, "nodePublicIPPrefixID": nil,

			"sku":                                  {"Standard_D2s_v3", "Standard_D4s_v3", "none"},
			"additionalTags":                       {map[string]any{"a": "x"}, map[string]any{"a": "y", "b": "z"}, map[string]any{}},
			"availabilityZones":                    {[]any{"1"}, []any{"1", "2", "3"}, []any{}},
			"subnetName":                           {"aks1", "other"},
			"spotMaxPrice":                         {"-1", "0.5"},
			"taints[].key":                         {"dedicated", "b"},
			"maxPods":                              {int64(30), int64(110), int64(5)},
			"osDiskSizeGB":                         {int64(64), int64(128), int64(4096)},
			"kubeletConfig.cpuCfsQuotaPeriod":      {"100ms", "200ms", "1h"},
			"kubeletConfig.allowedUnsafeSysctls[]": {"kernel.msg*", "net.*", "other"},
			"linuxOSConfig.sysctls.netIpv4IPLocalPortRange": {"1024 60999", "32768 65000", "a"},
			"asoManagedClustersAgentPoolPatches[]": {`{"spec":{"upgradeSettings":{"maxSurge":"33%"}}}`, `{"spec":{"tags":{"p":"q"}}}`,
				`{"spec":{"nothing":1}}`},
		}},
	},
	objects: []object{
		{name: "aks1", kind: "AzureManagedControlPlane", base: map[string]any{
			"subscriptionID": server.DefaultSubscription, "location": "eastus", "resourceGroupName": "aks1", "version": harness.ManagedVersion,
			"identityRef": map[string]any{"apiVersion": infrav1.GroupVersion.String(), "kind": "AzureClusterIdentity", "name": harness.IdentityName},
		}},
		{name: "aks1-pool0", kind: "AzureManagedMachinePool", base: map[string]any{"name": "pool0", "mode": "System", "sku": "Standard_D2s_v3"}},
		{name: "aks1-pool1", kind: "AzureManagedMachinePool", base: map[string]any{"name": "pool1", "mode": "User", "sku": "Standard_D2s_v3"},
			comes: true},
		{name: "aks1-pool2", kind: "AzureManagedMachinePool", base: map[string]any{"name": "pool2", "mode": "User", "sku": "Standard_D4s_v3"},
			comes: true, late: true},
	},
	excused: []excuse{
		{reason: "the resources of nodes are AKS's own: they come and go with the nodes, and keep their first settings",
			difference: regexp.MustCompile(`^(?i:resourceGroups)/MC_[^/]*/providers/`)},
		{reason: "-1 is AKS's default of spotMaxPrice (armcontainerservice.ManagedClusterAgentPoolProfileProperties)",
			difference: regexp.MustCompile(`\.spotMaxPrice: -1 is missing$`)},
		{reason: "0 is AKS's default (armcontainerservice.ManagedClusterLoadBalancerProfile)",
			difference: regexp.MustCompile(`\.allocatedOutboundPorts: 0 is too much$`)},
		{reason: "Regular is AKS's default (armcontainerservice.ManagedClusterAgentPoolProfileProperties)",
			difference: regexp.MustCompile(`\.scaleSetPriority: Regular is missing$`)},
		{reason: "the simulator leaves the profile of the load balancer when egress goes another way; Azure's behaviour is not documented",
			difference: regexp.MustCompile(`\.loadBalancerProfile\.(backendPoolType|managedOutboundIPs\.count): \S+ is too much$`),
			where:      regexp.MustCompile(`\.outboundType: (managed|userAssigned)NATGateway$`)},
		{reason: "the settings of an add-on that is off are left to it",
			difference: regexp.MustCompile(`\.addonProfiles\.azureKeyvaultSecretsProvider\.config\.\w+: \w+ is too much$`),
			where:      regexp.MustCompile(`\.addonProfiles\.azureKeyvaultSecretsProvider\.enabled: false$`)},
		{reason: "a channel is turned off by the word; without one there is none either (armcontainerservice.UpgradeChannel)",
			difference: regexp.MustCompile(`\.upgradeChannel: none is too much$`)},
		{reason: "without managed, of which the webhook warns, there is nothing of Microsoft Entra ID to turn on",
			difference: regexp.MustCompile(`\.aadProfile\.tenantID: # is missing$`)},
		{reason: "the simulator does not make the nodes of a pool anew", difference: regexp.MustCompile(`\.nodeImageVersion: AKS`)},
		{reason: "ranges and pods per node have defaults that depend on networkPluginMode, and cannot change when overlay is turned on later",
			difference: regexp.MustCompile(`\.(addressPrefixes\.0|addressPrefix|maxPods): `)},
	},
	cluster: "aks1",
	create: func(w *world, admitted map[string]client.Object) {
		var pools []harness.ManagedPool
		for _, name := range slices.Sorted(maps.Keys(admitted)) {
			if pool, is := admitted[name].(*infrav1.AzureManagedMachinePool); is {
				pools = append(pools, managedPool(pool))
			}
		}
		w.CreateManagedCluster(admitted["aks1"].(*infrav1.AzureManagedControlPlane), pools...)
	},
	add: func(w *world, admitted client.Object) {
		w.CreateManagedPool("aks1", managedPool(admitted.(*infrav1.AzureManagedMachinePool)))
	},
	remove: func(w *world, name string) bool {
		for other, spec := range w.manifests {
			if other != name && spec["mode"] == "System" {
				pool, machinePool := w.readStored(name), virtual.MachinePool(name)
				w.DeleteObjects(machinePool, pool)
				w.waitUntilGone(pool)
				w.RemoveFinalizers(machinePool)
				return true
			}
		}
		return false // The webhook keeps the last system pool.
	},
}

// managedPool returns a pool as it is admitted.
func managedPool(pool *infrav1.AzureManagedMachinePool) harness.ManagedPool {
	return harness.ManagedPool{Name: strings.TrimPrefix(pool.Name, "aks1-"), Replicas: 1, Change: func(p *infrav1.AzureManagedMachinePool) {
		p.Spec, p.Annotations = pool.Spec, pool.Annotations
	}}
}

func (l *life) newObject(kind string) client.Object {
	switch kind {
	case "AzureCluster":
		return &infrav1.AzureCluster{}
	case "AzureMachine":
		return &infrav1.AzureMachine{}
	case "AzureMachinePool":
		return &infrav1.AzureMachinePool{}
	case "AzureASOManagedCluster":
		return &infrav1.AzureASOManagedCluster{}
	case "AzureASOManagedControlPlane":
		return &infrav1.AzureASOManagedControlPlane{}
	case "AzureASOManagedMachinePool":
		return &infrav1.AzureASOManagedMachinePool{}
	case "AzureManagedControlPlane":
		return &infrav1.AzureManagedControlPlane{}
	case "AzureManagedMachinePool":
		return &infrav1.AzureManagedMachinePool{}
	}
	return nil
}
