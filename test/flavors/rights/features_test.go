package rights_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// feature is a feature set, for which users choose a role.
type feature struct {
	// description is that of the role.
	description string
	// with are the roles of which one is assigned with this role. It is empty for roles that have all actions of their clusters.
	with []string
	// stories are lives of clusters, each from nothing to nothing.
	stories map[string]func(*harness.Stage)
	// beyond is the feature set whose stories see what happens without the actions that both have.
	beyond string
	// also are actions that its stories take only after an earlier failure, with their purpose.
	also map[string]string
	// unnamed are actions that no condition names when they are missing, with the reason.
	unnamed map[string]string
}

// operations are actions that it takes to ask for the URL of an operation. The resource itself is looked at, too, and mostly tells
// first that the operation is over, so no story can count on being held up without them; where one is, its condition names the action.
var operations = []string{
	"Microsoft.Compute/locations/DiskOperations/read", "Microsoft.Compute/locations/operations/read",
	"Microsoft.ContainerService/locations/operations/read", "Microsoft.KubernetesConfiguration/extensions/operations/read",
	"Microsoft.Network/locations/operations/read", "Microsoft.Network/privateDnsOperationStatuses/read",
	"Microsoft.Resources/subscriptions/operationresults/read",
}

// syncActions are the actions of syncs of objects in order, which come later than stories last. Without them syncs read
// more.
var syncActions = []string{"Microsoft.Resources/subscriptions/resources/read"}

// children are types that are seen in the documents of their parents, and by themselves when those have changed since they were read, which
// is a matter of time: a role with an action on a resource has its read, and the provider works without it where it is refused.
var children = []string{
	"Microsoft.ContainerService/managedClusters/agentPools", "Microsoft.Network/loadBalancers/inboundNatRules",
	"Microsoft.Network/virtualNetworks/subnets", "Microsoft.Network/virtualNetworks/virtualNetworkPeerings",
}

// entra has users sign in to an AKS cluster with Entra ID, so that there is a kubeconfig for them.
var entra = map[string]any{"managed": true, "adminGroupObjectIDs": []any{"00000000-0000-4000-8000-000000000001"}}

var features = map[string]feature{
	"self-managed": {
		unnamed: map[string]string{
			"Microsoft.Resources/subscriptions/locations/read": "the provider works without it, but then no condition reports beforehand " +
				"that a region does not exist",
			"Microsoft.ManagedIdentity/userAssignedIdentities/read": "it is asked for the azure.json of templates, which have no conditions; an " +
				"event of the template names it",
		},
		description: "Self-managed clusters with their own network, or with their own subnets in an existing network. " +
			"Resource groups exist, or the provider creates and deletes them.",
		stories: map[string]func(*harness.Stage){
			"own group": func(s *harness.Stage) { selfManaged(s, renderObjects(s, "cluster-template.yaml", nil)) },
			// Without zones there are availability sets.
			"brought group without zones": func(s *harness.Stage) {
				createGroup(s, "brought")
				selfManaged(s, withMachines(renderObjects(s, "cluster-template.yaml",
					map[string]string{"AZURE_RESOURCE_GROUP": "brought", "AZURE_LOCATION": "westus"}), map[string]any{
					"allocatePublicIP": true,
					"vmExtensions":     []any{map[string]any{"name": "CustomScript", "publisher": "Microsoft.Azure.Extensions", "version": "2.1"}},
				}))
			},
			"own subnet in a brought network": func(s *harness.Stage) {
				createGroup(s, "brought")
				s.Azure.PutNetwork("shared-network", "shared-vnet", "10.0.0.0/8", map[string]string{"control-planes": "10.0.0.0/24"})
				selfManaged(s, withNetwork(renderObjects(s, "cluster-template.yaml", inGroup("brought")), map[string]any{
					"vnet": map[string]any{"resourceGroup": "shared-network", "name": "shared-vnet"},
					"subnets": []any{map[string]any{"name": "control-planes", "role": "control-plane"},
						map[string]any{"name": "nodes", "role": "node", "cidrBlocks": []any{"10.0.1.0/24"}}},
				}))
			},
		},
	},
	"self-managed-brought-machine-resources": {
		beyond: "self-managed",
		also: map[string]string{"Microsoft.Network/loadBalancers/inboundNatRules/read": "whether the rule of a control-plane machine " +
			"exists, after Azure refused the machine"},
		with:        []string{"self-managed", "self-managed-brought-network"},
		description: "Self-managed clusters whose machines use existing images, disk encryption sets and reserved capacity.",
		stories: map[string]func(*harness.Stage){
			"brought": func(s *harness.Stage) {
				flavors.CreateBroughtResources(s)
				compute := "/subscriptions/" + s.Azure.SubscriptionID + "/resourceGroups/%s/providers/Microsoft.Compute/"
				set := map[string]any{"storageAccountType": "Premium_LRS",
					"diskEncryptionSet": map[string]any{"id": fmt.Sprintf(compute, "keys") + "diskEncryptionSets/nodes"}}
				objects := renderObjects(s, "cluster-template.yaml", nil)
				for _, object := range objects {
					if object.GetKind() == "AzureMachineTemplate" && object.GetName() == "c1-md-0" {
						withMachines([]*unstructured.Unstructured{object},
							map[string]any{"capacityReservationGroupID": fmt.Sprintf(compute, "capacity") + "capacityReservationGroups/nodes"})
					}
				}
				selfManaged(s, withMachines(objects, map[string]any{
					"image": map[string]any{"computeGallery": map[string]any{"subscriptionID": s.Azure.SubscriptionID, "resourceGroup": "images",
						"gallery": "nodes", "name": "ubuntu-2404", "version": "1.34.2"}},
					"osDisk": map[string]any{"osType": "Linux", "diskSizeGB": int64(128), "managedDisk": set},
				}))
			},
		},
	},
	"self-managed-brought-network": {
		beyond:      "self-managed",
		description: "Self-managed clusters in an existing virtual network. The provider does not change the network.",
		stories: map[string]func(*harness.Stage){
			"brought network": func(s *harness.Stage) {
				createGroup(s, "brought")
				s.Azure.PutNetwork("shared-network", "shared-vnet", "10.0.0.0/8",
					map[string]string{"control-planes": "10.0.0.0/24", "nodes": "10.0.1.0/24"})
				selfManaged(s, withNetwork(renderObjects(s, "cluster-template.yaml", inGroup("brought")), map[string]any{
					"vnet":    map[string]any{"resourceGroup": "shared-network", "name": "shared-vnet"},
					"subnets": []any{map[string]any{"name": "control-planes", "role": "control-plane"}, map[string]any{"name": "nodes", "role": "node"}},
				}))
			},
		},
	},
	"self-managed-private": {
		beyond: "self-managed",
		also: map[string]string{
			"Microsoft.Network/loadBalancers/inboundNatRules/read": "whether a rule exists, when the load balancer has changed since it was read"},
		with:        []string{"self-managed", "self-managed-brought-network"},
		description: "Self-managed clusters with an internal API server: private DNS zone, peerings and a bastion host.",
		stories: map[string]func(*harness.Stage){
			"private": func(s *harness.Stage) {
				createGroup(s, "brought")
				s.Azure.PutNetwork("hub", "hub-vnet", "172.20.0.0/16", map[string]string{"services": "172.20.0.0/24"})
				selfManaged(s, withNetwork(renderObjects(s, "cluster-template-private.yaml", inGroup("brought")), map[string]any{
					"vnet": map[string]any{"name": "c1-vnet", "peerings": []any{map[string]any{"resourceGroup": "hub", "remoteVnetName": "hub-vnet"}}},
				}))
			},
		},
	},
	"self-managed-machine-pools": {
		beyond: "self-managed",
		also: map[string]string{
			"Microsoft.Network/loadBalancers/read": "whether the load balancer exists, in reconciliations after the one that created it"},
		with:        []string{"self-managed", "self-managed-brought-network"},
		description: "Self-managed clusters with machine pools: scale sets with uniform and flexible orchestration.",
		stories: map[string]func(*harness.Stage){
			"uniform":  func(s *harness.Stage) { playPool(s, infrav1.UniformOrchestration) },
			"flexible": func(s *harness.Stage) { playPool(s, infrav1.FlexibleOrchestration) },
		},
	},
	"self-managed-machine-identities": {
		beyond:      "self-managed",
		with:        []string{"self-managed", "self-managed-brought-network"},
		description: "Self-managed clusters whose machines have system-assigned identities, to which the provider assigns roles.",
		stories: map[string]func(*harness.Stage){
			"system-assigned": func(s *harness.Stage) {
				selfManaged(s, renderObjects(s, "cluster-template-system-assigned-identity.yaml", nil))
			},
		},
	},
	"aks": {
		unnamed: map[string]string{
			"Microsoft.Resources/subscriptions/locations/read": "the provider works without it, but then no condition reports beforehand that a " +
				"region does not exist",
			"Microsoft.ContainerService/locations/kubernetesVersions/read": "a version that AKS does not offer is reported only when Azure refuses the " +
				"cluster",
		},
		also:        map[string]string{"Microsoft.Compute/skus/read": "whether the VM size is why Azure refused a pool"},
		description: "AKS clusters with their own network, in existing resource groups or in groups that the provider creates and deletes.",
		stories: map[string]func(*harness.Stage){
			"own group": func(s *harness.Stage) { playAKSCluster(s, renderObjects(s, "cluster-template-aks.yaml", nil)) },
			"brought group": func(s *harness.Stage) {
				createGroup(s, "brought")
				playAKSCluster(s, withControlPlane(renderObjects(s, "cluster-template-aks.yaml", inGroup("brought")), map[string]any{"aadProfile": entra}))
			},
		},
	},
	"aks-brought-network": {
		also:        map[string]string{"Microsoft.Compute/skus/read": "whether the VM size is why Azure refused a pool"},
		beyond:      "aks",
		description: "AKS clusters in an existing virtual network and with existing identities. The provider does not change the network and the identities.",
		stories: map[string]func(*harness.Stage){
			"brought network": func(s *harness.Stage) {
				createGroup(s, "brought")
				s.Azure.PutNetwork("shared-network", "shared", "10.30.0.0/16", map[string]string{"nodes": "10.30.0.0/20"})
				playAKSCluster(s, withControlPlane(renderObjects(s, "cluster-template-aks.yaml", inGroup("brought")), map[string]any{
					"aadProfile": entra,
					"virtualNetwork": map[string]any{"resourceGroup": "shared-network", "name": "shared", "cidrBlock": "10.30.0.0/16",
						"subnet": map[string]any{"name": "nodes", "cidrBlock": "10.30.0.0/20"}},
					"identity": map[string]any{"type": "UserAssigned",
						"userAssignedIdentityResourceID": "/subscriptions/" + s.Azure.SubscriptionID + "/" + flavors.OwnIdentity},
				}))
			},
		},
	},
	"aks-add-ons": {
		also:        map[string]string{"Microsoft.Compute/skus/read": "whether the VM size is why Azure refused a pool"},
		beyond:      "aks",
		with:        []string{"aks", "aks-brought-network"},
		description: "AKS clusters with extensions, private endpoints, membership in a fleet, maintenance windows, and the state in Azure Resource Health.",
		stories: map[string]func(*harness.Stage){
			"maintenance windows": func(s *harness.Stage) {
				playResourceManifests(s, renderObjects(s, "cluster-template-aks-aso-maintenance.yaml",
					map[string]string{"ASO_CREDENTIAL_SECRET_NAME": harness.OperatorSecret, "KUBERNETES_VERSION": harness.ManagedVersion}))
			},
			"add-ons": func(s *harness.Stage) {
				createGroup(s, "shared")
				s.Azure.PutResource("resourceGroups/shared/providers/Microsoft.ContainerService/fleets/fleet", "2025-03-01",
					map[string]any{"location": "eastus", "properties": map[string]any{}})
				s.Azure.PutResource("resourceGroups/shared/providers/Microsoft.Network/applicationSecurityGroups/endpoints", "2024-05-01",
					map[string]any{"location": "eastus"})
				addOns(s, withControlPlane(renderObjects(s, "cluster-template-aks.yaml", nil), map[string]any{
					"aadProfile": entra,
					"extensions": []any{map[string]any{"name": "flux", "extensionType": "microsoft.flux", "releaseTrain": "Stable",
						"autoUpgradeMinorVersion": true, "scope": map[string]any{"scopeType": "Cluster", "releaseNamespace": "flux-system"}}},
					"fleetsMember": map[string]any{"name": "team-a", "group": "canary", "managerName": "fleet", "managerResourceGroup": "shared"},
					"virtualNetwork": map[string]any{"name": "production", "cidrBlock": "10.0.0.0/8", "subnet": map[string]any{
						"name": "nodes", "cidrBlock": "10.240.0.0/16", "privateEndpoints": []any{map[string]any{
							"name": "registry", "location": "eastus",
							"applicationSecurityGroups": []any{"/subscriptions/" + s.Azure.SubscriptionID + "/resourceGroups/shared/providers/Microsoft.Network/applicationSecurityGroups/endpoints"},
							"privateLinkServiceConnections": []any{map[string]any{"name": "registry",
								"privateLinkServiceID": "/subscriptions/" + s.Azure.SubscriptionID + "/resourceGroups/shared/providers/Microsoft.Network/privateLinkServices/registry", "groupIDs": []any{"registry"}}},
						}},
					}},
				}))
			},
		},
	},
}

// newStage returns a stage in which the provider may do nothing yet.
func newStage(t *testing.T) *harness.Stage {
	t.Helper()
	flavors.InstallDefinitions(t, environment.Config)
	return harness.NewGuardedStage(t, environment)
}

// createGroup makes a resource group as a user does.
func createGroup(stage *harness.Stage, group string) {
	stage.T.Helper()
	stage.Azure.PutResource("resourceGroups/"+group, "2021-04-01", map[string]any{"location": "eastus"})
}

func inGroup(group string) map[string]string { return map[string]string{"AZURE_RESOURCE_GROUP": group} }

// renderObjects returns the objects of a template.
func renderObjects(stage *harness.Stage, template string, variables map[string]string) []*unstructured.Unstructured {
	t := stage.T.(*testing.T)
	t.Helper()
	all := flavors.TemplateVariables(map[string]string{"WORKER_MACHINE_COUNT": "1"})
	if template == "cluster-template-aks.yaml" {
		all = flavors.TemplateVariables(map[string]string{"KUBERNETES_VERSION": harness.ManagedVersion})
	}
	for name, value := range variables {
		all[name] = value
	}
	objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, template, all))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// withNetwork puts fields into the network of the AzureCluster.
func withNetwork(objects []*unstructured.Unstructured, fields map[string]any) []*unstructured.Unstructured {
	return withFields(objects, "AzureCluster", fields, "spec", "networkSpec")
}

// withControlPlane puts fields into the AzureManagedControlPlane.
func withControlPlane(objects []*unstructured.Unstructured, fields map[string]any) []*unstructured.Unstructured {
	return withFields(objects, "AzureManagedControlPlane", fields, "spec")
}

// withMachines puts fields into all AzureMachineTemplates.
func withMachines(objects []*unstructured.Unstructured, fields map[string]any) []*unstructured.Unstructured {
	return withFields(objects, "AzureMachineTemplate", fields, "spec", "template", "spec")
}

func withFields(objects []*unstructured.Unstructured, kind string, fields map[string]any, path ...string) []*unstructured.Unstructured {
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		for name, value := range fields {
			// The paths lead through objects only, so this cannot fail.
			_ = unstructured.SetNestedField(object.Object, value, append(path[:len(path):len(path)], name)...)
		}
	}
	return objects
}
