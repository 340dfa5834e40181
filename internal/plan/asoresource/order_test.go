package asoresource

import (
	"slices"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// TestDependentResourcesComeLater checks the order of resources that work with others beside them: they come after those.
func TestDependentResourcesComeLater(t *testing.T) {
	const (
		fleet  = `{apiVersion: containerservice.azure.com/v20250301, kind: Fleet, metadata: {name: f}, spec: {owner: {name: g}, location: eastus}}`
		run    = `{apiVersion: containerservice.azure.com/v20250301, kind: FleetsUpdateRun, metadata: {name: run}, spec: {owner: {name: f}, managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}}`
		member = `{apiVersion: containerservice.azure.com/v20250301, kind: FleetsMember, metadata: {name: member}, spec: {owner: {name: f}, clusterResourceReference: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}}}`
		apps   = `{apiVersion: kubernetesconfiguration.azure.com/v20241101, kind: FluxConfiguration, metadata: {name: apps}, spec: {owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}}}`
		flux   = `{apiVersion: kubernetesconfiguration.azure.com/v20241101, kind: Extension, metadata: {name: flux}, spec: {owner: {group: containerservice.azure.com, kind: ManagedCluster, name: mc}, extensionType: microsoft.flux}}`
	)
	in := newInput(t, groupManifest, aksManifest, fleet, run, member, apps, flux)
	graph, err := BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	for later, earlier := range map[int]int{3: 4, 5: 6} {
		id, err := in.ResourceID(in.Manifests()[later])
		before, wrong := in.ResourceID(in.Manifests()[earlier])
		if err != nil || wrong != nil || !slices.ContainsFunc(graph.Node(id).After, before.Equal) {
			t.Errorf("%s does not come after %s: %v, %v, %v", id, before, graph.Node(id).After, err, wrong)
		}
	}
}

// TestClusterComesAfterItsDependencies: a managed cluster is created after resources that it names only by text, and after the role assignments of
// its identity.
func TestClusterComesAfterItsDependencies(t *testing.T) {
	const (
		workspace = `{apiVersion: operationalinsights.azure.com/v20230901, kind: Workspace, metadata: {name: logs}, spec: {owner: {name: g}, location: eastus}}`
		identity  = `{apiVersion: managedidentity.azure.com/v20241130, kind: UserAssignedIdentity, metadata: {name: id}, spec: {owner: {name: g}, location: eastus, operatorSpec: {configMaps: {principalId: {name: who, key: is}}}}}`
		other     = `{apiVersion: managedidentity.azure.com/v20241130, kind: UserAssignedIdentity, metadata: {name: app}, spec: {owner: {name: g}, location: eastus, operatorSpec: {configMaps: {principalId: {name: app, key: is}}}}}`
		cluster   = `{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {owner: {name: g}, location: eastus, dnsPrefix: x,
			identity: {type: UserAssigned, userAssignedIdentities: [{reference: {group: managedidentity.azure.com, kind: UserAssignedIdentity, name: id}}]},
			addonProfiles: {omsagent: {enabled: true, config: {logAnalyticsWorkspaceResourceID: /subscriptions/s/resourceGroups/G/providers/Microsoft.OperationalInsights/workspaces/logs}}}}}`
	)
	role := func(name, owner, who string) string {
		return `{apiVersion: authorization.azure.com/v20220401, kind: RoleAssignment, metadata: {name: ` + name + `}, spec: {owner: ` + owner + `, principalIdFromConfig: {name: ` + who + `, key: is},
			roleDefinitionReference: {armId: /subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r}}}`
	}
	const onWorkspace, onCluster = `{group: operationalinsights.azure.com, kind: Workspace, name: logs}`,
		`{group: containerservice.azure.com, kind: ManagedCluster, name: mc}`
	in := newInput(t, groupManifest, identity, other, workspace, cluster, role("own", onWorkspace, "who"), role("others", onWorkspace, "app"),
		role("later", onCluster, "who"))
	in.Values = aso.Values{ConfigMaps: map[aso.KeyRef]string{{Name: "who", Key: "is"}: "a", {Name: "app", Key: "is"}: "b"}}
	graph, err := BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	after := graph.Node(aksID).After
	for i, test := range []struct {
		reason string
		want   bool
	}{
		3: {"the add-on sends to it", true},
		5: {"AKS asks whether the identity may", true},
		6: {"another identity's rights are nothing to it", false},
		7: {"there is no cluster before", false},
	} {
		if test.reason == "" {
			continue
		}
		id, err := in.ResourceID(in.Manifests()[i])
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(after, func(a arm.ID) bool { return a.Equal(id) }); got != test.want {
			t.Errorf("%s: after %s is %t", test.reason, id, got)
		}
	}
	// Documents of other objects are waited for.
	in.replaceManifests(false, func(documents []Manifest) []Manifest {
		for i := range documents {
			if i != 4 {
				documents[i].DeclaredIn = "other"
			}
		}
		return documents
	})
	for _, i := range []int{3, 5} {
		if id, _ := in.ResourceID(in.Manifests()[i]); !slices.ContainsFunc(ListNeededFacts(in), id.Equal) {
			t.Errorf("no fact is requested for %s: %v", id, ListNeededFacts(in))
		}
	}
}
