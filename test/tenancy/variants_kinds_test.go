package tenancy_test

import (
	"regexp"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// variant is an attempt of a tenant, with the expected text in the status of an object of the kind; nil is any refusal.
type variant struct {
	do      func(w *world)
	message *regexp.Regexp
}

var (
	marks = regexp.MustCompile(`(?i)"reason":"(InvalidConfiguration|NotSupported)","message":".*?tag`)
	scope = regexp.MustCompile(`would give rights outside`)
	named = regexp.MustCompile(`is not the Cluster's`)
	byURL = regexp.MustCompile(`in a form that does not show its owner`)
)

// vmRole returns a role for the identity of a VM, at a scope below the subscription.
func vmRole(at string) func(w *world) infrav1.ManagedIdentities {
	return func(w *world) infrav1.ManagedIdentities { return systemAssigned(w, at) }
}

func machineRole(of func(w *world) infrav1.ManagedIdentities) func(w *world) {
	return inMachine(func(w *world, s *infrav1.AzureMachineSpec) { s.ManagedIdentities = of(w) })
}

func poolRole(of func(w *world) infrav1.ManagedIdentities) func(w *world) {
	return inPool(func(w *world, s *infrav1.AzureMachinePoolSpec) { s.ManagedIdentities = of(w) })
}

func encryptionSet(w *world) *infrav1.DiskEncryptionSetParameters {
	return &infrav1.DiskEncryptionSetParameters{ID: w.expandID(foreignPath("Microsoft.Compute/diskEncryptionSets", "e"))}
}

func sharedImage(w *world) *infrav1.Image {
	return &infrav1.Image{SharedGallery: &infrav1.AzureSharedGalleryImage{SubscriptionID: w.Azure.SubscriptionID, ResourceGroup: "theirs",
		Gallery: "g", Name: "i", Version: "1.0.0"}}
}

func customDiagnostics() *infrav1.Diagnostics {
	return &infrav1.Diagnostics{Boot: &infrav1.BootDiagnostics{StorageAccountType: infrav1.UserManagedDiagnosticsStorage,
		UserManaged: &infrav1.UserManagedBootDiagnostics{StorageAccountURI: "https://theirs.blob.core.windows.net/"}}}
}

// inPatch has a patch of an AKS cluster name a resource of others by a field with a reference.
func inPatch(field, resourceType string) func(w *world) {
	return inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.ASOManagedClusterPatches = []string{strings.ReplaceAll(field, "@", quoteText(w.expandID(foreignPath(resourceType, "theirs"))))}
	})
}

func inPoolPatch(field, resourceType string) func(w *world) {
	return laterPool(func(w *world, p *infrav1.AzureManagedMachinePool) {
		p.Spec.ASOManagedClustersAgentPoolPatches = []string{strings.ReplaceAll(field, "@",
			quoteText(w.expandID(foreignPath(resourceType, "theirs"))))}
	})
}

// laterPool adds a pool to an AKS cluster that is in place. The first pools are made with their cluster.
func laterPool(change func(w *world, p *infrav1.AzureManagedMachinePool)) func(w *world) {
	return func(w *world) {
		w.createAKSCluster(nil, nil)
		w.waitReady("AzureManagedControlPlane")
		w.CreateManagedPool("k1", harness.ManagedPool{Name: "pool1", Mode: string(infrav1.NodePoolModeUser), Replicas: 1,
			Change: func(p *infrav1.AzureManagedMachinePool) { change(w, p) }})
	}
}

func addManifest(text string) func(w *world) {
	return inManifests(func(w *world) string {
		return strings.ReplaceAll(text, "SUBSCRIPTION", "/subscriptions/"+w.Azure.SubscriptionID)
	})
}

// variants are further tries of tenants by the fields of each kind.
var variants = map[string]map[string]variant{
	"AzureCluster": {
		"tag in other letters": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
			s.AdditionalTags = infrav1.Tags{strings.ToUpper(infrav1.ClusterTagKey("theirs")): "owned"}
		}), marks},
		"owner's tag in other letters": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
			s.AdditionalTags = infrav1.Tags{strings.ToUpper(infrav1.OwnerTag): "default/theirs/0"}
		}), marks},
		"peering in capitals": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
			s.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "THEIRS",
				RemoteVnetName: "HUB"}}}
		}), named},
		"peering of a group with a dot at the end": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
			s.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "theirs.",
				RemoteVnetName: "hub"}}}
		}), nil},
		"peering by dots in the name": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
			s.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "c1/../theirs",
				RemoteVnetName: "hub"}}}
		}), nil},
		"zone in capitals": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
			s.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
			s.NetworkSpec.PrivateDNSZoneName, s.NetworkSpec.PrivateDNSZoneResourceGroup = "CORP.example", "THEIRS"
		}), regexp.MustCompile(`without the ownership tag`)},
		"group in letters that look alike": {inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) { s.ResourceGroup = "\u212A1" }), nil},
	},
	"AzureMachine": {
		"role on a group in capitals":   {machineRole(vmRole("RESOURCEGROUPS/THEIRS")), scope},
		"role on a resource":            {machineRole(vmRole(secret)), scope},
		"role on the own group by dots": {machineRole(vmRole("resourceGroups/c1/../theirs")), nil},
		"identity beside one of its own": {machineRole(func(w *world) infrav1.ManagedIdentities {
			out := userAssigned(w.expandID("resourceGroups/c1/providers/Microsoft.ManagedIdentity/userAssignedIdentities/own"))
			out.UserAssignedIdentities = append(out.UserAssignedIdentities, infrav1.UserAssignedIdentity{ProviderID: w.expandID(admin)})
			return out
		}), named},
		"encryption of a data disk": {inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
			s.DataDisks = []infrav1.DataDisk{{NameSuffix: "d", DiskSizeGB: 8, Lun: new(int32(0)),
				ManagedDisk: &infrav1.ManagedDiskParameters{StorageAccountType: "Premium_LRS", DiskEncryptionSet: encryptionSet(w)}}}
		}), named},
		"image of a shared gallery": {inMachine(func(w *world, s *infrav1.AzureMachineSpec) { s.Image = sharedImage(w) }), named},
		"logs into an account":      {inMachine(func(_ *world, s *infrav1.AzureMachineSpec) { s.Diagnostics = customDiagnostics() }), byURL},
		"tag in other letters": {inMachine(func(_ *world, s *infrav1.AzureMachineSpec) {
			s.AdditionalTags = infrav1.Tags{strings.ToUpper(infrav1.ClusterTagKey("theirs")): "owned"}
		}), marks},
	},
	"AzureMachinePool": {
		"role on a group in capitals": {poolRole(vmRole("RESOURCEGROUPS/THEIRS")), scope},
		"role on a resource":          {poolRole(vmRole(secret)), scope},
		"encryption of the disk": {inPool(func(w *world, s *infrav1.AzureMachinePoolSpec) {
			s.Template.OSDisk.ManagedDisk.DiskEncryptionSet = encryptionSet(w)
		}), named},
		"image of a shared gallery": {inPool(func(w *world, s *infrav1.AzureMachinePoolSpec) { s.Template.Image = sharedImage(w) }), named},
		"logs into an account": {inPool(func(_ *world, s *infrav1.AzureMachinePoolSpec) { s.Template.Diagnostics = customDiagnostics() }),
			byURL},
		"tag in other letters": {inPool(func(_ *world, s *infrav1.AzureMachinePoolSpec) {
			s.AdditionalTags = infrav1.Tags{strings.ToUpper(infrav1.OwnerTag): "default/theirs/0"}
		}), marks},
	},
	"AzureManagedControlPlane": {
		"group in letters that look alike": {inControlPlane(func(_ *world,
			s *infrav1.AzureManagedControlPlaneSpec) {
			s.ResourceGroupName = "\u212A1"
		}), nil},
		"zone of the API server": {inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
			s.APIServerAccessProfile = &infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true),
				PrivateDNSZone: new(w.expandID(foreignPath("Microsoft.Network/privateDnsZones", "privatelink.eastus.azmk8s.io")))}
		}), named},
		"public address": {inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
			s.LoadBalancerProfile = &infrav1.LoadBalancerProfile{OutboundIPs: []string{w.expandID(foreignPath("Microsoft.Network/publicIPAddresses",
				"p"))}}
		}), named},
		"prefix of addresses": {inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
			s.LoadBalancerProfile = &infrav1.LoadBalancerProfile{
				OutboundIPPrefixes: []string{w.expandID(foreignPath("Microsoft.Network/publicIPPrefixes", "p"))}}
		}), named},
		"workspace of an add-on": {inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
			s.AddonProfiles = []infrav1.AddonProfile{{Name: "omsagent", Enabled: true,
				Config: map[string]string{"logAnalyticsWorkspaceResourceID": w.expandID(foreignPath("Microsoft.OperationalInsights/workspaces", "w"))}}}
		}), named},
		"node group above": {inControlPlane(func(_ *world,
			s *infrav1.AzureManagedControlPlaneSpec) {
			s.NodeResourceGroupName = "a/../theirs"
		}), nil},
		"tag in other letters in a patch": {inPatch(`{"spec": {"tags": {"`+strings.ToUpper(infrav1.ClusterTagKey("theirs"))+`": "owned"}}}`,
			"M/n"), marks},
		"encryption set by a patch": {inPatch(`{"spec": {"diskEncryptionSetReference": {"armId": @}}}`,
			"Microsoft.Compute/diskEncryptionSets"), named},
		"zone by a patch": {inPatch(`{"spec": {"ingressProfile": {"webAppRouting": {"enabled": true, "dnsZoneResourceReferences": [{"armId": @}]}}}}`, "Microsoft.Network/dnszones"), named},
		"parent by a patch": {inPatch(`{"spec": {"owner": {"armId": @}}}`, "Microsoft.Compute/disks"),
			regexp.MustCompile(`spec.asoManagedClusterPatches\[0\]`)},
		"name by a patch": {inPatch(`{"spec": {"azureName": "../theirs"}}`, "M/n"),
			regexp.MustCompile(`spec.asoManagedClusterPatches\[0\]`)},
	},
	"AzureManagedMachinePool": {
		"host group": {inPoolPatch(`{"spec": {"hostGroupReference": {"armId": @}}}`, "Microsoft.Compute/hostGroups"), named},
		"capacity": {inPoolPatch(`{"spec": {"capacityReservationGroupReference": {"armId": @}}}`,
			"Microsoft.Compute/capacityReservationGroups"), named},
		"snapshot": {inPoolPatch(`{"spec": {"creationData": {"sourceResourceReference": {"armId": @}}}}`,
			"Microsoft.ContainerService/snapshots"), named},
		"placement": {inPoolPatch(`{"spec": {"proximityPlacementGroupReference": {"armId": @}}}`,
			"Microsoft.Compute/proximityPlacementGroups"), named},
		"parent by a patch": {inPoolPatch(`{"spec": {"owner": {"armId": @}}}`, "Microsoft.ContainerService/managedClusters"),
			regexp.MustCompile(`spec.asoManagedClustersAgentPoolPatches\[0\]`)},
		"name by a patch": {inPoolPatch(`{"spec": {"azureName": "../theirs"}}`, "M/n"),
			regexp.MustCompile(`spec.asoManagedClustersAgentPoolPatches\[0\]`)},
	},
	"AzureASOManagedCluster": {
		"parent by ID": {addManifest("apiVersion: network.azure.com/v1api20240601\nkind: " +
			"PrivateDnsZonesARecord\nmetadata:\n  name: www\nspec:\n  owner: {armId: " +
			"SUBSCRIPTION/resourceGroups/theirs/providers/Microsoft.Network/privateDnsZones/corp.example}\n  ttl: 60\n  aRecords: " +
			"[{ipv4Address: 10.0.0.4}]"), nil},
		"parent by ID in capitals": {addManifest("apiVersion: network.azure.com/v1api20240601\nkind: " +
			"PrivateDnsZonesARecord\nmetadata:\n  name: www\nspec:\n  owner: {armId: " +
			"SUBSCRIPTION/RESOURCEGROUPS/THEIRS/providers/Microsoft.Network/privateDnsZones/corp.example}\n  ttl: 60\n  aRecords: " +
			"[{ipv4Address: 10.0.0.4}]"), nil},
		"name in Azure by dots": {addManifest("apiVersion: compute.azure.com/v1api20240302\nkind: Disk\nmetadata:\n  name: " +
			"d\nspec:\n  azureName: ../../theirs\n  location: eastus\n  owner: {name: d1}\n  creationData: {createOption: Empty}\n  diskSizeGB: " +
			"8"), regexp.MustCompile(`azureName`)},
		"name in Azure escaped": {addManifest("apiVersion: compute.azure.com/v1api20240302\nkind: Disk\nmetadata:\n  name: " +
			"d\nspec:\n  azureName: x%2f..%2ftheirs\n  location: eastus\n  owner: {name: d1}\n  creationData: {createOption: Empty}\n  " +
			"diskSizeGB: 8"), regexp.MustCompile(`azureName`)},
		"group in letters that look alike": {addManifest("apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata:\n  " +
			"name: k1\nspec:\n  azureName: \u212A1\n  location: eastus"), regexp.MustCompile(`azureName|another letter`)},
		"file by its URL": {addManifest("apiVersion: compute.azure.com/v1api20240302\nkind: Disk\nmetadata:\n  name: " +
			"d\nspec:\n  location: eastus\n  owner: {name: d1}\n  creationData: {createOption: Import, sourceUri: " +
			"'https://theirs.blob.core.windows.net/vhds/secret.vhd'}"), byURL},
		"tag in other letters": {addManifest("apiVersion: compute.azure.com/v1api20240302\nkind: Disk\nmetadata:\n  name: " +
			"d\nspec:\n  location: eastus\n  owner: {name: d1}\n  tags: {" + strings.ToUpper(
			infrav1.ClusterTagKey("theirs")) + ": owned}\n  creationData: {createOption: Empty}\n  diskSizeGB: 8"), marks},
	},
}
