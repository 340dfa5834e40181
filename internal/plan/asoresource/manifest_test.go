package asoresource

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

func toRawExtensions(t testing.TB, documents ...string) []runtime.RawExtension {
	t.Helper()
	var out []runtime.RawExtension
	for _, text := range documents {
		content, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, runtime.RawExtension{Raw: content})
	}
	return out
}

// newInput is that of the object "it" with these documents, in subscription s.
func newInput(t testing.TB, documents ...string) Input {
	t.Helper()
	read, errs := ReadManifests("it", toRawExtensions(t, documents...))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return Input{
		Cluster: "c1", Owner: &metav1.ObjectMeta{}, Object: &metav1.ObjectMeta{}, ObjectKey: "it", Set: NewSet("s", read, false),
		Facts: map[string]json.RawMessage{}, MachinePools: map[string]*clusterv1.MachinePool{},
	}
}

// replaceManifests gives the input other documents, and an identity of another namespace where bound is set.
func (in *Input) replaceManifests(bound bool, change func(documents []Manifest) []Manifest) {
	in.Set = NewSet(in.SubscriptionID(), change(in.Manifests()), bound)
}

// keepManifests changes nothing in documents.
func keepManifests(documents []Manifest) []Manifest { return documents }

const groupManifest = `{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: g}, spec: {location: eastus}}`

// TestIDs computes IDs by owners of all forms, and expects a refusal of owners that lead elsewhere.
func TestIDs(t *testing.T) {
	cluster := `{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {azureName: aks, owner: {name: g}}}`
	tests := map[string]struct {
		reason, document string
		bound            bool
		want             string
	}{
		"group": {"the subscription is the credential's", groupManifest, false, "/subscriptions/s/resourceGroups/g"},
		"name in Azure": {"azureName goes before the name", cluster, false,
			"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks"},
		"child": {"owners are found by the names of documents",
			`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedClustersAgentPool, metadata: {name: p}, spec: {owner: {name: mc}}}`,
			false, "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/p"},
		"extension": {"it is below any resource",
			`{apiVersion: kubernetesconfiguration.azure.com/v1api20230501, kind: Extension, metadata: {name: e}, spec: {owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}}}`, false, "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks/providers/Microsoft.KubernetesConfiguration/extensions/e"},
		"extension without a kind": {"the owner's kind is not known",
			`{apiVersion: kubernetesconfiguration.azure.com/v1api20230501, kind: Extension, metadata: {name: e}, spec: {owner: {name: mc}}}`, false,
			"spec.resources[2].spec.owner.kind: Required value"},
		"by ID": {"an owner need not be a document",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/other}}}`, false, "/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/natGateways/nat"},
		"ID of another type": {"a gateway is in a group",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v}}}`, false, "spec.resources[2].spec.owner.armId: Invalid value"},
		"ID elsewhere": {"the credential may reach further than its subscription",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/other/resourceGroups/g}}}`, false, "spec.resources[2].spec.owner.armId: Forbidden"},
		"subscription as the scope": {"a role on everything",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: r}, spec: {owner: {armId: /subscriptions/other}}}`, false, "spec.resources[2].spec.owner.armId: Forbidden"},
		"tenant's resource": {"an ID that ends with the subscription is above it",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: r}, spec: {owner: {armId: /providers/Microsoft.Management/managementGroups/mg/subscriptions/s}}}`, false, "spec.resources[2].spec.owner.armId: Forbidden"},
		"management group": {"a role on every subscription",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: r}, spec: {owner: {armId: /providers/Microsoft.Management/managementGroups/mg}}}`, false, "spec.resources[2].spec.owner.armId: Forbidden"},
		"escaped": {"Azure would read a slash",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/g%2f..%2fother}}}`, false, "spec.resources[2].spec.owner.armId: Invalid value"},
		"trailing slash": {"it is the same group",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/other/}}}`, false, "/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/natGateways/nat"},
		"other case": {"IDs have no case",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/OTHER/RESOURCEGROUPS/g}}}`, false, "spec.resources[2].spec.owner.armId: Forbidden"},
		"borrowed, other case": {"names have no case",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/S/RESOURCEGROUPS/OTHER/}}}`, true, "spec.resources[2].spec.owner.armId: Forbidden"},
		"borrowed, subscription": {"a role on everything",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: r}, spec: {owner: {armId: /subscriptions/s}}}`, true, "spec.resources[2].spec.owner.armId: Forbidden"},
		"up and away": {"Azure would follow it",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/g/../other}}}`, false, "spec.resources[2].spec.owner.armId: Invalid value"},
		"name that leads away": {"Azure would follow it",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {azureName: "nat/../../x", owner: {name: g}}}`,
			false, "spec.resources[2].spec.azureName: Invalid value"},
		"borrowed identity": {"another namespace's identity reaches resources of that namespace's tenants",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/other}}}`, true, "spec.resources[2].spec.owner.armId: Forbidden"},
		"borrowed identity at home": {"resources that the Cluster creates are its own",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: /subscriptions/s/resourceGroups/g}}}`, true, "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/natGateways/nat"},
		"borrowed identity, own role": {"an ID that only looks as if below",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: r}, spec: {owner: {armId: /subscriptions/s/resourceGroups/g-other}}}`, true, "spec.resources[2].spec.owner.armId: Forbidden"},
		"name of an assignment": {"Azure takes UUIDs only",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: pull}, spec: {owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}}}`, false, "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks/providers/Microsoft.Authorization/roleAssignments/6276049b-0b3b-5519-87af-fc846b7474d7"},
		"UUID of an assignment": {"one that exists has a name already",
			`{apiVersion: authorization.azure.com/v1api20220401, kind: RoleAssignment, metadata: {name: pull}, spec: {azureName: a0000000-0000-4000-8000-000000000001, owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}}}`, false, "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/aks/providers/Microsoft.Authorization/roleAssignments/a0000000-0000-4000-8000-000000000001"},
		"missing owner": {"documents come in any order",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {name: later}}}`, false,
			"waits for a resource manifest ResourceGroup later in the Cluster, which spec.owner names"},
		"no owner": {"a gateway is in a group",
			`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {}}`, false,
			"spec.resources[2].spec.owner: Required value"},
		"own owner": {"it has to end somewhere",
			`{apiVersion: kubernetesconfiguration.azure.com/v1api20230501, kind: Extension, metadata: {name: e}, spec: {owner: {group: kubernetesconfiguration.azure.com, kind: Extension, name: e}}}`, false, "spec.resources[2].spec.owner: Invalid value"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, groupManifest, cluster)
			if test.document != groupManifest && test.document != cluster {
				in = newInput(t, groupManifest, cluster, test.document)
			}
			in.replaceManifests(test.bound, keepManifests)
			at := len(in.Manifests()) - 1
			if test.document == groupManifest {
				at = 0
			}
			id, err := in.ResourceID(in.Manifests()[at])
			got := string(id)
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("%s: got %s", test.reason, got)
			}
		})
	}
}

func TestTranslate(t *testing.T) {
	cluster := `{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {owner: {name: g}, location: eastus}}`
	vnet := `{apiVersion: network.azure.com/v20250501, kind: VirtualNetwork, metadata: {name: v}, spec: {owner: {name: g}, location: eastus}}`
	subnet := `{apiVersion: network.azure.com/v20250501, kind: VirtualNetworksSubnet, metadata: {name: nat}, spec: {owner: {name: v}, addressPrefix: 10.0.0.0/24}}`
	head := func(of, kind, spec string) string {
		return "{apiVersion: " + of + ", kind: " + kind + ", metadata: {name: it}, spec: " + spec + "}"
	}
	const aks, network = "containerservice.azure.com/v20251001", "network.azure.com/v20250501"
	tests := map[string]struct {
		reason, document string
		want             string
		errs             []string
	}{
		"flat": {"location and tags are beside properties",
			head(aks, "ManagedCluster", `{owner: {name: g}, location: eastus, tags: {a: b}, sku: {tier: Standard}, dnsPrefix: x}`),
			`{"location":"eastus","properties":{"dnsPrefix":"x"},"sku":{"tier":"Standard"},"tags":{"a":"b"}}`, nil},
		"type": {"the URL's properties are not the spec's",
			head(aks, "ManagedClustersAgentPool", `{owner: {name: mc}, type: VirtualMachineScaleSets, count: 2, tags: {a: b}}`),
			`{"properties":{"count":2,"tags":{"a":"b"},"type":"VirtualMachineScaleSets"}}`, nil},
		"reference to a document": {"names become IDs",
			head(aks, "ManagedClustersAgentPool",
				`{owner: {name: mc}, vnetSubnetReference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: nat}}`),
			`{"properties":{"vnetSubnetID":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nat"}}`, nil},
		"reference by ID": {"an ID is taken as it is",
			head(aks, "ManagedCluster",
				`{owner: {name: g}, location: eastus, diskEncryptionSetReference: {armId: /subscriptions/x/resourceGroups/y/providers/Microsoft.Compute/diskEncryptionSets/z}}`),
			`{"location":"eastus","properties":{"diskEncryptionSetID":"/subscriptions/x/resourceGroups/y/providers/Microsoft.Compute/diskEncryptionSets/z"}}`, nil},
		"identities": {"Azure has a map",
			head(aks, "ManagedCluster",
				`{owner: {name: g}, location: eastus, identity: {type: UserAssigned, userAssignedIdentities: [{reference: {armId: /subscriptions/x/resourceGroups/y/providers/Microsoft.ManagedIdentity/userAssignedIdentities/z}}]}}`),
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/x/resourceGroups/y/providers/Microsoft.ManagedIdentity/userAssignedIdentities/z":{}}},"location":"eastus"}`, nil},
		"nested properties": {"lists of objects are flat, too",
			head(network, "PrivateEndpoint",
				`{owner: {name: g}, location: eastus, subnet: {reference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: nat}}, privateLinkServiceConnections: [{name: c, groupIds: [management], privateLinkServiceReference: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}}]}`),
			`{"location":"eastus","properties":{"privateLinkServiceConnections":[{"name":"c","properties":{"groupIds":["management"],"privateLinkServiceId":"/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/mc"}}],"subnet":{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nat"}}}`, nil},
		"list of references": {"Azure has a list of IDs",
			head(aks, "ManagedClustersAgentPool",
				`{owner: {name: mc}, networkProfile: {applicationSecurityGroupsReferences: [{armId: /subscriptions/x/resourceGroups/y/providers/Microsoft.Network/applicationSecurityGroups/z}]}}`),
			`{"properties":{"networkProfile":{"applicationSecurityGroups":["/subscriptions/x/resourceGroups/y/providers/Microsoft.Network/applicationSecurityGroups/z"]}}}`, nil},
		"Secret": {"the value is that of the key",
			head(aks, "ManagedCluster",
				`{owner: {name: g}, location: eastus, windowsProfile: {adminUsername: u, adminPassword: {name: s, key: k}}}`),
			`{"location":"eastus","properties":{"windowsProfile":{"adminPassword":"hidden","adminUsername":"u"}}}`, nil},
		"Secret that would be shown": {"the right to write resource manifests does not include the right to read Secrets",
			head(aks, "ManagedCluster", `{owner: {name: g}, location: eastus, tags: {leak: {name: s, key: k}}, dnsPrefix: {name: s, key: k}}`), "",
			[]string{"spec.resources[4].spec.dnsPrefix: Invalid value: \"\": must be a string. Azure shows this property",
				"spec.resources[4].spec.tags[leak]: Invalid value: \"\": must be a string. Azure shows this property"}},
		"Secret in a tag": {"the author chooses keys of maps, so a key like a password shows nothing",
			head(aks, "ManagedCluster",
				`{owner: {name: g}, location: eastus, tags: {password: {name: s, key: k}, protectedSettings: {name: s, key: k}}}`), "",
			[]string{"spec.resources[4].spec.tags[password]: Invalid value: \"\": must be a string. Azure shows this property",
				"spec.resources[4].spec.tags[protectedSettings]: Invalid value: \"\": must be a string. Azure shows this property"}},
		"Secret in protected settings": {"Azure never shows them, under any key",
			head("kubernetesconfiguration.azure.com/v1api20241101", "Extension",
				`{owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}, extensionType: x, configurationProtectedSettings: {token: {name: s, key: k}}}`),
			`{"properties":{"configurationProtectedSettings":{"token":"hidden"},"extensionType":"x"}}`, nil},
		"level of properties": {"Azure's own spelling is accepted beside ASO's",
			head(aks, "ManagedCluster",
				`{owner: {name: g}, location: eastus, dnsPrefix: x, properties: {enableRBAC: true}, supportPlan: KubernetesOfficial}`),
			`{"location":"eastus","properties":{"dnsPrefix":"x","enableRBAC":true,"supportPlan":"KubernetesOfficial"}}`, nil},
		"ConfigMap": {"the value is that of the key",
			head("authorization.azure.com/v1api20220401", "RoleAssignment",
				`{owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}, principalIdFromConfig: {name: c, key: k}, roleDefinitionReference: {armId: /subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r}}`),
			`{"properties":{"principalId":"shown","roleDefinitionId":"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r"}}`, nil},
		"misspelt": {"the nearest name is suggested", head(aks, "ManagedCluster", `{owner: {name: g}, location: eastus, networkProfil: {}}`), "",
			[]string{`spec.resources[4].spec.networkProfil: Invalid value: "": ManagedCluster has no such property in API version 2025-10-01; names most like it: networkProfile`}},
		"misspelt below": {"the path leads to it",
			head(aks, "ManagedCluster", `{owner: {name: g}, location: eastus, networkProfile: {networkPlugn: azure}}`), "",
			[]string{"spec.resources[4].spec.networkProfile.networkPlugn"}},
		"bounds": {"as Azure has them", head(aks, "ManagedClustersAgentPool", `{owner: {name: mc}, osDiskSizeGB: 4000}`), "",
			[]string{"spec.resources[4].spec.osDiskSizeGB: Invalid value: \"\": must be at most 2048"}},
		"type of": {"as Azure has it", head(aks, "ManagedClustersAgentPool", `{owner: {name: mc}, count: "2"}`), "",
			[]string{"spec.resources[4].spec.count: Invalid value: \"\": must be of type integer"}},
		"required": {"Azure makes nothing without", head(aks, "ManagedCluster", `{owner: {name: g}}`), "",
			[]string{"spec.resources[4].spec.location: Required value"}},
		"answered": {"only Azure sets it", head(aks, "ManagedCluster", `{owner: {name: g}, location: eastus, fqdn: x}`), "",
			[]string{"spec.resources[4].spec.fqdn: Invalid value: \"\": is read-only: only Azure sets it"}},
		"preview": {"a property belongs to versions",
			head(aks, "ManagedClustersAgentPool", `{owner: {name: mc}, nodeInitializationTaints: [a=b:NoSchedule]}`), "",
			[]string{"spec.resources[4].spec.nodeInitializationTaints: Invalid value"}},
		"in the preview": {"a preview version works as any other",
			head("containerservice.azure.com/v20251002preview", "ManagedClustersAgentPool",
				`{owner: {name: mc}, nodeInitializationTaints: [a=b:NoSchedule]}`),
			`{"properties":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, groupManifest, cluster, vnet, subnet, test.document)
			in.Values = aso.Values{Secrets: map[aso.KeyRef]string{{Name: "s", Key: "k"}: "hidden"},
				ConfigMaps: map[aso.KeyRef]string{{Name: "c", Key: "k"}: "shown"}}
			body, errs := in.TranslateManifest(in.Manifests()[4], &in.Values)
			if len(errs) != len(test.errs) {
				t.Fatalf("%s: %v", test.reason, errs)
			}
			for i, want := range test.errs {
				if !strings.HasPrefix(errs[i].Error(), want) {
					t.Errorf("%s: got %s", test.reason, errs[i])
				}
			}
			got, err := json.Marshal(body.Properties)
			if err != nil || test.want != "" && string(got) != test.want {
				t.Errorf("%s (-want +got):\n%s", test.reason, cmp.Diff(test.want, string(got)))
			}
		})
	}
}
