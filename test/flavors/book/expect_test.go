package book_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// versions are API versions by the provider's name.
var versions = map[string]string{
	"Microsoft.Network/privateDnsZones": "2024-06-01",
	"Microsoft.Network":                 "2024-05-01",
	"Microsoft.Compute":                 "2024-07-01",
	"Microsoft.Authorization":           "2022-04-01",
}

// expectations are values in Azure that a manifest asks for: by the name of its AzureCluster or AzureMachineTemplate, by
// resource below the cluster's resource group (or below the subscription when it begins with /), by path. A machine has the
// template's name and a number. "-" is a resource that must not exist.
var expectations = map[string]map[string]map[string]string{
	// The load balancer of the API server.
	"public": {"Microsoft.Network/loadBalancers/public-public-lb": {"properties.loadBalancingRules.0.properties.idleTimeoutInMinutes": "15"}},
	"brought": {
		"Microsoft.Network/loadBalancers/brought-public-lb":                                 {"properties.frontendIPConfigurations.0.name": "api"},
		"Microsoft.Network/publicIPAddresses/pip-brought-apiserver":                         {"-": ""},
		"/resourceGroups/brought/providers/Microsoft.Network/publicIPAddresses/brought-api": {"tags": ""},
	},
	"internal": {"Microsoft.Network/loadBalancers/internal-internal-lb": {"properties.frontendIPConfigurations.0.properties.privateIPAddress": "172.16.0.100"}},
	"ports": {"Microsoft.Network/loadBalancers/ports-public-lb": {
		"properties.loadBalancingRules.0.properties.frontendPort": "443", "properties.loadBalancingRules.1.properties.frontendPort": "8132",
		"properties.loadBalancingRules.2.properties.frontendPort": "9345",
	}},
	"chosen": {
		"Microsoft.Network/loadBalancers/chosen-api": {"properties.frontendIPConfigurations.0.name": "front",
			"properties.backendAddressPools.0.name": "control-planes"},
		"Microsoft.Network/loadBalancers/chosen-out": {"properties.frontendIPConfigurations.0.name": "chosen-out-frontEnd",
			"properties.backendAddressPools.0.name": "nodes"},
	},
	// Outbound connections.
	"nat": {
		"Microsoft.Network/natGateways/nat-1":          {"zones.0": "1", "properties.publicIpAddresses.1.id": ""},
		"Microsoft.Network/publicIPAddresses/nat-1-ip": {"properties.publicIPAllocationMethod": "Static"},
	},
	"loadbalanced": {"Microsoft.Network/loadBalancers/loadbalanced": {
		"properties.frontendIPConfigurations.2.name":                 "loadbalanced-frontEnd-3",
		"properties.outboundRules.0.properties.idleTimeoutInMinutes": "10",
	}},
	"private-out": {"Microsoft.Network/loadBalancers/private-out-outbound-lb": {"properties.frontendIPConfigurations.1.name": "private-out-outbound-lb-frontEnd-2"}},
	// Networks.
	"ranges": {
		"Microsoft.Network/virtualNetworks/my-vnet":              {"properties.addressSpace.addressPrefixes.1": "172.17.0.0/16"},
		"Microsoft.Network/networkSecurityGroups/control-planes": {"properties.securityRules.0.name": "allow_ssh"},
		"Microsoft.Network/routeTables/nodes":                    {"location": "eastus"},
	},
	"guest": {"Microsoft.Network/networkSecurityGroups/guest-node-nsg": {"-": ""},
		"Microsoft.Network/natGateways/guest-node-natgw-1": {"-": ""}},
	"lodger": {
		"/resourceGroups/shared-network/providers/Microsoft.Network/networkSecurityGroups/lodger-node-nsg": {"location": "eastus"},
		"Microsoft.Network/natGateways/lodger-node-natgw-1":                                                {"-": ""},
		"Microsoft.Network/natGateways/lodger-node-natgw-2":                                                {"sku.name": "Standard"},
		"/resourceGroups/shared-network/providers/Microsoft.Network/virtualNetworks/shared-vnet":           {"tags.team": "network"},
		"Microsoft.Network/networkInterfaces/lodger-md-0-00000-nic": {
			"properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools.0.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lodger/providers/Microsoft.Network/loadBalancers/lodger/backendAddressPools/lodger-outboundBackendPool",
		},
		"Microsoft.Network/networkInterfaces/lodger-md-1-00000-nic": {"properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools.0.id": ""},
	},
	"elsewhere-md-0": {"Microsoft.Network/networkInterfaces/elsewhere-md-0-00000-nic": {
		"properties.ipConfigurations.0.properties.subnet.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/elsewhere-network/providers/Microsoft.Network/virtualNetworks/elsewhere-vnet/subnets/elsewhere-node-subnet",
	}},
	"elsewhere": {"/resourceGroups/elsewhere-network/providers/Microsoft.Network/virtualNetworks/elsewhere-vnet": {"properties.addressSpace.addressPrefixes.0": "10.0.0.0/8"}},
	"subnets":   {"Microsoft.Network/virtualNetworks/subnets-vnet/subnets/back": {"properties.addressPrefix": "10.2.0.0/16"}},
	"single":    {"Microsoft.Network/networkSecurityGroups/single-nsg": {"location": "eastus"}},
	"resolved":  {"Microsoft.Network/networkInterfaces/resolved-00000-nic": {"properties.dnsSettings.dnsServers.1": "10.0.0.54"}},
	"peered": {
		"Microsoft.Network/virtualNetworks/peered-vnet/virtualNetworkPeerings/peered-vnet-To-hub-vnet":                            {"properties.allowForwardedTraffic": "true"},
		"/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-vnet/virtualNetworkPeerings/hub-vnet-To-peered-vnet": {"properties.allowGatewayTransit": "true"},
	},
	"endpoints": {
		"Microsoft.Network/privateEndpoints/secrets": {"properties.customNetworkInterfaceName": "secrets-nic",
			"properties.ipConfigurations.0.properties.memberName":       "default",
			"properties.ipConfigurations.0.properties.privateIPAddress": "10.1.0.10"},
		"Microsoft.Network/privateEndpoints/database": {"properties.manualPrivateLinkServiceConnections.0.properties.requestMessage": "nodes of the cluster endpoints"},
	},
	"services": {"Microsoft.Network/virtualNetworks/services-vnet/subnets/nodes": {"properties.serviceEndpoints.0.service": "Microsoft.KeyVault", "properties.serviceEndpoints.1.locations.1": "westus"}},
	"rules": {
		"Microsoft.Network/networkSecurityGroups/rules-controlplane-nsg": {"properties.securityRules.2.name": ""},
		"Microsoft.Network/networkSecurityGroups/rules-node-nsg": {
			"tags.owner": "security", "properties.securityRules.0.properties.access": "Deny",
			"properties.securityRules.0.properties.direction": "Outbound",
		},
	},
	"routes": {
		"Microsoft.Network/virtualNetworks/routes-vnet/subnets/nodes-2": {"properties.routeTable.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/routes/providers/Microsoft.Network/routeTables/pods"},
		"Microsoft.Network/routeTables/routes-node-routetable":          {"-": ""},
	},
	"guarded": {
		"/resourceGroups/guarded/providers/Microsoft.Network/virtualNetworks/guarded-vnet/subnets/AzureBastionSubnet": {
			"properties.networkSecurityGroup.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/guarded/providers/Microsoft.Network/networkSecurityGroups/guarded-bastion-nsg",
		},
		"Microsoft.Network/networkSecurityGroups/guarded-bastion-nsg": {"properties.securityRules.10.properties.destinationPortRange": "80"},
		"Microsoft.Network/bastionHosts/guarded-azure-bastion":        {"properties.provisioningState": "Succeeded"},
	},
	"bastion": {"Microsoft.Network/bastionHosts/bastion-azure-bastion": {"sku.name": "Basic"}},
	"tunnel":  {"Microsoft.Network/bastionHosts/tunnel-bastion": {"sku.name": "Standard", "properties.enableTunneling": "true"}},
	"named":   {"/resourceGroups/dns/providers/Microsoft.Network/privateDnsZones/kube.example.com/A/apiserver": {"properties.aRecords.0.ipv4Address": "10.0.0.100"}},
	"unnamed": {"Microsoft.Network/privateDnsZones/unnamed.capz.io": {"-": ""}},
	"sovereign": {
		"Microsoft.Network/publicIPAddresses/pip-sovereign-apiserver": {"properties.dnsSettings.fqdn": "sovereign-fa73a51c.usgovvirginia.cloudapp.usgovcloudapi.net"},
	},
	"edge": {"Microsoft.Network/virtualNetworks/edge-vnet": {"extendedLocation.name": "losangeles"}},
	"tagged": {
		"Microsoft.Network/virtualNetworks/tagged-vnet":       {"tags.costCenter": "4711"},
		"Microsoft.Compute/virtualMachines/tagged-md-0-00000": {"tags.costCenter": "4712", "tags.environment": "test"},
	},
	"routed": {"Microsoft.Network/publicIPAddresses/routed-api": {"properties.ipTags.0.ipTagType": "RoutingPreference"}},
	"hosted": {"Microsoft.Network/loadBalancers/hosted-public-lb": {"-": ""}},
	// Machines.
	"gallery": {"Microsoft.Compute/virtualMachines/gallery-00000": {"properties.storageProfile.imageReference.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/images/providers/Microsoft.Compute/galleries/nodes/images/ubuntu-2404/versions/1.34.2"}},
	"shared":  {"Microsoft.Compute/virtualMachines/shared-00000": {"properties.storageProfile.imageReference.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/images/providers/Microsoft.Compute/galleries/nodes/images/ubuntu-2404/versions/1.34.2"}},
	"c1-control-plane-v1-34-2": {"Microsoft.Compute/virtualMachines/c1-control-plane-v1-34-2-00000": {
		"properties.storageProfile.imageReference.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/images/providers/Microsoft.Compute/galleries/nodes/images/ubuntu-2404/versions/1.34.2"}},
	"c1-md-0-v1-34-2": {"Microsoft.Compute/virtualMachines/c1-md-0-v1-34-2-00000": {
		"properties.storageProfile.imageReference.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/images/providers/Microsoft.Compute/galleries/nodes/images/ubuntu-2404/versions/1.34.2"}},
	"planned": {"Microsoft.Compute/virtualMachines/planned-00000": {"plan.product": "flatcar-container-linux-free",
		"plan.name": "stable"}},
	"older":      {"Microsoft.Network/networkInterfaces/older-00000-nic": {"properties.enableAcceleratedNetworking": "false"}},
	"sealed-key": {"Microsoft.Compute/virtualMachines/sealed-key-00000": {"properties.storageProfile.osDisk.managedDisk.securityProfile.diskEncryptionSet.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/keys/providers/Microsoft.Compute/diskEncryptionSets/confidential"}},
	"marketplace": {"Microsoft.Compute/virtualMachines/marketplace-00000": {"plan.product": "kubernetes-nodes",
		"properties.storageProfile.imageReference.sku": "ubuntu-2404"}},
	"fast": {"Microsoft.Compute/virtualMachines/fast-00000": {"properties.additionalCapabilities.ultraSSDEnabled": "true",
		"properties.storageProfile.dataDisks.0.caching": "None"}},
	"local":        {"Microsoft.Compute/virtualMachines/local-00000": {"properties.storageProfile.osDisk.diffDiskSettings.placement": "CacheDisk"}},
	"sealed":       {"Microsoft.Compute/virtualMachines/sealed-00000": {"properties.securityProfile.encryptionAtHost": "true"}},
	"trusted":      {"Microsoft.Compute/virtualMachines/trusted-00000": {"properties.securityProfile.securityType": "TrustedLaunch"}},
	"confidential": {"Microsoft.Compute/virtualMachines/confidential-00000": {"properties.storageProfile.osDisk.managedDisk.securityProfile.securityEncryptionType": "VMGuestStateOnly"}},
	"sealed-disk":  {"Microsoft.Compute/virtualMachines/sealed-disk-00000": {"properties.storageProfile.osDisk.managedDisk.securityProfile.securityEncryptionType": "DiskWithVMGuestState"}},
	"cheap": {"Microsoft.Compute/virtualMachines/cheap-00000": {"properties.billingProfile.maxPrice": "0.04",
		"properties.evictionPolicy": "Delete"}},
	"gpu":      {"Microsoft.Compute/virtualMachines/gpu-00000": {"properties.hardwareProfile.vmSize": "Standard_NC4as_T4_v3"}},
	"assigned": {"Microsoft.Compute/virtualMachines/assigned-00000": {"identity.type": "UserAssigned"}},
	"own":      {"Microsoft.Compute/virtualMachines/own-00000": {"identity.type": "SystemAssigned"}},
	"extended": {"Microsoft.Compute/virtualMachines/extended-00000/extensions/CustomScript": {"properties.protectedSettings": ""},
		"Microsoft.Compute/virtualMachines/extended-00000/extensions/DependencyAgentLinux": {"properties.settings.enableAMA": "true"}},
	"watched":   {"Microsoft.Compute/virtualMachines/watched-00000/extensions/CAPZ.Linux.Bootstrapping": {"properties.publisher": "Microsoft.Azure.ContainerUpstream"}},
	"plain":     {"Microsoft.Compute/virtualMachines/plain-00000": {"properties.osProfile.allowExtensionOperations": "false"}},
	"diagnosed": {"Microsoft.Compute/virtualMachines/diagnosed-00000": {"properties.diagnosticsProfile.bootDiagnostics.storageUri": "https://bootlogs.blob.core.windows.net"}},
	"quiet":     {"Microsoft.Compute/virtualMachines/quiet-00000": {"properties.diagnosticsProfile.bootDiagnostics.enabled": "false"}},
	"open":      {"Microsoft.Network/publicIPAddresses/pip-open-00000": {"sku.name": "Standard"}},
	"flexible":  {"Microsoft.Compute/virtualMachines/flexible-00000": {"properties.virtualMachineScaleSet.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/brought/providers/Microsoft.Compute/virtualMachineScaleSets/placement"}},
	"reserved":  {"Microsoft.Compute/virtualMachines/reserved-00000": {"properties.capacityReservation.capacityReservationGroup.id": "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/capacity/providers/Microsoft.Compute/capacityReservationGroups/nodes"}},
}

// checkExpectations checks the results of the objects of a manifest.
func checkExpectations(stage *harness.Stage, manifest string) {
	stage.T.Helper()
	objects, err := flavors.DecodeManifest([]byte(manifest))
	if err != nil {
		stage.T.Fatal(err)
	}
	group := "c1"
	for _, object := range objects {
		if object.GetKind() != "AzureCluster" {
			continue
		}
		if group = flavors.FieldString(object, "spec.resourceGroup"); group == "" {
			group = object.GetName()
		}
	}
	for _, row := range listRows(objects) {
		for id, values := range expectations[row] {
			path, ok := strings.CutPrefix(id, "/")
			if !ok {
				path = "resourceGroups/" + group + "/providers/" + id
			}
			status, resource := stage.Azure.GetResource(path, apiVersionOf(path))
			if _, ok := values["-"]; ok {
				if status != 404 {
					stage.T.Errorf("%s: %s exists", row, path)
				}
				continue
			}
			if status != 200 {
				stage.T.Errorf("%s: %s: status %d", row, path, status)
				continue
			}
			for at, want := range values {
				if got := flavors.ValueText(resource, at); !strings.EqualFold(got, want) {
					stage.T.Errorf("%s: %s of %s is %q, want %q", row, at, path, got, want)
				}
			}
		}
	}
}

// listRows returns the rows of expectations that the objects of a manifest may have.
func listRows(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		if kind := object.GetKind(); kind == "AzureCluster" || kind == "AzureMachineTemplate" {
			names = append(names, object.GetName())
		}
	}
	return names
}

func apiVersionOf(path string) string {
	_, resource, _ := strings.Cut(path, "/providers/")
	parts := strings.Split(resource, "/")
	if version, ok := versions[parts[0]+"/"+parts[1]]; ok {
		return version
	}
	return versions[parts[0]]
}

// shownManifests returns the objects of each manifest of the pages for which keep returns true.
func shownManifests(t *testing.T, keep func(page string) bool) (manifests [][]*unstructured.Unstructured) {
	t.Helper()
	for _, page := range flavors.PageNames(t, flavors.SelfManaged) {
		if !keep(page) {
			continue
		}
		for _, block := range flavors.PageBlocks(t, flavors.SelfManaged, page) {
			if block.Language != "yaml" {
				continue
			}
			objects, err := flavors.DecodeManifest([]byte(block.Text))
			if err != nil {
				t.Fatalf("%s: %v", block.Place, err)
			}
			manifests = append(manifests, objects)
		}
	}
	return manifests
}

// shownObjects returns the objects in all manifests of the book.
func shownObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return slices.Concat(shownManifests(t, func(string) bool { return true })...)
}

// TestExpectationsAreUsed fails for a row that TestBook does not check: no manifest has such an object, or the manifests that have it are
// accepted and nothing is created in Azure for them.
func TestExpectationsAreUsed(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{}
	for _, objects := range shownManifests(t, func(page string) bool { return page != otherGates }) {
		if !flavors.IsReconciled(objects) {
			continue
		}
		for _, row := range listRows(objects) {
			checked[row] = true
		}
	}
	for row := range expectations {
		if !checked[row] {
			t.Errorf("TestBook does not check the row %s: no manifest that is applied to Azure has such an AzureCluster or AzureMachineTemplate", row)
		}
	}
}
