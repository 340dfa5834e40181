package tenancy_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	owner      = "providers/Microsoft.Authorization/roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
	assignment = "00000000-0000-0000-0000-00000000000a"
	// administrators is a group of Entra ID.
	administrators = "00000000-0000-0000-0000-0000000000aa"
	theirGroup     = "resourceGroups/theirs"
)

var (
	admin  = foreignPath("Microsoft.ManagedIdentity/userAssignedIdentities", "admin")
	secret = foreignPath("Microsoft.Compute/disks", "secret")
)

func systemAssigned(w *world, scope string) infrav1.ManagedIdentities {
	return infrav1.ManagedIdentities{Identity: infrav1.VMIdentitySystemAssigned,
		SystemAssignedIdentityRole: &infrav1.SystemAssignedIdentityRole{Name: assignment, Scope: strings.TrimSuffix(w.expandID(scope), "/") + "/",
			DefinitionID: w.expandID(owner)}}
}

func userAssigned(id string) infrav1.ManagedIdentities {
	return infrav1.ManagedIdentities{Identity: infrav1.VMIdentityUserAssigned,
		UserAssignedIdentities: []infrav1.UserAssignedIdentity{{ProviderID: "azure://" + id}}}
}

// inMachine tries something with a machine of a cluster that is in place.
func inMachine(change func(w *world, spec *infrav1.AzureMachineSpec)) func(w *world) {
	return func(w *world) {
		w.createNetwork(nil)
		w.waitProvisioned()
		w.createMachine(func(m *infrav1.AzureMachine) { change(w, &m.Spec) })
	}
}

func inPool(change func(w *world, spec *infrav1.AzureMachinePoolSpec)) func(w *world) {
	return func(w *world) {
		w.createNetwork(nil)
		w.waitProvisioned()
		w.createPool(func(p *infrav1.AzureMachinePool) { change(w, &p.Spec) })
	}
}

func inNetwork(change func(w *world, spec *infrav1.AzureClusterSpec)) func(w *world) {
	return func(w *world) { w.createNetwork(func(c *infrav1.AzureCluster) { change(w, &c.Spec) }) }
}

func inControlPlane(change func(w *world, spec *infrav1.AzureManagedControlPlaneSpec)) func(w *world) {
	return func(w *world) {
		w.createAKSCluster(func(c *infrav1.AzureManagedControlPlane) { change(w, &c.Spec) }, nil)
	}
}

func inManagedPool(patch func(w *world) string) func(w *world) {
	return func(w *world) {
		w.createAKSCluster(nil, func(p *infrav1.AzureManagedMachinePool) {
			p.Spec.ASOManagedClustersAgentPoolPatches = []string{patch(w)}
		})
	}
}

// inManifests adds a document to the AzureASOManagedCluster.
func inManifests(text func(w *world) string) func(w *world) {
	return func(w *world) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources, w.ParseManifest(text(w)))
		})
	}
}

// replaceManifests changes the documents of an object.
func replaceManifests(of func(*harness.ASOCluster) *infrav1.AzureASOManagedResources, from string,
	to func(w *world) string) func(w *world) {
	return func(w *world) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			resources := of(c).Resources
			resources[0].Raw = []byte(strings.Replace(string(resources[0].Raw), from, to(w), 1))
		})
	}
}

// tries are what tenants try with an identity that is lent, by the fields and documents of each kind.
var tries = map[string]struct {
	kind string
	do   func(w *world)
	// field and message are in the status; no write request has wrote.
	field, message, wrote string
}{
	"machine/role on the subscription": {"AzureMachine",
		inMachine(func(w *world, s *infrav1.AzureMachineSpec) { s.ManagedIdentities = systemAssigned(w, "") }),
		"spec.systemAssignedIdentityRole.scope", "would give rights outside", "m1"},
	"machine/role on a group": {"AzureMachine",
		inMachine(func(w *world, s *infrav1.AzureMachineSpec) { s.ManagedIdentities = systemAssigned(w, theirGroup) }),
		"spec.systemAssignedIdentityRole.scope", "would give rights outside", "m1"},
	"machine/identity": {"AzureMachine",
		inMachine(func(w *world, s *infrav1.AzureMachineSpec) { s.ManagedIdentities = userAssigned(w.expandID(admin)) }),
		"spec.userAssignedIdentities[0].providerID", "is not the Cluster's", "m1"},
	"machine/identity in other letters": {"AzureMachine", inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
		s.ManagedIdentities = userAssigned(strings.Replace(strings.ToUpper(w.expandID(admin)), "/SUBSCRIPTIONS", "/subscriptions", 1))
	}), "spec.userAssignedIdentities[0].providerID", "is not the Cluster's", "m1"},
	"machine/identity by dots": {"AzureMachine", inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
		s.ManagedIdentities = userAssigned(
			w.expandID("resourceGroups/c1/../theirs/providers/Microsoft.ManagedIdentity/userAssignedIdentities/admin"))
	}), "spec.userAssignedIdentities[0].providerID", "leads to another path", "m1"},
	"machine/image": {"AzureMachine", inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
		s.Image = &infrav1.Image{ID: new(w.expandID(foreignPath("Microsoft.Compute/images", "golden")))}
	}), "spec.image.id", "", "m1"},
	"machine/image by names": {"AzureMachine", inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
		s.Image = &infrav1.Image{ComputeGallery: &infrav1.AzureComputeGalleryImage{Gallery: "g", Name: "i", Version: "1.0.0",
			ResourceGroup: new("theirs"), SubscriptionID: &w.Azure.SubscriptionID}}
	}), "virtualMachines/m1", "imageReference.id", "virtualMachines/m1"},
	"machine/disk encryption set": {"AzureMachine", inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
		s.OSDisk.ManagedDisk.DiskEncryptionSet = &infrav1.DiskEncryptionSetParameters{
			ID: w.expandID(foreignPath("Microsoft.Compute/diskEncryptionSets", "e"))}
	}), "spec.osDisk.managedDisk.diskEncryptionSet.id", "", "m1"},

	"pool/role on the subscription": {"AzureMachinePool",
		inPool(func(w *world, s *infrav1.AzureMachinePoolSpec) { s.ManagedIdentities = systemAssigned(w, "") }),
		"spec.systemAssignedIdentityRole.scope", "would give rights outside", "/vms"},
	"pool/identity": {"AzureMachinePool",
		inPool(func(w *world, s *infrav1.AzureMachinePoolSpec) { s.ManagedIdentities = userAssigned(w.expandID(admin)) }),
		"spec.userAssignedIdentities[0].providerID", "is not the Cluster's", "/vms"},

	"cluster/group above": {"AzureCluster", inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) { s.ResourceGroup = ".." }),
		"spec.resourceGroup", "leads to another path", ""},
	"cluster/no group": {"AzureCluster", inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) { s.ResourceGroup = "." }),
		"spec.resourceGroup", "leads to another path", ""},
	"cluster/network above": {"AzureCluster",
		inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) { s.NetworkSpec.Vnet.ResourceGroup = ".." }),
		"spec.networkSpec.vnet.resourceGroup", "leads to another path", ""},
	"cluster/tag of another": {"AzureCluster", inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
		s.AdditionalTags = infrav1.Tags{infrav1.ClusterTagKey("victim"): "owned"}
	}), "spec.additionalTags", "marks the owner of a resource", ""},
	"cluster/peering": {"AzureCluster", inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
		s.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "theirs",
			RemoteVnetName: "hub"}}}
	}), "virtualNetworkPeerings/", "", "resourceGroups"},
	"cluster/zone": {"AzureCluster", inNetwork(func(_ *world, s *infrav1.AzureClusterSpec) {
		s.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
		s.NetworkSpec.PrivateDNSZoneName, s.NetworkSpec.PrivateDNSZoneResourceGroup = "corp.example", "theirs"
	}), "privateDnsZones/corp.example", "without the ownership tag", "corp.example"},
	"cluster/private endpoint": {"AzureCluster", inNetwork(func(w *world, s *infrav1.AzureClusterSpec) {
		s.NetworkSpec.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "n", Role: infrav1.SubnetNode,
			PrivateEndpoints: infrav1.PrivateEndpoints{{Name: "p",
				PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{
					{PrivateLinkServiceID: w.expandID(foreignPath("Microsoft.Storage/storageAccounts", "theirs")), GroupIDs: []string{"blob"}}}}}}}}
	}), "privateLinkServiceID", "", "privateEndpoints"},

	"AKS/kubelet identity": {"AzureManagedControlPlane", inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.KubeletUserAssignedIdentity = w.expandID(admin)
	}), "spec.kubeletUserAssignedIdentity", "is not the Cluster's", "managedClusters"},
	"AKS/identity": {"AzureManagedControlPlane", inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.Identity = &infrav1.Identity{Type: infrav1.ManagedControlPlaneIdentityTypeUserAssigned,
			UserAssignedIdentityResourceID: w.expandID(admin)}
	}), "spec.identity.userAssignedIdentityResourceID", "is not the Cluster's", "managedClusters"},
	"AKS/patch": {"AzureManagedControlPlane", inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.ASOManagedClusterPatches = []string{
			`{"spec": {"diskEncryptionSetReference": {"armId": "` + w.expandID(foreignPath("Microsoft.Compute/diskEncryptionSets", "e")) + `"}}}`}
	}), "spec.asoManagedClusterPatches[0]", "", "managedClusters"},
	"AKS/tag in a patch": {"AzureManagedControlPlane", inControlPlane(func(_ *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.ASOManagedClusterPatches = []string{`{"spec": {"tags": {"` + infrav1.OwnerTag + `": "default/victim/0"}}}`}
	}), "spec.asoManagedClusterPatches[0]", "marks the owner of a resource", "managedClusters"},
	"AKS/Secret in a patch": {"AzureManagedControlPlane", inControlPlane(func(_ *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.ASOManagedClusterPatches = []string{
			`{"spec": {"operatorSpec": {"secrets": {"adminCredentials": {"name": "../../default/secrets/x", "key": "value"}}}}}`}
	}), "spec.asoManagedClusterPatches[0]", "is not a valid name of a Secret", "managedClusters"},
	"AKS/fleet": {"AzureManagedControlPlane", inControlPlane(func(_ *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.FleetsMember = &infrav1.FleetsMember{Name: "m",
			FleetsMemberClassSpec: infrav1.FleetsMemberClassSpec{ManagerName: "f", ManagerResourceGroup: "theirs"}}
	}), "fleets/f", "", "fleets"},
	"AKS/group above": {"AzureManagedControlPlane",
		inControlPlane(func(_ *world, s *infrav1.AzureManagedControlPlaneSpec) { s.ResourceGroupName = ".." }),
		"spec.resourceGroupName", "leads to another path", ""},

	"AKS/token of the identity": {"AzureManagedControlPlane", inControlPlane(func(_ *world, s *infrav1.AzureManagedControlPlaneSpec) {
		s.AADProfile = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: []string{administrators}}
		s.DisableLocalAccounts = new(true)
	}), "NotAllowedByTenancy", "the token is not written into a Secret of this namespace", ""},

	"AKS pool/patch": {"AzureManagedControlPlane", inManagedPool(func(w *world) string {
		return `{"spec": {"proximityPlacementGroupReference": {"armId": "` + w.expandID(foreignPath("Microsoft.Compute/proximityPlacementGroups",
			"p")) + `"}}}`
	}), "managedClusters/k1", "proximityPlacementGroup", "managedClusters"},

	"documents/role definition": {"AzureASOManagedCluster", inManifests(func(w *world) string {
		return "apiVersion: authorization.azure.com/v1api20220401\nkind: RoleDefinition\nmetadata:\n  name: " +
			"00000000-0000-0000-0000-00000000000c\nspec:\n  owner: {group: resources.azure.com, kind: ResourceGroup, name: d1}\n  roleName: " +
			"all\n  type: CustomRole\n  assignableScopes: [" + strings.TrimSuffix(w.expandID(""), "/") + "]\n  permissions: [{actions: ['*']}]"
	}), "assignableScopes[0]", "", "roleDefinitions"},
	"documents/disk": {"AzureASOManagedCluster", inManifests(func(w *world) string {
		return "apiVersion: compute.azure.com/v1api20240302\nkind: Disk\nmetadata:\n  name: stolen\nspec:\n  location: eastus\n  owner: " +
			"{name: d1}\n  creationData: {createOption: Copy, sourceResourceReference: {armId: " + w.expandID(secret) + "}}"
	}), "spec.resources[1].spec.creationData.sourceResourceReference.armId", "is not the Cluster's", "disks/stolen"},
	"documents/snapshot": {"AzureASOManagedCluster", inManifests(func(w *world) string {
		return "apiVersion: compute.azure.com/v1api20240302\nkind: Snapshot\nmetadata:\n  name: stolen\nspec:\n  location: eastus\n  owner: " +
			"{name: d1}\n  creationData: {createOption: Copy, sourceResourceReference: {armId: " + w.expandID(secret) + "}}"
	}), "spec.resources[1].spec.creationData.sourceResourceReference.armId", "is not the Cluster's", "snapshots/stolen"},
	"documents/scale set": {"AzureASOManagedCluster", inManifests(func(w *world) string {
		return "apiVersion: compute.azure.com/v1api20220301\nkind: VirtualMachineScaleSet\nmetadata:\n  name: robots\nspec:\n  location: " +
			"eastus\n  owner: {name: d1}\n  sku: {name: Standard_D2s_v3, capacity: 1}\n  identity: {type: UserAssigned, userAssignedIdentities: " +
			"[{reference: {armId: " + w.expandID(admin) + "}}]}"
	}), "spec.resources[1].spec.identity.userAssignedIdentities[0].reference.armId", "is not the Cluster's", "robots"},
	"documents/DNS zone in a network": {"AzureASOManagedCluster", func(w *world) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources,
				w.ParseManifest("apiVersion: network.azure.com/v1api20240601\nkind: PrivateDnsZone\nmetadata:\n  name: corp.example\nspec:\n  "+
					"location: global\n  owner: {name: d1}"),
				w.ParseManifest("apiVersion: network.azure.com/v1api20240601\nkind: PrivateDnsZonesVirtualNetworkLink\nmetadata:\n  name: "+
					"l\nspec:\n  location: global\n  owner: {name: corp.example}\n  registrationEnabled: false\n  virtualNetwork: {reference: {armId: "+
					""+w.expandID(foreignPath("Microsoft.Network/virtualNetworks", "hub"))+"}}"))
		})
	}, "spec.resources[2].spec.virtualNetwork.reference.armId", "", "virtualNetworkLinks"},
	"documents/fleet member": {"AzureASOManagedCluster", func(w *world) {
		w.createASOCluster(func(c *harness.ASOCluster) {
			c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources,
				w.ParseManifest("apiVersion: containerservice.azure.com/v1api20250301\nkind: Fleet\nmetadata:\n  name: f\nspec:\n  location: "+
					"eastus\n  owner: {name: d1}"),
				w.ParseManifest("apiVersion: containerservice.azure.com/v1api20250301\nkind: FleetsMember\nmetadata:\n  name: m\nspec:\n  owner: "+
					"{name: f}\n  clusterResourceReference: {armId: "+w.expandID(foreignPath("Microsoft.ContainerService/managedClusters", "prod"))+"}"))
		})
	}, "spec.resources[2].spec.clusterResourceReference.armId", "", "members"},
	"documents/AKS identity": {"AzureASOManagedControlPlane",
		replaceManifests(func(c *harness.ASOCluster) *infrav1.AzureASOManagedResources {
			return &c.ControlPlane.Spec.AzureASOManagedResources
		}, `"identity":{"type":"SystemAssigned"}`, func(w *world) string {
			return `"identity":{"type":"UserAssigned","userAssignedIdentities":[{"reference":{"armId":"` + w.expandID(admin) + `"}}]}`
		}), "spec.resources[0].spec.identity.userAssignedIdentities[0].reference.armId", "is not the Cluster's", "managedClusters"},
	"documents/token of the identity": {"AzureASOManagedControlPlane",
		replaceManifests(func(c *harness.ASOCluster) *infrav1.AzureASOManagedResources {
			return &c.ControlPlane.Spec.AzureASOManagedResources
		}, `"identity":{"type":"SystemAssigned"}`, func(*world) string {
			return `"identity":{"type":"SystemAssigned"},"disableLocalAccounts":true,"aadProfile":{"managed":true,"adminGroupObjectIDs":["` +
				administrators + `"]}`
		}), "NotAllowedByTenancy", "the token is not written into a Secret of this namespace", ""},
}

// TestTries lets tenants try to reach resources of others with an identity that is lent to them; it expects that no such request is
// written.
func TestTries(t *testing.T) {
	for name, try := range tries {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.PutAsUser(foreignPath("Microsoft.Network/virtualNetworks", "hub"), "2024-05-01",
					map[string]any{"location": "eastus",
						"properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"172.16.0.0/16"}}}})
				ofOthers := func() []string {
					return slices.DeleteFunc(w.Azure.ListResources(), func(id string) bool { return !strings.Contains(id, "theirs") })
				}
				before, mark := ofOthers(), w.Azure.MarkRequests()
				w.startManager()
				try.do(w)
				w.waitStatusContains(try.kind, try.field, try.message)
				if diff := cmp.Diff(before, ofOthers()); diff != "" {
					t.Errorf("resources of others (-before +after):\n%s", diff)
				}
				w.checkNoToken()
				for _, request := range w.Azure.RequestsSince(mark) {
					if strings.Contains(request, "/../") || strings.Contains(request, "/./") || strings.Contains(request, "/.. ") {
						t.Errorf("a path that leads elsewhere was sent: %s", request)
					}
				}
				for _, request := range w.Azure.WritesSince(mark) {
					if try.wrote != "" && strings.Contains(request, try.wrote) || strings.Contains(request, "theirs") {
						t.Errorf("it was written: %s", request)
					}
				}
			})
		})
	}
}
