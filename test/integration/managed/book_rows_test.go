package managed_test

// row has the needs and the expected result of a snippet.
type row struct {
	// bring prepares the resources that users bring; nil for none.
	bring bring
	// group is the resource group of the cluster; the flavor's is called as the cluster.
	group string
	// preview has the cluster and its pools read by the preview api-version.
	preview bool
	// cluster are values of the managed cluster by dotted path, pools those of the agent pools by name.
	cluster values
	pools   map[string]values
	// others are values of other resources by ID from resourceGroups/ on.
	others map[string]values
	// untouched means that the brought resource matches the manifest, and is never written to.
	untouched bool
}

// values are the values that Azure shows, by dotted path.
type values map[string]string

const (
	kubeletIdentity = "/subscriptions/00000000-0000-0000-0000-000000000001/" + sharedIdentities + "kubelet"
	privateZone     = "/subscriptions/00000000-0000-0000-0000-000000000001/" + sharedNetworking + "privateDnsZones/privatelink.eastus.azmk8s.io"
	sharedSubnets   = "/subscriptions/00000000-0000-0000-0000-000000000001/" + networkGroupTypes + "virtualNetworks/shared/subnets/"
)

// pool1 are values of the flavor's user pool.
func pool1(v values) map[string]values { return map[string]values{"pool1": v} }

// rows are by page and heading.
var rows = map[string]row{
	"features/Version": {cluster: values{"properties.currentKubernetesVersion": "1.33.4"}, pools: map[string]values{
		"pool0": {"properties.currentOrchestratorVersion": "1.33.4"}, "pool1": {"properties.currentOrchestratorVersion": "1.33.2"},
	}},
	"features/Tier":            {cluster: values{"sku.tier": "Standard", "sku.name": "Base"}},
	"features/Upgrade channel": {cluster: values{"properties.autoUpgradeProfile.upgradeChannel": "patch"}},
	"features/Resource names and DNS prefix": {group: "team-a", cluster: values{
		"properties.nodeResourceGroup": "team-a-nodes", "properties.dnsPrefix": "team-a-production",
	}},
	"features/Tags of the cluster": {cluster: values{"tags.costCenter": "4711", "tags.environment": "production"}, others: map[string]values{
		"resourceGroups/c1": {"tags.costCenter": "4711"},
		"resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1": {"tags.costCenter": "4711"},
	}},
	"features/Subscription, region and sovereign cloud": {cluster: values{"location": "westeurope"}},

	"features/Azure CNI": {cluster: values{
		"properties.networkProfile.networkPlugin": "azure", "properties.networkProfile.networkPolicy": "azure",
		"properties.networkProfile.networkPluginMode": "",
	}},
	"features/Azure CNI Overlay": {cluster: values{
		"properties.networkProfile.networkPluginMode": "overlay", "properties.networkProfile.podCidr": "10.128.0.0/14",
	}},
	"features/Migrate from kubenet": {cluster: values{
		"properties.networkProfile.networkPlugin": "azure", "properties.networkProfile.networkPluginMode": "overlay",
	}},
	"features/Azure CNI Powered by Cilium": {cluster: values{
		"properties.networkProfile.networkDataplane": "cilium", "properties.networkProfile.networkPolicy": "cilium",
	}},
	"features/Calico":             {cluster: values{"properties.networkProfile.networkPolicy": "calico"}},
	"features/Kubenet":            {cluster: values{"properties.networkProfile.networkPlugin": "kubenet"}},
	"features/Bring your own CNI": {cluster: values{"properties.networkProfile.networkPlugin": "none"}},
	"features/Service CIDR": {cluster: values{
		"properties.networkProfile.serviceCidr": "172.16.0.0/16", "properties.networkProfile.dnsServiceIP": "172.16.1.10",
	}},
	"features/CIDR blocks of the virtual network": {others: map[string]values{
		"resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/production":               {"properties.addressSpace.addressPrefixes.0": "10.20.0.0/16"},
		"resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/production/subnets/nodes": {"properties.addressPrefix": "10.20.0.0/20"},
	}},
	"features/Existing virtual network": {
		bring: createNetwork, untouched: true,
		pools:  map[string]values{"pool0": {"properties.vnetSubnetID": sharedSubnets + "nodes"}},
		others: map[string]values{networkGroupTypes + "virtualNetworks/shared": {"tags.team": "network"}},
	},
	"features/Subnet per node pool": {
		bring: createNetwork, untouched: true,
		pools: map[string]values{"pool0": {"properties.vnetSubnetID": sharedSubnets + "nodes"},
			"pool1": {"properties.vnetSubnetID": sharedSubnets + "batch"}},
	},
	"features/Service endpoints": {others: map[string]values{
		"resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/production/subnets/nodes": {
			"properties.serviceEndpoints.0.service": "Microsoft.Sql", "properties.serviceEndpoints.1.service": "Microsoft.Storage",
			"properties.serviceEndpoints.1.locations.1": "westus",
		},
	}},
	"features/Private endpoints": {bring: prepareAll(endpoints, approve), others: map[string]values{
		"resourceGroups/c1/providers/Microsoft.Network/privateEndpoints/registry": {
			"properties.customNetworkInterfaceName": "registry-nic", "properties.privateLinkServiceConnections.0.properties.groupIds.0": "registry",
		},
		"resourceGroups/c1/providers/Microsoft.Network/privateEndpoints/partner": {
			"properties.ipConfigurations.0.properties.privateIPAddress":                  "10.240.250.10",
			"properties.manualPrivateLinkServiceConnections.0.properties.requestMessage": "The cluster of team A asks for access.",
		},
	}},

	"features/Load balancer": {cluster: values{
		"properties.networkProfile.outboundType": "loadBalancer", "properties.networkProfile.loadBalancerSku": "standard",
		"properties.networkProfile.loadBalancerProfile.managedOutboundIPs.count": "2",
		"properties.networkProfile.loadBalancerProfile.allocatedOutboundPorts":   "8000",
		"properties.networkProfile.loadBalancerProfile.idleTimeoutInMinutes":     "10",
	}},
	"features/Existing public IP addresses": {bring: publicIP("egress"), cluster: values{
		"properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs.0.id": "/subscriptions/00000000-0000-0000-0000-000000000001/" + sharedNetworking + "publicIPAddresses/egress",
	}},
	"features/Existing public IP prefix": {bring: publicPrefix("egress"), cluster: values{
		"properties.networkProfile.loadBalancerProfile.outboundIPPrefixes.publicIPPrefixes.0.id": "/subscriptions/00000000-0000-0000-0000-000000000001/" + sharedNetworking + "publicIPPrefixes/egress",
	}},
	"features/Managed NAT gateway": {cluster: values{
		"properties.networkProfile.outboundType":                                     "managedNATGateway",
		"properties.networkProfile.natGatewayProfile.managedOutboundIPProfile.count": "2",
	}},
	"features/Existing NAT gateway": {bring: natGateway, untouched: true,
		cluster: values{"properties.networkProfile.outboundType": "userAssignedNATGateway"}},
	"features/User-defined routes": {bring: firewall, untouched: true,
		cluster: values{"properties.networkProfile.outboundType": "userDefinedRouting"}},

	"features/System-assigned identity": {cluster: values{"identity.type": "SystemAssigned"}},
	"features/User-assigned identity":   {bring: createOperator("cluster"), cluster: values{"identity.type": "UserAssigned"}},
	"features/Kubelet identity": {bring: prepareAll(createIdentity("kubelet"), createOperator("cluster")), cluster: values{
		"properties.identityProfile.kubeletidentity.resourceId": kubeletIdentity,
	}},
	"features/Entra ID": {cluster: values{
		"properties.aadProfile.managed": "true", "properties.aadProfile.enableAzureRBAC": "true",
		"properties.aadProfile.adminGroupObjectIDs.0": "5d24cf1c-0000-4000-8000-000000000001",
	}},
	"entra-kubernetes-rbac/How it works": {cluster: values{
		"properties.aadProfile.managed": "true", "properties.aadProfile.enableAzureRBAC": "false", "properties.enableRBAC": "true",
	}},
	"features/Disable local accounts":                 {cluster: values{"properties.disableLocalAccounts": "true"}},
	"features/Authorized IP ranges of the API server": {cluster: values{"properties.apiServerAccessProfile.authorizedIPRanges.1": "198.51.100.7/32"}},
	"features/OIDC issuer":                            {cluster: values{"properties.oidcIssuerProfile.enabled": "true"}},
	"features/Workload identity":                      {cluster: values{"properties.securityProfile.workloadIdentity.enabled": "true"}},
	"features/SSH key":                                {cluster: values{"properties.linuxProfile.adminUsername": "azureuser"}},

	"features/KMS etcd encryption": {bring: createOperator("cluster"), cluster: values{
		"properties.securityProfile.azureKeyVaultKms.enabled":               "true",
		"properties.securityProfile.azureKeyVaultKms.keyVaultNetworkAccess": "Public",
	}},
	"features/KMS etcd encryption with a private key vault": {bring: createOperator("cluster"), cluster: values{
		"properties.securityProfile.azureKeyVaultKms.keyVaultNetworkAccess": "Private",
		"properties.securityProfile.azureKeyVaultKms.keyVaultResourceId":    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/team-a",
	}},
	"features/Microsoft Defender": {cluster: values{"properties.securityProfile.defender.securityMonitoring.enabled": "true"}},
	"features/Image cleaner": {cluster: values{
		"properties.securityProfile.imageCleaner.enabled": "true", "properties.securityProfile.imageCleaner.intervalHours": "48",
	}},
	"features/HTTP proxy": {cluster: values{
		"properties.httpProxyConfig.httpProxy": "http://proxy.example.com:3128", "properties.httpProxyConfig.noProxy.3": ".example.com",
	}},

	"features/Add-ons": {cluster: values{
		"properties.addonProfiles.azurepolicy.enabled":                                      "true",
		"properties.addonProfiles.azureKeyvaultSecretsProvider.config.rotationPollInterval": "5m",
		"properties.addonProfiles.ingressApplicationGateway.enabled":                        "false",
	}},
	"features/Extensions": {others: map[string]values{
		"resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1/providers/Microsoft.KubernetesConfiguration/extensions/flux": {
			"properties.extensionType": "microsoft.flux", "properties.scope.cluster.releaseNamespace": "flux-system",
		},
	}},
	"features/Pin the version of an extension": {others: map[string]values{
		"resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1/providers/Microsoft.KubernetesConfiguration/extensions/dapr": {
			"properties.version": "1.14.4", "properties.autoUpgradeMinorVersion": "false", "properties.scope.namespace.targetNamespace": "dapr-apps",
		},
	}},
	"features/Extensions from Azure Marketplace": {others: map[string]values{
		"resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1/providers/Microsoft.KubernetesConfiguration/extensions/vendor": {
			"plan.name": "standard", "plan.publisher": "vendor",
		},
	}},
	"features/Fleet": {bring: fleet, others: map[string]values{
		sharedGroup + "/providers/Microsoft.ContainerService/fleets/fleet/members/team-a": {"properties.group": "canary"},
	}},

	"features/Multiple node pools": {pools: map[string]values{"batch": {"properties.vmSize": "Standard_D4s_v5",
		"properties.count": "1"}}},
	"features/Scale a node pool to zero": {pools: pool1(values{"properties.count": "0"})},
	"features/Managed OS disk": {pools: pool1(values{"properties.osDiskSizeGB": "256",
		"properties.osDiskType": "Managed"})},
	"features/Ephemeral OS disk": {pools: pool1(values{"properties.osDiskType": "Ephemeral",
		"properties.osDiskSizeGB": "100"})},
	"features/Kubelet disk type Temporary": {pools: pool1(values{"properties.kubeletDiskType": "Temporary"})},
	"features/Availability zones":          {pools: pool1(values{"properties.availabilityZones.2": "3"})},
	"features/Labels and taints": {pools: pool1(values{
		"properties.nodeLabels.team": "a", "properties.nodeTaints.0": "dedicated=batch:NoSchedule",
		"properties.nodeTaints.1": "slow=true:PreferNoSchedule",
	})},
	"features/Tags of a node pool":   {pools: pool1(values{"properties.tags.costCenter": "4712"})},
	"features/Maximum pods per node": {pools: pool1(values{"properties.maxPods": "50"})},
	"features/Spot node pools": {pools: pool1(values{
		"properties.scaleSetPriority": "Spot", "properties.spotMaxPrice": "0.05", "properties.maxCount": "10",
		"properties.nodeTaints.0": "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
	})},
	"features/Windows node pools": {pools: map[string]values{"win": {"properties.osType": "Windows"}}},
	"features/Node public IP addresses": {bring: publicPrefix("nodes"), pools: pool1(values{
		"properties.enableNodePublicIP":   "true",
		"properties.nodePublicIPPrefixID": "/subscriptions/00000000-0000-0000-0000-000000000001/" + sharedNetworking + "publicIPPrefixes/nodes",
	})},
	"features/Kubelet configuration": {pools: pool1(values{"properties.kubeletConfig.cpuManagerPolicy": "static",
		"properties.kubeletConfig.podMaxPids": "1024"})},
	"features/Linux OS configuration and sysctls": {pools: pool1(values{
		"properties.linuxOSConfig.swapFileSizeMB": "1500", "properties.linuxOSConfig.sysctls.netIpv4IpLocalPortRange": "32768 60999",
		"properties.linuxOSConfig.sysctls.netIpv4TcpTwReuse": "true",
	})},
	"features/Ultra disks":                {pools: pool1(values{"properties.enableUltraSSD": "true"})},
	"features/FIPS":                       {pools: pool1(values{"properties.enableFIPS": "true"})},
	"features/Encryption at host":         {pools: pool1(values{"properties.enableEncryptionAtHost": "true"})},
	"features/Scale-down mode Deallocate": {pools: pool1(values{"properties.scaleDownMode": "Deallocate"})},

	"features/Cluster autoscaler": {pools: pool1(values{"properties.enableAutoScaling": "true", "properties.minCount": "1",
		"properties.maxCount": "5"})},
	"features/Cluster autoscaler profile": {cluster: values{
		"properties.autoScalerProfile.expander": "least-waste", "properties.autoScalerProfile.scan-interval": "20s",
	}},

	"patches/Patches for AKS clusters": {
		cluster: values{"properties.autoUpgradeProfile.nodeOSUpgradeChannel": "NodeImage",
			"properties.storageProfile.blobCSIDriver.enabled": "true"},
		pools: pool1(values{"properties.osSKU": "AzureLinux", "properties.upgradeSettings.maxSurge": "33%"}),
	},
	"patches/Another api-version": {preview: true, cluster: values{"properties.ingressProfile.gatewayAPI.installation": "Standard"}},
	"patches/Preview features": {
		preview: true, cluster: values{"properties.enableNamespaceResources": "true"},
		pools: pool1(values{"properties.nodeInitializationTaints.0": "startup=pending:NoSchedule"}),
	},

	"private/Private DNS zone managed by AKS": {cluster: values{"properties.apiServerAccessProfile.privateDNSZone": "System",
		"properties.fqdn": ""}},
	"private/Public FQDN of a private cluster": {cluster: values{"properties.apiServerAccessProfile.enablePrivateClusterPublicFQDN": "true"}},
	"private/No private DNS zone":              {cluster: values{"properties.apiServerAccessProfile.privateDNSZone": "None"}},
	"private/Existing private DNS zone": {bring: prepareAll(createOperator("cluster"), zone),
		cluster: values{"properties.apiServerAccessProfile.privateDNSZone": privateZone}},
	"private/Custom FQDN subdomain": {bring: prepareAll(createOperator("cluster"), zone), cluster: values{
		"properties.fqdnSubdomain": "team-a", "properties.dnsPrefix": "",
	}},
	"private/API server VNet integration": {bring: prepareAll(createOperator("cluster"), createNetwork), cluster: values{
		"properties.apiServerAccessProfile.enableVnetIntegration": "true",
		"properties.apiServerAccessProfile.subnetId":              sharedSubnets + "api-server",
	}},
	"private/Disable az aks command invoke": {cluster: values{"properties.apiServerAccessProfile.disableRunCommand": "true"}},

	"upgrade/Upgrade the Kubernetes version": {cluster: values{"properties.currentKubernetesVersion": "1.34.1"}, pools: map[string]values{
		"pool0": {"properties.currentOrchestratorVersion": "1.34.1"}, "pool1": {"properties.currentOrchestratorVersion": "1.34.1"},
	}},
	"upgrade/Automatic upgrade channels":      {cluster: values{"properties.autoUpgradeProfile.upgradeChannel": "stable"}},
	"upgrade/Node image upgrades":             {cluster: values{"properties.autoUpgradeProfile.upgradeChannel": "node-image"}},
	"upgrade/Security patches of the node OS": {cluster: values{"properties.autoUpgradeProfile.nodeOSUpgradeChannel": "SecurityPatch"}},
	"upgrade/Surge and drain settings of node pools": {pools: pool1(values{
		"properties.upgradeSettings.maxSurge": "25%", "properties.upgradeSettings.undrainableNodeBehavior": "Cordon",
	})},
	"upgrade/Upgrades that a PodDisruptionBudget stops": {cluster: values{"properties.upgradeSettings.overrideSettings.forceUpgrade": "true"}},
	"upgrade/Node operating system":                     {pools: pool1(values{"properties.osSKU": "AzureLinux"})},
	"upgrade/Long-term support": {cluster: values{"sku.tier": "Premium", "properties.supportPlan": "AKSLongTermSupport",
		"properties.currentKubernetesVersion": "1.30.10"}},

	"adoption/Fields of the manifests": {
		bring: legacy, group: "legacy", untouched: true,
		cluster: values{"properties.nodeResourceGroup": "legacy-nodes", "tags.team": "legacy"},
		pools:   map[string]values{"nodepool1": {"properties.count": "2"}, "batch": {"properties.mode": "User"}},
	},
}
